/* notify.c - see notify.h. */
#include "notify.h"
#include <stdlib.h>
#include <string.h>
#include <ev.h>
#include <utlist.h>
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/frames/relay.h"
#include "pvmd/tasks/tasks.h"
#include "pvmd/base/turn.h"
#include "pvmd/tasks/watch.h"

#define REGISTRATIONS_MAX 65536 /* per task */
#define ORDERS_MAX        64    /* per task, in progress */

/* Identifies a registration, also for cancelling it. A hash key, so it has no padding. */
struct event {
    int32_t what; /* PvmTaskExit, PvmHostDelete, PvmHostAdd */
    int32_t tag;
    uint32_t ctx;
    pvmc_tid target; /* a task's tid or a host's; 0 for HostAdd */
};

struct registration {
    struct owner *owner;
    struct event event;
    int32_t remaining;        /* HostAdd: messages left to send; -1: no limit */
    struct pvmd_watch *watch; /* TaskExit */
    UT_hash_handle hh;        /* by event; there may be several of the same */
};

struct owner {
    pvmc_tid tid;
    struct registration *all;
    unsigned orders; /* in progress */
    bool ended;      /* its registrations are being removed; no longer in the table */
    struct owner *prev, *next;
    UT_hash_handle hh;
};

/* A request, carried out in pieces. */
struct order {
    struct pvmd_request request;
    struct event event; /* its target is that of the current piece */
    int32_t remaining;
    bool is_cancel;
    uint32_t done, count;
    struct order *prev, *next;
    pvmc_tid targets[];
};

static struct order *orders;
static struct owner *owners, *ended_owners;

/* Hosts that joined in this turn of the loop: programs hear of them in one message. */
static struct {
    int *tids;
    int count;
    ev_timer soon;
} joined;

/* ---- registrations ---- */

static struct owner *owner_of(pvmc_tid tid)
{
    struct owner *o;
    HASH_FIND_INT(owners, &tid, o);
    return o;
}

static struct owner *owner_get(pvmc_tid tid)
{
    struct owner *o = owner_of(tid);
    if (o)
        return o;
    o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->tid = tid;
    if (!PVMC_HASH_ADD(hh, owners, tid, o)) {
        free(o);
        return NULL;
    }
    return o;
}

static void drop_if_idle(struct owner *o)
{
    if (o->all || o->orders || o->ended)
        return;
    HASH_DEL(owners, o);
    free(o);
}

static void forget(struct registration *r)
{
    struct owner *o = r->owner;
    pvmd_watch_cancel(r->watch);
    HASH_DEL(o->all, r);
    free(r);
    drop_if_idle(o);
}

static struct registration *find(const struct owner *o, const struct event *event)
{
    struct registration *r;
    HASH_FIND(hh, o->all, event, sizeof *event, r);
    return r;
}

/* NULL: out of memory, or the task has too many. */
static struct registration *add(struct owner *o, const struct order *order)
{
    bool may = !pvmc_failpoint(PVMC_FAILPOINT_NOTIFY_ADD) && HASH_COUNT(o->all) < REGISTRATIONS_MAX;
    struct registration *r = may ? calloc(1, sizeof *r) : NULL;
    if (!r) {
        pvmc_log(PVMC_LOG_ERROR, "t%x asks for more events than fit", o->tid);
        return NULL;
    }
    r->owner = o;
    r->event = order->event;
    r->remaining = order->remaining;
    bool added = PVMC_HASH_ADD(hh, o->all, event, r);
    pvmc_failpoint_done(PVMC_FAILPOINT_NOTIFY_ADD);
    if (added)
        return r;
    free(r);
    return NULL;
}

/* ---- messages ---- */

