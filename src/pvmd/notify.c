/* notify.c - see notify.h. */
#include "notify.h"
#include <stdlib.h>
#include <ev.h>
#include <utlist.h>
#include "../core/error.h"
#include "../core/hash.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "membership.h"
#include "relay.h"
#include "tasks.h"
#include "watch.h"

#define REGISTRATIONS_MAX (1u << 20) /* of one task */

struct registration {
    struct owner *owner;
    int what; /* PvmTaskExit, PvmHostDelete, PvmHostAdd */
    int32_t tag;
    uint32_t ctx;
    pvmi_tid target;          /* a task's tid or a host's; 0 for HostAdd */
    int32_t remaining;        /* HostAdd: messages to come; -1: no end */
    struct pvmd_watch *watch; /* TaskExit */
    struct registration *prev, *next;
};

struct owner {
    pvmi_tid tid;
    struct registration *all;
    unsigned count;
    UT_hash_handle hh;
};

static struct owner *owners;

/* Hosts that joined since the loop last turned: programs hear of them in one message. */
static struct {
    int *tids;
    int count;
    ev_timer soon;
} joined;

/* ---- registrations ---- */

static struct owner *owner_of(pvmi_tid tid)
{
    struct owner *o;
    HASH_FIND_INT(owners, &tid, o);
    return o;
}

static struct owner *owner_get(pvmi_tid tid)
{
    struct owner *o = owner_of(tid);
    if (o)
        return o;
    o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->tid = tid;
    if (!PVMI_HASH_ADD(hh, owners, tid, o)) {
        free(o);
        return NULL;
    }
    return o;
}

static void forget(struct registration *r)
{
    struct owner *o = r->owner;
    pvmd_watch_cancel(r->watch);
    DL_DELETE(o->all, r);
    o->count--;
    free(r);
    if (o->all)
        return;
    HASH_DEL(owners, o);
    free(o);
}

static struct registration *add(const struct registration *like, pvmi_tid owner)
{
    struct owner *o = owner_get(owner);
    struct registration *r = o && o->count < REGISTRATIONS_MAX ? malloc(sizeof *r) : NULL;
    if (!r) {
        pvmi_log(PVMI_LOG_ERROR, "t%x asks for more events than fit", owner);
        return NULL; /* an owner without any goes with its task */
    }
    *r = *like;
    r->owner = o;
    DL_APPEND(o->all, r);
    o->count++;
    return r;
}

static bool is_like(const struct registration *r, const struct registration *like)
{
    return r->what == like->what && r->tag == like->tag && r->ctx == like->ctx && r->target == like->target;
}

/* ---- messages ---- */

static void deliver(const struct registration *r, int *values, int count)
{
    struct pvmi_message *m = pvmi_message_new(PVMI_ENC_DEFAULT);
    if (!m)
        return;
    m->src = PVMI_TID_DAEMON;
    m->dst = r->owner->tid;
    m->tag = r->tag;
    m->ctx = r->ctx;
    if (!pvmi_message_pack(m, PVM_INT, values, count, 1))
        pvmd_relay_message(m);
    pvmi_message_unref(m);
}

static void deliver_target(struct registration *r)
{
    int value = (int)r->target;
    deliver(r, &value, 1);
    forget(r);
}

static void task_ended(void *arg, pvmi_tid tid)
{
    (void)tid;
    struct registration *r = arg;
    r->watch = NULL; /* freed by watch.c */
    deliver_target(r);
}

/* ---- requests ---- */

static int ask_task_exit(const struct registration *like, pvmi_tid owner)
{
    struct registration *r = add(like, owner);
    if (!r)
        return PvmOutOfRes;
    r->watch = pvmd_watch(r->target, task_ended, r);
    if (r->watch)
        return PvmOk;
    forget(r);
    return PvmNoMem;
}

static int ask_host_delete(const struct registration *like, pvmi_tid owner)
{
    struct registration *r = add(like, owner);
    if (!r)
        return PvmOutOfRes;
    if (!pvmd_host_by_index(pvmi_tid_host_index(r->target)))
        deliver_target(r);
    return PvmOk;
}

/* A cancelled registration's message comes at once. */
static void cancel(const struct registration *like, pvmi_tid owner)
{
    struct owner *o = owner_of(owner);
    struct registration *r = o ? o->all : NULL, *next;
    for (; r; r = next) {
        next = r->next; /* o is gone with its last one, so next is read before */
        if (!is_like(r, like))
            continue;
        if (r->what == PvmHostAdd)
            forget(r);
        else
            deliver_target(r);
    }
}

static int ask_host_add(const struct registration *like, pvmi_tid owner)
{
    cancel(like, owner);
    if (like->remaining && !add(like, owner))
        return PvmOutOfRes;
    return PvmOk;
}

