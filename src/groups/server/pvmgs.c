/*
 * pvmgs - the group server: keeps the groups and their members, counts arrivals at barriers, and notifies members when
 * one ends.
 *
 * libgpvm3 starts it when the first task needs it; it runs until the machine is halted or reset. If it ends before, the
 * tasks start a new one, which restores the groups from their records in the mailbox. It handles one request at a time
 * and never blocks in one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "core/reserve.h"
#include "groups/name.h"
#include "libpvm/engine/peer.h"
#include "libpvm/route/exit_notice.h"
#include "calls.h"
#include "barrier.h"
#include "boards.h"
#include "legacy.h"
#include "outbox.h"
#include "pvm3.h"
#include "record.h"
#include "reply.h"
#include "roster.h"

enum { BATCH_MAX = 256 }; /* messages handled before their answers are recorded and sent */

struct task {
    int tid; /* the daemon will notify us of its end */
    UT_hash_handle hh;
};

static struct task *tasks;

/* Requests a notice of the task's end, once per task. */
static int watch_task(int tid)
{
    struct task *t;

    HASH_FIND_INT(tasks, &tid, t);
    if (t)
        return PvmOk;
    t = calloc(1, sizeof(*t));
    if (!t)
        return PvmNoMem;
    t->tid = tid;
    if (!PVMC_HASH_ADD(hh, tasks, tid, t)) {
        free(t);
        return PvmNoMem;
    }
    return pvm_notify(PvmTaskExit, PVMG_GROUP_GONE, 1, &tid);
}

/* A member that has ended meanwhile is reported at once. */
static void watch_restored(int tid)
{
    if (watch_task(tid) < 0)
        fprintf(stderr, "pvmgs: cannot watch t%x: its end will not be noticed\n", tid);
}

/* ---- requests; their arguments after the name are still in the receive buffer ---- */

static int unpack_int(void)
{
    int value = 0;

    pvm_upkint(&value, 1, 1);
    return value;
}

static void drop_if_empty(struct group *g)
{
    if (g->size > 0)
        return;
    pvmg_boards_close(g);
    pvmg_record_erase(g);
    pvmg_roster_drop(g);
}

static void join(struct group *g, struct member *m, const struct request *r)
{
    int code;

    if (m || (g && g->frozen)) {
        pvmg_reply_code(r, g->frozen ? PvmNotInGroup : PvmDupGroup);
        return;
    }
    if (!g)
        g = pvmg_roster_add(r->name);
    if (!g) {
        pvmg_reply_code(r, PvmOutOfRes);
        return;
    }
    pvmg_boards_close(g);
    code = pvmc_failpoint(PVMC_FAILPOINT_GROUP_JOIN) ? PvmNoMem : watch_task(r->from);
    m = code < 0 ? NULL : pvmg_roster_add_member(g, r->from);
    if (m)
        pvmg_reply_join(g, m, r);
    else
        pvmg_reply_code(r, code < 0 ? code : PvmOutOfRes);
    drop_if_empty(g);
    pvmc_failpoint_done(PVMC_FAILPOINT_GROUP_JOIN);
}

/* Removes a member from its group and notifies the others if it matters to them. */
static void remove_member(struct group *g, struct member *m, bool died)
{
    int tid = m->tid;

    pvmc_failpoint(PVMC_FAILPOINT_GROUP_LEAVE);
    pvmg_boards_close(g);
    bool concerns = died || g->frozen || pvmg_calls_await(g, m);
    pvmg_barriers_forget(g, m);
    pvmg_roster_remove_member(g, m);
    if (g->frozen) {
        g->broken = PvmNoGroup;
        if (!g->first_loss)
            g->first_loss = died ? PvmNoTask : PvmNoGroup;
    }
    if (concerns)
        pvmg_tell_members(g, died ? PVMG_EVENT_DIED : PVMG_EVENT_LEFT, tid);
    pvmg_barriers_shrunk(g, died);
    drop_if_empty(g);
    pvmc_failpoint_done(PVMC_FAILPOINT_GROUP_LEAVE);
}