static void deliver(const struct registration *r, int *values, int count)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!m || pvmc_message_pack(m, PVM_INT, values, count, 1)) {
        pvmc_message_unref(m);
        pvmd_task_cut(r->owner->tid);
        return;
    }
    m->src = PVMC_TID_DAEMON;
    m->dst = r->owner->tid;
    m->tag = r->event.tag;
    m->ctx = r->event.ctx;
    pvmc_failpoint(PVMC_FAILPOINT_NOTIFY_SEND);
    pvmd_relay_message(m);
    pvmc_failpoint_done(PVMC_FAILPOINT_NOTIFY_SEND);
    pvmc_message_unref(m);
}

static void deliver_target(struct registration *r)
{
    int value = (int)r->event.target;
    deliver(r, &value, 1);
    forget(r);
}

static void task_ended(void *arg, pvmc_tid tid)
{
    (void)tid;
    struct registration *r = arg;
    r->watch = NULL; /* freed by watch.c */
    deliver_target(r);
}

/* ---- requests ---- */

static int ask_task_exit(struct owner *o, const struct order *order)
{
    struct registration *r = add(o, order);
    if (!r)
        return PvmOutOfRes;
    r->watch = pvmd_watch(r->event.target, task_ended, r);
    if (r->watch)
        return PvmOk;
    forget(r);
    return PvmNoMem;
}

static int ask_host_delete(struct owner *o, const struct order *order)
{
    struct registration *r = add(o, order);
    if (!r)
        return PvmOutOfRes;
    if (!pvmd_host_by_index(pvmc_tid_host_index(r->event.target)))
        deliver_target(r);
    return PvmOk;
}

/* Cancels one registration for the event, whose message is sent at once. False: there is none. */
static bool cancel(struct owner *o, const struct event *event)
{
    struct registration *r = find(o, event);
    if (!r)
        return false;
    if (event->what == PvmHostAdd)
        forget(r);
    else
        deliver_target(r);
    return true;
}

/* At most one of each kind exists; a new one replaces it. */
static int ask_host_add(struct owner *o, const struct order *order)
{
    cancel(o, &order->event);
    return order->remaining && !add(o, order) ? PvmOutOfRes : PvmOk;
}

static int ask(struct owner *o, const struct order *order)
{
    return order->event.what == PvmHostAdd    ? ask_host_add(o, order)
           : order->event.what == PvmTaskExit ? ask_task_exit(o, order)
                                              : ask_host_delete(o, order);
}

static bool is_valid_target(int what, pvmc_tid tid)
{
    return what == PvmTaskExit ? pvmc_tid_is_task(tid) : pvmc_tid_host_index(tid) && !pvmc_tid_is_multicast(tid);
}

static bool is_valid(const struct order *order)
{
    int what = order->event.what;
    if (what == PvmHostAdd)
        return order->remaining >= -1;
    if ((what != PvmTaskExit && what != PvmHostDelete) || !order->count)
        return false;
    for (uint32_t i = 0; i < order->count; i++)
        if (!is_valid_target(what, order->targets[i]))
            return false;
    return true;
}

static void order_free(struct order *order)
{
    struct owner *o = owner_of(order->request.tid);
    DL_DELETE(orders, order);
    o->orders--;
    drop_if_idle(o);
    free(order);
}

/* One target, or one of several registrations to be cancelled. */
static int do_piece(struct order *order)
{
    struct owner *o = owner_of(order->request.tid);
    if (order->event.what != PvmHostAdd)
        order->event.target = order->targets[order->done];
    if (order->is_cancel) {
        order->done += !cancel(o, &order->event);
        return PvmOk;
    }
    order->done++;
    return ask(o, order);
}

/* Handles pieces of the oldest order; then it is another owner's turn. */
static bool do_some(void)
{
    struct order *order = orders;
    int code = PvmOk;
    if (!order)
        return false;
    do
        code = do_piece(order);
    while (!code && order->done < order->count && !pvmd_turn_is_long());
    if (code || order->done == order->count) {
        pvmd_request_answer(&order->request, code, NULL);
        order_free(order);
    } else {
        DL_DELETE(orders, order);
        DL_APPEND(orders, order);
    }
    return orders;
}

