/*
 * barrier.c - pvm_barrier(). Members that are all on one host meet at a board (board.h). Otherwise the members of a
 * frozen group synchronise among themselves: arrivals go up a tree, and its root releases all. In every other case the
 * server counts the arrivals.
 */
#include <stdlib.h>
#include "libpvm/base/call.h"
#include "libpvm/base/gate.h"
#include "groups/group.h"
#include "groups/gserver.h"
#include "groups/name.h"
#include "pvm3.h"
#include "groups/session.h"
#include "barrier.h"
#include "traffic.h"
#include "tree.h"

/* Delay until a waiting member informs the server, in case that others wait there with a different count. */
enum { FIRST_ASK_US = 100000 };

struct barrier {
    struct pvmg_wait wait; /* first, so that callbacks can cast it to this struct */
    struct pvmg_group *group;
    struct pvmg_members *list;
    struct pvmg_tree tree;
    int epoch;
    int awaited; /* children that have not arrived */
    int watcher; /* the server that knows that we wait, or 0 */
};

static int all_children_arrived(struct pvmg_wait *w)
{
    struct barrier *b = (struct barrier *)w;
    struct pvmg_packet *p;

    if (b->group->epoch != b->epoch)
        return PvmMismatch;
    while ((p = pvmg_traffic_take_barrier(PVMG_PACKET_ARRIVE, b->group))) {
        pvmg_packet_free(p);
        b->awaited--;
    }
    return b->awaited <= 0;
}

static int released(struct pvmg_wait *w)
{
    struct barrier *b = (struct barrier *)w;
    struct pvmg_packet *p;

    if (b->group->epoch != b->epoch)
        return PvmMismatch;
    p = pvmg_traffic_take_barrier(PVMG_PACKET_RELEASE, b->group);
    pvmg_packet_free(p);
    return p != NULL;
}

static int lost(struct pvmg_wait *w)
{
    return w->group->barrier_error;
}

/* The server is to know that we wait, or no longer. */
static void watch(struct barrier *b, int on)
{
    pvm_setcontext(PVMG_GROUP_CTX_SERVER);
    int server = pvmg_gserver_tid();
    if (!on || server != b->watcher)
        pvmg_gserver_send(PVMG_GROUP_WATCH, b->group->name, &on, 1);
    b->watcher = server;
    pvm_setcontext(PVMG_GROUP_CTX_MEMBERS);
}

static void ask_server(struct pvmg_wait *w)
{
    watch((struct barrier *)w, 1);
}

static int release_all(struct barrier *b, const struct pvmg_call *call)
{
    struct pvmg_packet packet = {.kind = PVMG_PACKET_RELEASE, .call = *call};

    return b->tree.size > 1 ? pvmg_packet_mcast(&packet, b->list->tids, b->tree.size) : PvmOk;
}

static int report(struct barrier *b, const struct pvmg_call *call)
{
    int parent = b->list->tids[b->tree.ranks[pvmg_tree_parent(&b->tree, b->tree.mine)]];

    return pvmg_packet_signal(PVMG_PACKET_ARRIVE, call, 0, parent);
}

static int synchronise(struct barrier *b)
{
    struct pvmg_group *g = b->group;
    struct pvmg_call call = {
        .group = g->id, .operation = PVMG_SYNCHRONISE, .generation = g->epoch, .number = g->barrier, .n = 1};
    int code;

    b->wait = (struct pvmg_wait){.group = g,
                                 .ready = all_children_arrived,
                                 .lost = lost,
                                 .ask = ask_server,
                                 .limit_us = -1,
                                 .first_ask_us = FIRST_ASK_US};
    b->epoch = g->epoch;
    b->awaited = pvmg_tree_children(&b->tree, b->tree.mine);
    code = pvmg_traffic_wait(&b->wait);
    if (code < 0)
        return code;
    if (b->tree.mine == 0) {
        if (g->board)
            pvmg_board_open(g->board); /* all are waiting */
        code = release_all(b, &call);
    } else {
        code = report(b, &call);
        b->wait.ready = released;
        if (code >= 0)
            code = pvmg_traffic_wait(&b->wait);
    }
    if (code >= 0)
        g->barrier++;
    return code < 0 ? code : PvmOk;
}

static int synchronise_members(struct pvmg_group *g)
{
    struct barrier b = {.group = g, .list = g->members};
    int code = pvmg_tree_make(&b.tree, PVMG_TREE_RADIX, b.list->tids, b.list->size, 0, b.list->rank);

    if (code < 0)
        return code;
    pvmg_members_ref(b.list);
    g->in_barrier = g->by_messages = true;
    pvmg_traffic_open();
    code = synchronise(&b);
    if (b.watcher && !g->stale)
        watch(&b, 0);
    pvmg_traffic_close();
    g->in_barrier = g->by_messages = false;
    pvmg_tree_free(&b.tree);
    pvmg_members_unref(b.list);
    return code;
}

/* The barrier of a frozen group of which this task is a member. */
static int enter_frozen(struct pvmg_group *g, int count)
{
    if (g->broken)
        return g->told_broken || !g->barrier_error ? g->broken : g->barrier_error;
    if (g->missed_mismatch) {
        g->missed_mismatch = false;
        return PvmMismatch;
    }
    if (count == -1 || count == g->members->size)
        return synchronise_members(g);
    g->in_barrier = true;
    int code = pvmg_gserver_ask(PVMG_GROUP_BARRIER, g->name, &count, 1);
    if (g->stale)
        pvmg_group_renew(g); /* while it counts as waiting: the answer has told of a mismatch */
    g->in_barrier = false;
    return code;
}

/* ---- at a board ---- */

enum { BY_MESSAGES = 1, WAITS }; /* the members must meet by messages; we wait for the others at the board */

