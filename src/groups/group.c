#include "group.h"
#include <stdlib.h>
#include <string.h>
#include "gserver.h"
#include "libpvm/base/gate.h"
#include "pvm3.h"
#include "groups/collectives/handover.h"
#include "groups/collectives/traffic.h"

static struct pvmg_group *by_name, *by_id;
static struct pvmg_group *latest; /* found by its name; NULL: none */

struct pvmg_group *pvmg_group_find(const char *name)
{
    if (!latest || strcmp(latest->name, name) != 0)
        HASH_FIND(by_name, by_name, name, strlen(name), latest);
    return latest;
}

struct pvmg_group *pvmg_group_of(int id)
{
    struct pvmg_group *g;
    HASH_FIND(by_id, by_id, &id, sizeof(id), g);
    return g;
}

bool pvmg_group_is_member(const struct pvmg_group *g)
{
    return g->members && g->members->rank >= 0;
}

void pvmg_group_release(struct pvmg_group *g)
{
    if (!g || --g->refs > 0)
        return;
    pvmg_group_set_retransmit(g, NULL);
    pvmg_members_unref(g->members);
    pvmg_members_unref(g->participants);
    pvmg_members_unref(g->board_members);
    pvmg_board_free(g->board);
    free(g->name);
    free(g);
}

/* Removes the record and its unexpected packets: the server no longer knows the group, or us as a member. */
static void forget(struct pvmg_group *g)
{
    if (pvmg_group_find(g->name) != g)
        return; /* a call in a message handler already did it */
    HASH_DELETE(by_name, by_name, g);
    latest = NULL;
    if (g->id) {
        HASH_DELETE(by_id, by_id, g);
        pvmg_traffic_forget(g->id);
    }
    pvmg_group_release(g);
}

static struct pvmg_group *add(const char *name)
{
    struct pvmg_group *g = calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    g->refs = 1;
    g->name = strdup(name);
    if (g->name && PVMC_HASH_ADD_TEXT(by_name, by_name, name, g))
        return g;
    free(g->name);
    free(g);
    return NULL;
}

/* Finds or creates the record of this name and adds a reference for the caller; NULL when out of memory. */
static struct pvmg_group *obtain(const char *name)
{
    struct pvmg_group *g = pvmg_group_find(name);

    if (g && g->stale && !pvmg_group_is_member(g)) {
        forget(g);
        g = NULL;
    }
    if (!g)
        g = add(name);
    if (g)
        g->refs++;
    return g;
}

void pvmg_group_drop_board(struct pvmg_group *g)
{
    if (!g->board)
        return;
    pvmg_board_close(g->board);
    pvmg_board_calls(g->board, &g->board_calls, &g->board_calls_end);
    pvmg_handover_take_all(g);
    if (g->at_board)
        return; /* the barrier still looks at it */
    pvmg_board_free(g->board);
    g->board = NULL;
}

/* Sets the group's id. A different id means that a new group has taken over the name. */
static int identify(struct pvmg_group *g, int id)
{
    if (g->id == id)
        return PvmOk;
    if (g->id) {
        pvmg_traffic_forget(g->id);
        HASH_DELETE(by_id, by_id, g);
    }
    g->id = id;
    g->number = g->finished = g->broken = g->barrier_error = g->epoch = g->barrier = 0;
    g->missed_mismatch = g->told_broken = g->by_messages = g->met = false;
    pvmg_group_drop_board(g);
    g->board_calls_end = 0;
    if (PVMC_HASH_ADD(by_id, by_id, id, g))
        return PvmOk;
    g->id = 0;
    return PvmNoMem;
}

static void note_mismatch(struct pvmg_group *g, int epoch)
{
    g->epoch = epoch;
    g->barrier = 0;
    g->missed_mismatch = !g->in_barrier;
    pvmg_traffic_prune(g);
}

/* Keeps the list of the members of the board: they stay the participants of calls begun there. */
static void note_board_members(struct pvmg_group *g)
{
    if (g->members->generation != g->board_generation || g->members == g->board_members)
        return;
    pvmg_members_unref(g->board_members);
    g->board_members = pvmg_members_ref(g->members);
}

/* What this task knows better than the server, which may have been replaced since: the number of its calls. */
static void read_number(struct pvmg_group *g, const int *head, bool starts)
{
    g->number = head[PVMG_LIST_CALLS] - 1;
    g->finished = starts ? g->number : g->number + 1;
}

static void read_state(struct pvmg_group *g, const int *head, bool knew)
{
    g->frozen = head[PVMG_LIST_FROZEN];
    g->broken = head[PVMG_LIST_BROKEN];
    if (!g->barrier_error)
        g->barrier_error = head[PVMG_LIST_LOSS];
    if (!knew)
        g->epoch = head[PVMG_LIST_EPOCH];
    else if (g->epoch != head[PVMG_LIST_EPOCH])
        note_mismatch(g, head[PVMG_LIST_EPOCH]);
    g->stale = false;
}

