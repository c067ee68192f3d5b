/*
 * pvmgs - the group server: knows who is in which group, counts at barriers, and tells members of each other's end.
 *
 * libgpvm3 starts it when the first task needs it; it stays until the machine is halted or reset. Requests are handled
 * one at a time and never make it wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../core/reserve.h"
#include "../name.h"
#include "calls.h"
#include "meeting.h"
#include "old.h"
#include "pvm3.h"
#include "reply.h"
#include "roster.h"

struct task {
    int tid; /* whose end we shall be told of */
    UT_hash_handle hh;
};

static struct task *tasks;

/* Asks once for each task to be told of its end. */
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
    if (!PVMI_HASH_ADD(hh, tasks, tid, t)) {
        free(t);
        return PvmNoMem;
    }
    return pvm_notify(PvmTaskExit, PVMI_GROUP_GONE, 1, &tid);
}

/* ---- requests; what they need besides the name is still in the receive buffer ---- */

static int unpack_int(void)
{
    int value = 0;

    pvm_upkint(&value, 1, 1);
    return value;
}

static void drop_if_empty(struct group *g)
{
    if (g->size == 0)
        roster_drop(g);
}

static void join(struct group *g, struct member *m, const struct request *r)
{
    int code;

    if (m || (g && g->frozen)) {
        reply_code(r, g->frozen ? PvmNotInGroup : PvmDupGroup);
        return;
    }
    if (!g)
        g = roster_add(r->name);
    if (!g) {
        reply_code(r, PvmOutOfRes);
        return;
    }
    code = watch_task(r->from);
    m = code < 0 ? NULL : group_add(g, r->from);
    if (m)
        reply_list(r, m->instance, g, group_list(g), m->calls, 0);
    else
        reply_code(r, code < 0 ? code : PvmOutOfRes);
    drop_if_empty(g);
}

/* Takes a member out of its group. Those that are left hear of it if it concerns them. */
static void remove_member(struct group *g, struct member *m, bool died)
{
    int tid = m->tid;
    bool concerns = died || g->frozen || g->in_progress;

    meetings_forget(g, m);
    group_remove(g, m);
    if (g->frozen)
        g->broken = PvmNoGroup;
    if (concerns)
        tell_members(g, died ? PVMI_EVENT_DIED : PVMI_EVENT_LEFT, tid);
    meetings_shrunk(g, died);
    drop_if_empty(g);
}

static void leave(struct group *g, struct member *m, const struct request *r)
{
    remove_member(g, m, false);
    reply_code(r, PvmOk);
}

static void list(struct group *g, struct member *m, const struct request *r)
{
    int known = unpack_int(), counted = unpack_int();

    if (!counted) {
        reply_list(r, PvmOk, g, group_list(g), m ? m->calls : 0, known);
        return;
    }
    if (!m) {
        reply_code(r, PvmNotInGroup);
        return;
    }
    struct list *l = calls_enter(g, m);
    reply_list(r, PvmOk, g, l, m->calls, known);
    list_unref(l);
}

static void barrier(struct group *g, struct member *m, const struct request *r)
{
    barrier_enter(g, m, r, unpack_int());
}

static void freeze(struct group *g, struct member *m, const struct request *r)
{
    (void)m;
    freeze_enter(g, r, unpack_int());
}

static void watch(struct group *g, struct member *m, const struct request *r)
{
    (void)m;
    barrier_watch(g, r->from, unpack_int());
}

static void dump(struct group *g, struct member *m, const struct request *r)
{
    (void)g;
    (void)m;
    reply_dump(r);
}

enum needs { NOTHING, GROUP, MEMBER };