static struct pvmd_work doing = {.step = do_some};

/* Takes ownership of the order. */
static void begin(struct order *order)
{
    struct owner *o = is_valid(order) ? owner_get(order->request.tid) : NULL;
    if (!o || o->orders >= ORDERS_MAX) {
        pvmd_request_answer(&order->request, o ? PvmOutOfRes : is_valid(order) ? PvmNoMem : PvmBadParam, NULL);
        free(order);
        return;
    }
    if (order->event.what == PvmHostAdd)
        order->count = 1;
    o->orders++;
    DL_APPEND(orders, order);
    if (orders != order || do_some())
        pvmd_work_begin(&doing);
}

static int notify_request(const struct pvmd_request *request, struct pvmc_buf *body)
{
    uint32_t what = pvmc_buf_get_u32(body);
    struct order like = {.request = *request, .is_cancel = what & PvmNotifyCancel};
    like.event.what = (int32_t)(what & ~(uint32_t)PvmNotifyCancel);
    like.event.tag = pvmc_buf_get_i32(body);
    like.event.ctx = pvmc_buf_get_u32(body);
    like.remaining = pvmc_buf_get_i32(body);
    like.count = pvmc_buf_get_u32(body);
    if (like.count > pvmc_buf_left(body) / 4)
        return PVMC_ESHORT;
    struct order *order = malloc(sizeof *order + (size_t)like.count * sizeof *order->targets);
    if (!order)
        return PVMC_ENOMEM;
    *order = like;
    for (uint32_t i = 0; i < order->count; i++)
        order->targets[i] = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        free(order);
    else
        begin(order);
    return rc;
}

/* ---- events ---- */

static bool forget_some(void)
{
    while (ended_owners) {
        struct owner *o = ended_owners;
        do
            if (o->all)
                forget(o->all);
        while (o->all && !pvmd_turn_is_long());
        if (o->all)
            return true;
        DL_DELETE(ended_owners, o);
        free(o);
    }
    return false;
}

static struct pvmd_work forgetting = {.step = forget_some};

static void drop_orders(const struct owner *o)
{
    struct order *order, *next;
    DL_FOREACH_SAFE (orders, order, next)
        if (order->request.tid == o->tid) {
            DL_DELETE(orders, order);
            free(order);
        }
}

static void owner_ended(struct owner *o)
{
    HASH_DEL(owners, o);
    o->ended = true;
    drop_orders(o);
    DL_APPEND(ended_owners, o);
    if (forget_some())
        pvmd_work_begin(&forgetting);
}

void pvmd_notify_task_ended(const struct pvmd_task *task)
{
    struct owner *o = owner_of(task->tid);
    if (o)
        owner_ended(o);
}

static void tell_left(struct owner *o, unsigned index)
{
    struct registration *r = o->all, *next;
    for (; r; r = next) {
        next = r->hh.next; /* o is freed with its last one, so next is read first */
        if (r->event.what == PvmHostDelete && pvmc_tid_host_index(r->event.target) == index)
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
        next = r->hh.next;
        if (r->event.what != PvmHostAdd)
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
    joined.tids[++joined.count] = (int)pvmc_tid_of_host_index(host->index);
    ev_timer_set(&joined.soon, 0., 0.);
    ev_timer_start(pvmd.loop, &joined.soon);
}

void pvmd_notify_start(void)
{
    ev_timer_init(&joined.soon, tell_all_joined, 0., 0.);
    pvmd_tm_handle(PVMC_TM_NOTIFY, notify_request);
}

void pvmd_notify_stop(void)
{
    struct owner *o, *next;
    pvmd_work_stop(&doing);
    HASH_ITER (hh, owners, o, next)
        owner_ended(o);
    while (forget_some())
        ;
    pvmd_work_stop(&forgetting);
    free(joined.tids);
    joined.tids = NULL;
}