enum reading { QUERY, CALL_STARTS, NUMBER_CHANGES };

/*
 * Reads a list (proto.h) from the active receive buffer. *members is the list whose generation the request named, or
 * NULL; it becomes the new list, with a reference for the caller.
 */
static int read_list(struct pvmg_group *g, enum reading why, struct pvmg_members **members)
{
    struct pvmg_members *known = *members;
    int head[PVMG_LIST_INTS], code = pvm_upkint(head, PVMG_LIST_INTS, 1);
    bool knew = code >= 0 && g->id == head[PVMG_LIST_ID] && g->members && pvmg_group_is_member(g);
    bool freezes = code >= 0 && head[PVMG_LIST_FROZEN] && !g->frozen && !g->participants;

    if (code >= 0 && (!known || known->generation != head[PVMG_LIST_GENERATION])) {
        code = pvmg_members_read(head[PVMG_LIST_GENERATION], head[PVMG_LIST_SIZE], members);
        if (code >= 0)
            pvmg_members_unref(known);
    }
    if (code >= 0)
        code = pvmg_members_read_gone(*members);
    if (code >= 0)
        code = identify(g, head[PVMG_LIST_ID]);
    if (code < 0)
        return code;
    if (why != QUERY || (!knew && !g->participants) || freezes)
        read_number(g, head, why == CALL_STARTS);
    read_state(g, head, knew);
    pvmg_members_unref(g->members);
    g->members = pvmg_members_ref(*members);
    note_board_members(g);
    return PvmOk;
}

/* 0, PVMG_LIST_AT_BOARD, if counted, or an error. */
static int ask_list(struct pvmg_group *g, bool counted)
{
    struct pvmg_members *members = g->members ? pvmg_members_ref(g->members) : NULL;
    bool knows = members && pvmg_group_is_member(g);
    int args[] = {members ? members->generation : 0, counted, knows ? g->number + 1 : -1};
    int code = pvmg_gserver_ask(PVMG_GROUP_LIST, g->name, args, 3);

    if (code == PvmOk)
        code = read_list(g, counted ? CALL_STARTS : QUERY, &members);
    pvmg_members_unref(members);
    return code;
}

/* Marks the participants of the call in progress that are no longer members. */
static void mark_absent(struct pvmg_members *participants, const struct pvmg_members *now)
{
    for (int i = 0; i < participants->size; i++) {
        int rank = pvmg_members_rank_of_instance(now, participants->instances[i]);

        if (rank < 0 || now->tids[rank] != participants->tids[i] || now->gone[rank])
            participants->gone[i] = true;
    }
}

int pvmg_group_renew(struct pvmg_group *g)
{
    int code = ask_list(g, false);

    if (code >= 0 && g->participants)
        mark_absent(g->participants, g->members);
    if (code >= 0 && g->board_members)
        mark_absent(g->board_members, g->members);
    return code;
}

bool pvmg_group_is_known(struct pvmg_group *g)
{
    if (g->stale || !g->members || !pvmg_group_is_member(g))
        return false;
    return g->frozen || (g->board && g->members == g->board_members && pvmg_board_vouches(g->board));
}

/* Whether the call is one of those of the board, or of the last one. */
static bool is_at_board(struct pvmg_group *g, int number)
{
    if (!g->board_members)
        return false;
    if (g->board)
        return pvmg_board_begin_call(g->board, number);
    return number >= g->board_calls && number < g->board_calls_end;
}

struct pvmg_members *pvmg_group_participants(struct pvmg_group *g)
{
    if (g->stale || !g->members || !pvmg_group_is_member(g) || g->number >= PVMG_CALL_NUMBER_MAX)
        return NULL;
    if (g->frozen)
        return g->members;
    return is_at_board(g, g->number + 1) ? g->board_members : NULL;
}

/*
 * Asks the server, which counts the call, unless it turns out to be one of the board. Others may have begun it there
 * while a server that ends was asked; then the answer of the next one, which does not know, does not count.
 */
static int ask_participants(struct pvmg_group *g, struct pvmg_members **participants)
{
    int last = g->number, code = ask_list(g, true);

    if (code < 0)
        return code;
    if (is_at_board(g, last + 1)) {
        g->number = g->finished = last + 1;
        *participants = g->board_members;
        return PvmOk;
    }
    if (code == PVMG_LIST_AT_BOARD) { /* the board has just been closed */
        pvmg_group_drop_board(g);
        code = ask_list(g, true);
    }
    *participants = g->members;
    return code > 0 ? PvmBadMsg : code;
}

/* The participants of the next call, which begins, without a reference. */
static int begin_call(struct pvmg_group *g, struct pvmg_members **participants)
{
    if (g->number >= PVMG_CALL_NUMBER_MAX)
        return PvmOutOfRes;
    if (g->stale && pvmg_group_is_member(g)) {
        int code = pvmg_group_renew(g);
        if (code < 0)
            return code;
    }
    *participants = pvmg_group_participants(g);
    if (!*participants)
        return ask_participants(g, participants);
    g->number++;
    return PvmOk;
}