static const struct {
    int operation;
    enum needs needs; /* what must be there, or the answer is an error */
    void (*handle)(struct group *g, struct member *m, const struct request *r);
} operations[] = {
    {PVMI_GROUP_JOIN, NOTHING, join},      {PVMI_GROUP_LEAVE, MEMBER, leave},   {PVMI_GROUP_LIST, GROUP, list},
    {PVMI_GROUP_BARRIER, MEMBER, barrier}, {PVMI_GROUP_FREEZE, MEMBER, freeze}, {PVMI_GROUP_WATCH, MEMBER, watch},
    {PVMI_GROUP_DUMP, NOTHING, dump},
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
    for (g = roster_first(); g; g = next) {
        struct member *m = group_member(g, tid);

        next = g->hh.next;
        if (m)
            remove_member(g, m, true);
    }
}

static void handle_request(struct request *r)
{
    struct group *g;
    struct member *m;

    if (pvm_upkint(&r->serial, 1, 1) < 0 || pvm_upkint(&r->answer_tag, 1, 1) < 0 ||
        pvmi_name_unpack(r->name, sizeof(r->name)) < 0) {
        fprintf(stderr, "pvmgs: dropped a malformed request %x of t%x\n", r->operation, r->from);
        return;
    }
    g = roster_find(r->name);
    m = g ? group_member(g, r->from) : NULL;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (operations[i].operation != r->operation)
            continue;
        if (!g && operations[i].needs >= GROUP)
            reply_code(r, PvmNoGroup);
        else if (!m && operations[i].needs >= MEMBER)
            reply_code(r, PvmNotInGroup);
        else
            operations[i].handle(g, m, r);
        return;
    }
    fprintf(stderr, "pvmgs: dropped an unknown request %x of t%x\n", r->operation, r->from);
}

/* The message in the active receive buffer: a task has ended. */
static void take_end(void)
{
    int tid = 0;

    if (pvm_upkint(&tid, 1, 1) >= 0)
        task_ended(tid);
}

/*
 * Those that the daemon has told already: a request that came by a direct link may have overtaken them, and whoever
 * sends it may know.
 */
static void take_ends(void)
{
    struct timeval none = {0, 0}; /* looks at all that has come, as pvm_nrecv() does not */
    int request = pvm_setrbuf(0);

    while (pvm_trecv(-1, PVMI_GROUP_GONE, &none) > 0)
        take_end();
    pvm_setrbuf(request);
}

static void handle_message(int mid)
{
    static struct request r;

    pvm_bufinfo(mid, NULL, &r.operation, &r.from);
    if (r.operation == PVMI_GROUP_GONE) {
        take_end();
        return;
    }
    take_ends();
    if (!old_request(r.from, r.operation))
        handle_request(&r);
}

/* Until we are cut off from the daemon. */
static void serve(void)
{
    for (;;) {
        int look_ms = barrier_settle_conflicts(), mid;
        struct timeval t = {0, look_ms * 1000L};

        mid = look_ms > 0 ? pvm_trecv(-1, -1, &t) : pvm_recv(-1, -1);
        if (mid < 0)
            return;
        if (mid > 0)
            handle_message(mid);
    }
}

/* Takes the mailbox entry by which tasks find the server. PvmDenied: another one has it. */
static int announce(int tid)
{
    int mid = pvm_initsend(PvmDataDefault), entry[] = {tid, PVMI_GROUP_PROTOCOL};

    pvm_pkint(entry, 2, 1);
    return pvm_putinfo(PVMI_GROUP_SERVER_CLASS, mid, PvmMboxDefault);
}

int main(int argc, char **argv)
{
    int tid, code;

    (void)argv;
    if (argc > 1) {
        fprintf(stderr, "usage: pvmgs\nThe PVM group server. Tasks that use groups start it by themselves.\n");
        return 2;
    }
    pvmi_reserve_start();
    tid = pvm_mytid();
    if (tid < 0)
        return 1;
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmResvTids, 1);
    pvm_setcontext(PVMI_GROUP_CTX_SERVER);
    code = announce(tid);
    if (code == PvmDenied && pvm_parent() == PvmNoParent)
        fprintf(stderr, "pvmgs: a group server is running already\n");
    if (code >= 0)
        serve();
    pvm_exit();
    return code < 0;
}