static struct meeting {
    struct pvmg_group *group; /* with a reference; NULL: none is under way */
    uint32_t number;
    unsigned level; /* pvmi_jump_level() */
} meeting;

static bool is_over(void *arg)
{
    const struct meeting *m = arg;
    const struct pvmg_board *b = m->group->board;

    return pvmg_board_has_ended(b, m->number) || pvmg_board_is_closed(b);
}

static unsigned come(void *arg)
{
    const struct meeting *m = arg;

    return pvmg_board_arrived(m->group->board);
}

static void sleeps(void *arg, bool begins)
{
    const struct meeting *m = arg;

    pvmg_board_sleep(m->group->board, begins);
}

static struct pvmi_gate gate(void)
{
    return (struct pvmi_gate){.is_open = is_over,
                              .come = come,
                              .sleep = sleeps,
                              .arg = &meeting,
                              .bell = meeting.group->board->bells[meeting.number % 2]};
}

static void begin_meeting(struct pvmg_group *g, uint32_t number)
{
    g->refs++;
    g->at_board = g->in_barrier = true;
    g->missed_mismatch = false;
    meeting = (struct meeting){.group = g, .number = number, .level = pvmi_jump_level()};
}

/* Whether the barrier has ended, as it has for all or none. */
static bool end_meeting(void)
{
    struct pvmg_group *g = meeting.group;
    uint32_t number = meeting.number;
    bool ended = pvmg_board_has_ended(g->board, number);

    meeting.group = NULL;
    g->at_board = g->in_barrier = false;
    if (!ended) {
        pvmg_board_close(g->board); /* after a jump out the last one may arrive just now: what holds is decided here */
        ended = pvmg_board_has_ended(g->board, number);
    }
    pvmg_group_release(g);
    return ended;
}

/* In a frozen group a member that repeats the call gets the result of the one that it has left, as by messages. */
void pvmg_barrier_left(unsigned level)
{
    struct pvmg_group *g = meeting.group;

    if (!g || meeting.level < level)
        return;
    g->refs++;
    g->met = end_meeting() && g->frozen;
    pvmg_group_release(g);
}

/* Whether this call may arrive at the board; if it may not, the others must meet it by messages. */
static bool may_meet(struct pvmg_group *g, int count)
{
    if (!g->board || g->by_messages || !pvmg_board_is_open(g->board))
        return false;
    if (!g->stale && (count == -1 || count == pvmg_board_size(g->board)) && pvmi_gate_is_allowed())
        return true;
    pvmg_group_drop_board(g);
    return false;
}

/*
 * Meets the others at the board, if the group has one. Nothing of the program runs meanwhile, so its state need not be
 * saved. 0, BY_MESSAGES or WAITS.
 */
static int meet(const char *group, int count)
{
    struct pvmg_group *g;
    uint32_t number;

    if (!pvmg_session_is_idle() || pvmg_name_check(group) < 0)
        return BY_MESSAGES;
    pvmi_gate_listen(); /* before we look the group up, because handlers may change it */
    g = pvmg_group_find(group);
    if (g && g->met) {
        g->met = false;
        return PvmOk;
    }
    if (!g || !may_meet(g, count) || !pvmg_board_arrive(g->board, &number))
        return BY_MESSAGES;
    if (pvmg_board_has_ended(g->board, number))
        return PvmOk;
    begin_meeting(g, number);
    struct pvmi_gate at = gate();
    if (!pvmi_gate_yield(&at))
        return WAITS;
    return end_meeting() ? PvmOk : BY_MESSAGES;
}

/* Waits for the others as long as it takes: 0, BY_MESSAGES or an error. */
static int await_others(void)
{
    struct pvmg_group *g = meeting.group;
    struct pvmi_gate at = gate();
    int epoch = g->epoch, code = pvmi_gate_wait(&at);
    bool mismatch = g->epoch != epoch;

    if (end_meeting())
        return PvmOk;
    return code < 0 ? code : mismatch ? PvmMismatch : BY_MESSAGES;
}

/* ---- the call ---- */

static int enter_by_messages(const char *group, int count)
{
    struct pvmg_group *g = pvmg_group_find(group);
    int code = PvmOk;

    if (g && g->board && !g->by_messages && pvmg_board_is_in_use(g->board))
        pvmg_group_drop_board(g); /* nobody must wait for this task there */
    g = pvmg_group_frozen(group);
    if (!g) {
        code = pvmg_gserver_ask(PVMG_GROUP_BARRIER, group, &count, 1);
        if (code != PVMG_BARRIER_AMONG_MEMBERS)
            return code;
        g = pvmg_group_find(group);
        if (g)
            g->stale = true; /* others have frozen it */
        code = pvmg_group_fetch(group, false, &g);
    }
    if (code >= 0)
        code = enter_frozen(g, count);
    if (g && g->broken && code < 0)
        g->told_broken = true;
    if (g)
        pvmg_group_release(g);
    return code;
}

static int enter(const char *group, int count, bool waits)
{
    struct pvmg_guard guard;
    int code = pvmg_session_begin(&guard, group, 1);

    if (waits && code < 0)
        end_meeting();
    else if (code >= 0)
        code = waits ? await_others() : BY_MESSAGES;
    if (code == BY_MESSAGES)
        code = enter_by_messages(group, count);
    return pvmg_session_end(&guard, code);
}

int pvm_barrier(char *group, int count)
{
    PVMI_BEGIN(TEV_BARRIER, PVMI_STRING(GN, group), PVMI_INT(GBC, count));
    int code = meet(group, count);
    if (code != PvmOk)
        code = enter(group, count, code == WAITS);
    PVMI_END(TEV_BARRIER, PVMI_INT(CC, code));
    return code;
}