int pvmg_group_fetch(const char *name, bool counted, struct pvmg_group **group)
{
    struct pvmg_group *g = obtain(name);
    struct pvmg_members *participants = NULL;
    int code = PvmOk;

    if (!g)
        return PvmNoMem;
    if (counted)
        code = begin_call(g, &participants);
    else if (!pvmg_group_is_known(g))
        code = ask_list(g, false);
    if (code < 0) {
        pvmg_group_drop_board(g); /* the others must not leave parts there for us */
        forget(g);
        pvmg_group_release(g);
        return code;
    }
    if (counted)
        g->participants = pvmg_members_ref(participants);
    *group = g;
    return PvmOk;
}

static bool is_frozen_member(const struct pvmg_group *g)
{
    return g->frozen && pvmg_group_is_member(g);
}

struct pvmg_group *pvmg_group_frozen(const char *name)
{
    struct pvmg_group *g = pvmg_group_find(name);

    if (!g || !is_frozen_member(g))
        return NULL;
    g->refs++;
    if (!g->stale || (pvmg_group_renew(g) >= 0 && is_frozen_member(g)))
        return g;
    pvmg_group_release(g);
    return NULL;
}

int pvmg_group_join(const char *name)
{
    struct pvmg_group *g = obtain(name);
    struct pvmg_members *members = NULL;

    if (!g)
        return PvmNoMem;
    pvmg_traffic_join_begin();
    int instance = pvmg_gserver_ask(PVMG_GROUP_JOIN, name, NULL, 0);
    int code = instance < 0 ? instance : read_list(g, NUMBER_CHANGES, &members);
    pvmg_members_unref(members);
    if (code < 0 && !pvmg_group_is_member(g))
        forget(g);
    pvmg_group_release(g);
    pvmg_traffic_join_end();
    return code < 0 ? code : instance;
}

int pvmg_group_leave(const char *name)
{
    struct pvmg_group *g = pvmg_group_find(name);
    bool was_member = g && g->members && pvmg_group_is_member(g);
    int next = was_member ? g->number + 1 : 0;
    int code = pvmg_gserver_ask(PVMG_GROUP_LEAVE, name, &next, 1);

    g = pvmg_group_find(name);
    if (g)
        forget(g);
    if (was_member && pvmg_gserver_asked_again() && (code == PvmNotInGroup || code == PvmNoGroup))
        return PvmOk; /* the first server has done it */
    return code;
}

int pvmg_group_freeze(const char *name, int size)
{
    struct pvmg_group *g = obtain(name);
    struct pvmg_members *members = NULL;

    if (!g)
        return PvmNoMem;
    int count = pvmg_gserver_ask(PVMG_GROUP_FREEZE, name, &size, 1);
    int code = count < 0 ? count : read_list(g, NUMBER_CHANGES, &members);
    pvmg_members_unref(members);
    if (code < 0 && !pvmg_group_is_member(g))
        forget(g);
    pvmg_group_release(g);
    return code < 0 ? code : count;
}

void pvmg_group_set_retransmit(struct pvmg_group *g, struct pvmg_packet *p)
{
    pvmg_packet_free(g->retransmit);
    g->retransmit = p;
}

void pvmg_group_event(int id, int kind, int value)
{
    struct pvmg_group *g = pvmg_group_of(id);

    if (!g)
        return;
    pvmg_group_drop_board(g);
    if (kind == PVMG_EVENT_MISMATCH) {
        note_mismatch(g, value);
        return;
    }
    pvmg_members_mark_gone(g->members, value);
    pvmg_members_mark_gone(g->participants, value);
    pvmg_members_mark_gone(g->board_members, value);
    if (!g->frozen)
        return;
    g->broken = PvmNoGroup;
    if (!g->barrier_error)
        g->barrier_error = kind == PVMG_EVENT_DIED ? PvmNoTask : PvmNoGroup;
}

void pvmg_group_board(int from, int id, int generation, const int *ticket)
{
    struct pvmg_group *g = pvmg_group_of(id);

    if (!g || !pvmg_group_is_member(g) || g->stale || g->at_board || !pvmg_gserver_is_known(from))
        return;
    pvmg_group_drop_board(g);
    if (!pvmi_gate_is_allowed() || g->number + 1 < g->board_calls_end)
        return; /* calls of the last board are still to be made */
    g->board = pvmg_board_find(ticket, pvm_mytid());
    if (!g->board)
        return;
    g->board_generation = generation;
    g->board_calls_end = 0;
    pvmg_members_unref(g->board_members);
    g->board_members = NULL;
    note_board_members(g);
}

void pvmg_group_lose_all(void)
{
    for (struct pvmg_group *g = by_name; g; g = g->by_name.next) {
        g->stale = true;
        pvmg_group_drop_board(g);
    }
}

void pvmg_group_forget_all(void)
{
    struct pvmg_group *g, *next;

    HASH_ITER (by_name, by_name, g, next)
        forget(g);
}