/* It knows better than we do which calls it has made at a board. */
static void leave(struct group *g, struct member *m, const struct request *r)
{
    int next = unpack_int();

    if (next > m->calls)
        m->calls = next;
    remove_member(g, m, false);
    pvmg_reply_code(r, PvmOk);
}

static void list(struct group *g, struct member *m, const struct request *r)
{
    int known = unpack_int(), counted = unpack_int(), number = unpack_int(), code = PvmOk;
    bool begun;

    if (g->frozen && m)
        pvmg_boards_offer(g); /* the member has lost a server, and with it the board */
    if (!counted) {
        pvmg_reply_list(r, PvmOk, g, pvmg_roster_list(g), m ? m->calls : 0, known);
        return;
    }
    if (!m) {
        pvmg_reply_code(r, PvmNotInGroup);
        return;
    }
    if (!g->frozen && pvmg_boards_have_call(g, number)) {
        pvmg_reply_code(r, PVMG_LIST_AT_BOARD);
        return;
    }
    struct list *l = pvmg_calls_enter(g, m, number, &code, &begun);
    if (l)
        pvmg_reply_list(r, PvmOk, g, l, m->calls, known);
    else
        pvmg_reply_code(r, code);
    if (l && begun)
        pvmg_boards_call(g);
    pvmg_list_unref(l);
}

static void enter_barrier(struct group *g, struct member *m, const struct request *r)
{
    int count = unpack_int();

    pvmc_failpoint(PVMC_FAILPOINT_GROUP_BARRIER);
    pvmg_boards_close_used(g);
    pvmg_barrier_enter(g, m, r, count);
    pvmc_failpoint_done(PVMC_FAILPOINT_GROUP_BARRIER);
}

static void freeze(struct group *g, struct member *m, const struct request *r)
{
    pvmg_boards_close(g);
    pvmg_freeze_enter(g, m, r, unpack_int());
}

static void watch(struct group *g, struct member *m, const struct request *r)
{
    (void)m;
    pvmg_barrier_watch(g, r->from, unpack_int());
}

static void dump(struct group *g, struct member *m, const struct request *r)
{
    (void)g;
    (void)m;
    pvmg_reply_dump(r);
}

enum needs { NOTHING, GROUP, MEMBER };

static const struct {
    int operation;
    enum needs needs; /* what must exist; otherwise the answer is an error */
    void (*handle)(struct group *g, struct member *m, const struct request *r);
} operations[] = {
    {PVMG_GROUP_JOIN, NOTHING, join},    {PVMG_GROUP_LEAVE, MEMBER, leave},
    {PVMG_GROUP_LIST, GROUP, list},      {PVMG_GROUP_BARRIER, MEMBER, enter_barrier},
    {PVMG_GROUP_FREEZE, MEMBER, freeze}, {PVMG_GROUP_WATCH, MEMBER, watch},
    {PVMG_GROUP_DUMP, NOTHING, dump},
};

static void task_ended(int tid)
{
    struct group *g, *next;
    struct task *t;

    HASH_FIND_INT(tasks, &tid, t);
    if (!t)
        return;
    HASH_DEL(tasks, t);
    free(t);
    for (g = pvmg_roster_first(); g; g = next) {
        struct member *m = pvmg_roster_member(g, tid);

        next = g->hh.next;
        if (m)
            remove_member(g, m, true);
    }
}