static bool is_valid_target(int what, pvmi_tid tid)
{
    return what == PvmTaskExit ? pvmi_tid_is_task(tid) : pvmi_tid_host_index(tid) && !pvmi_tid_is_multicast(tid);
}

static int ask_one(const struct registration *like, pvmi_tid owner, bool is_cancel)
{
    if (is_cancel)
        cancel(like, owner);
    else if (like->what == PvmHostAdd)
        return ask_host_add(like, owner);
    else
        return like->what == PvmTaskExit ? ask_task_exit(like, owner) : ask_host_delete(like, owner);
    return PvmOk;
}

static int ask_all(struct registration *like, pvmi_tid owner, bool is_cancel, const pvmi_tid *tids, uint32_t n)
{
    if (like->what == PvmHostAdd)
        return like->remaining < -1 ? PvmBadParam : ask_one(like, owner, is_cancel);
    if ((like->what != PvmTaskExit && like->what != PvmHostDelete) || !n)
        return PvmBadParam;
    for (uint32_t i = 0; i < n; i++)
        if (!is_valid_target(like->what, tids[i]))
            return PvmBadParam;
    int code = PvmOk;
    for (uint32_t i = 0; i < n && code == PvmOk; i++) {
        like->target = tids[i];
        code = ask_one(like, owner, is_cancel);
    }
    return code;
}

static int notify_request(const struct pvmd_request *request, struct pvmi_buf *body)
{
    uint32_t what = pvmi_buf_get_u32(body);
    struct registration like = {.what = (int)(what & ~(uint32_t)PvmNotifyCancel)};
    like.tag = pvmi_buf_get_i32(body);
    like.ctx = pvmi_buf_get_u32(body);
    like.remaining = pvmi_buf_get_i32(body);
    uint32_t n = pvmi_buf_get_u32(body);
    if (n > pvmi_buf_left(body) / 4)
        return PVMI_ESHORT;
    pvmi_tid *tids = calloc(n + 1, sizeof *tids);
    for (uint32_t i = 0; tids && i < n; i++)
        tids[i] = pvmi_buf_get_u32(body);
    int rc = tids ? pvmi_buf_end(body) : PVMI_ENOMEM;
    if (!rc)
        pvmd_request_answer(request, ask_all(&like, request->tid, what & PvmNotifyCancel, tids, n), NULL);
    free(tids);
    return rc;
}

/* ---- events ---- */

void pvmd_notify_owner_ended(pvmi_tid tid)
{
    struct owner *o = owner_of(tid);
    if (!o)
        return;
    while (o->count > 1)
        forget(o->all);
    if (o->all) {
        forget(o->all);
        return;
    }
    HASH_DEL(owners, o);
    free(o);
}

static void tell_left(struct owner *o, unsigned index)
{
    struct registration *r = o->all, *next;
    for (; r; r = next) {
        next = r->next;
        if (r->what == PvmHostDelete && pvmi_tid_host_index(r->target) == index)
            deliver_target(r);
    }
}

void pvmd_notify_host_left(unsigned index)
{
    struct owner *o, *next;
    HASH_ITER (hh, owners, o, next)
        tell_left(o, index);
}

static void tell_joined(struct owner *o, int *values, int count)
{
    struct registration *r = o->all, *next;
    for (; r; r = next) {
        next = r->next;
        if (r->what != PvmHostAdd)
            continue;
        deliver(r, values, count);
        if (r->remaining > 0 && !--r->remaining)
            forget(r);
    }
}

/* values: the number of hosts, then their tids. */
static void tell_all_joined(EV_P_ ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    struct owner *o, *next;
    joined.tids[0] = joined.count;
    HASH_ITER (hh, owners, o, next)
        tell_joined(o, joined.tids, joined.count + 1);
    joined.count = 0;
}

void pvmd_notify_host_joined(const struct pvmd_host *host)
{
    int *tids = realloc(joined.tids, (joined.count + 2) * sizeof *tids);
    if (!tids)
        return;
    joined.tids = tids;
    joined.tids[++joined.count] = (int)pvmi_tid_of_host_index(host->index);
    ev_timer_set(&joined.soon, 0., 0.);
    ev_timer_start(pvmd.loop, &joined.soon);
}

void pvmd_notify_start(void)
{
    ev_timer_init(&joined.soon, tell_all_joined, 0., 0.);
    pvmd_tm_handle(PVMI_TM_NOTIFY, notify_request);
}

void pvmd_notify_stop(void)
{
    struct owner *o, *next;
    HASH_ITER (hh, owners, o, next)
        pvmd_notify_owner_ended(o->tid);
    free(joined.tids);
    joined.tids = NULL;
}