static void handle_request(struct request *r)
{
    struct group *g;
    struct member *m;

    if (pvm_upkint(&r->serial, 1, 1) < 0 || pvm_upkint(&r->answer_tag, 1, 1) < 0 || r->serial < 1 ||
        pvmg_name_unpack(r->name, sizeof(r->name)) < 0) {
        fprintf(stderr, "pvmgs: dropped a malformed request %x from t%x\n", r->operation, r->from);
        return;
    }
    g = pvmg_roster_find(r->name);
    m = g ? pvmg_roster_member(g, r->from) : NULL;
    if (m && pvmg_reply_again(g, m, r))
        return;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (operations[i].operation != r->operation)
            continue;
        if (!g && operations[i].needs >= GROUP)
            pvmg_reply_code(r, PvmNoGroup);
        else if (!m && operations[i].needs >= MEMBER)
            pvmg_reply_code(r, PvmNotInGroup);
        else
            operations[i].handle(g, m, r);
        return;
    }
    fprintf(stderr, "pvmgs: dropped an unknown request %x from t%x\n", r->operation, r->from);
}

/* Handles the notice in the active receive buffer that a task has ended. */
static void take_end(void)
{
    int tid = 0;

    if (pvm_upkint(&tid, 1, 1) >= 0)
        task_ended(tid);
}

/*
 * Handles all notices that have arrived before a request is handled: a request over a direct link may have overtaken a
 * notice that its sender already knows of.
 */
static void take_ends(void)
{
    struct timeval none = {0, 0}; /* unlike pvm_nrecv(), pvm_trecv() looks at all that has arrived */
    int request = pvm_setrbuf(0);

    while (pvm_trecv(-1, PVMG_GROUP_GONE, &none) > 0)
        take_end();
    pvm_setrbuf(request);
}

static void handle_message(int mid)
{
    static struct request r;

    pvm_bufinfo(mid, NULL, &r.operation, &r.from);
    if (r.operation == PVMG_GROUP_GONE) {
        take_end();
        return;
    }
    take_ends();
    if (!pvmg_legacy_request(r.from, r.operation))
        handle_request(&r);
}

/* The next message; flushes the outbox before it waits. 0: none yet, or an error. */
static int next_message(int handled)
{
    struct timeval none = {0, 0};
    int mid = pvmg_outbox_waits() && handled < BATCH_MAX ? pvm_trecv(-1, -1, &none) : 0;

    if (mid != 0)
        return mid;
    pvmg_outbox_flush();
    int look_ms = pvmg_barrier_check_conflicts();
    if (pvmg_outbox_waits())
        return 0;
    struct timeval look = {0, look_ms * 1000L};
    return look_ms > 0 ? pvm_trecv(-1, -1, &look) : pvm_recv(-1, -1);
}

/* Runs until the connection to the daemon is lost. */
static void serve(void)
{
    for (int mid, handled = 0; (mid = next_message(handled)) >= 0; handled = pvmg_outbox_waits() ? handled + 1 : 0)
        if (mid > 0)
            handle_message(mid);
}

/* Takes the mailbox entry by which tasks find the server. PvmDenied: another server has it. */
static int announce(int tid)
{
    int mid = pvm_initsend(PvmDataDefault), entry[] = {tid, PVMG_GROUP_PROTOCOL};

    pvm_pkint(entry, 2, 1);
    return pvm_putinfo(PVMG_GROUP_SERVER_CLASS, mid, PvmMboxDefault);
}

int main(int argc, char **argv)
{
    int tid, code;

    (void)argv;
    if (argc > 1) {
        fprintf(stderr, "usage: pvmgs\nThe PVM group server. Tasks that use groups start it automatically.\n");
        return 2;
    }
    pvmc_reserve_start();
    pvmi_exit_notice_never_delay();
    pvmi_peer_show_none();
    tid = pvm_mytid();
    if (tid < 0)
        return 1;
    pvmc_failpoint_start(NULL);
    if (pvmc_failpoint_any)
        pvmc_log_to(NULL, NULL, PVMC_LOG_WARNING); /* standard error, whatever PvmAutoErr is */
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmResvTids, 1);
    pvm_setcontext(PVMG_GROUP_CTX_SERVER);
    code = announce(tid);
    if (code == PvmDenied && pvm_parent() == PvmNoParent)
        fprintf(stderr, "pvmgs: a group server is already running\n");
    if (code >= 0) {
        pvmg_record_restore(watch_restored);
        serve();
    }
    pvm_exit();
    return code < 0;
}
