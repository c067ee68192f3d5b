#include "traffic.h"
#include <limits.h>
#include <time.h>
#include <utlist.h>
#include "groups/gserver.h"
#include "groups/guard.h"
#include "pvm3.h"

/*
 * Packets for calls that are not waiting for them, each queue in order of arrival. A call has one queue, by its number,
 * so that members that are thousands of calls ahead do not slow down the others.
 */
enum { QUEUES = 256 };
static struct pvmg_packet *unexpected[QUEUES];

static int handler; /* id, or 0 */
static bool joining;
static bool opened; /* a call receives in pvmg_traffic_wait(); there is no handler */

static struct pvmg_packet **queue_of(int number)
{
    return &unexpected[(unsigned)number % QUEUES];
}

static long clock_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

static void store(struct pvmg_packet *p)
{
    struct pvmg_packet **queue = queue_of(p->call.number);

    DL_APPEND(*queue, p);
}

static void take_out(struct pvmg_packet *p)
{
    struct pvmg_packet **queue = queue_of(p->call.number);

    DL_DELETE(*queue, p);
}

/* Drops the packets of a queue that are to go. */
static void drop(struct pvmg_packet *queue, bool (*goes)(const struct pvmg_packet *p, const void *arg), const void *arg)
{
    struct pvmg_packet *p, *next;

    DL_FOREACH_SAFE (queue, p, next) {
        if (!goes(p, arg))
            continue;
        take_out(p);
        pvmg_packet_free(p);
    }
}

static void drop_everywhere(bool (*goes)(const struct pvmg_packet *p, const void *arg), const void *arg)
{
    for (int i = 0; i < QUEUES; i++)
        drop(unexpected[i], goes, arg);
}

/* A packet for this task: kept unless its call is finished. */
static void route_own(struct pvmg_packet *p, const struct pvmg_group *g)
{
    if (g && p->call.number >= g->finished)
        store(p);
    else
        pvmg_packet_free(p);
}

static void route_down(struct pvmg_packet *p, const struct pvmg_group *g)
{
    pvmg_packet_forward(p);
    route_own(p, g);
}

/* Whether an ARRIVE or RELEASE is for the current or a later barrier. Its epoch may be ahead of ours. */
static bool is_due(const struct pvmg_packet *p, const struct pvmg_group *g)
{
    int epoch = p->call.generation;

    return epoch > g->epoch || (epoch == g->epoch && p->call.number >= g->barrier);
}

static void route_barrier(struct pvmg_packet *p, const struct pvmg_group *g)
{
    if (g && is_due(p, g))
        store(p);
    else
        pvmg_packet_free(p);
}

/* Retransmits the part of the member that sent the probe; false when it is not, or no longer, kept. */
static bool resend(const struct pvmg_group *g, const struct pvmg_packet *probe)
{
    const struct pvmg_packet *p = g && g->retransmit_number == probe->call.number ? g->retransmit : NULL;

    for (int i = 0; p && i < p->reach; i++) {
        if (p->tids[i] != probe->from)
            continue;
        struct pvmg_packet part = pvmg_packet_slice(p, i, 1);
        pvmg_packet_send(&part, probe->from);
        return true;
    }
    return false;
}

static void answer_probe(struct pvmg_packet *p, const struct pvmg_group *g)
{
    if ((!g || p->call.number < g->finished) && !resend(g, p))
        pvmg_packet_signal(PVMG_PACKET_FINISHED, &p->call, 0, p->from);
    pvmg_packet_free(p);
}

static void route(struct pvmg_packet *p)
{
    const struct pvmg_group *g = pvmg_group_of(p->call.group);

    if (g && !pvmg_group_is_member(g))
        g = NULL;
    if (!g && joining) {
        store(p);
        return;
    }
    switch (p->kind) {
    case PVMG_PACKET_UP:
    case PVMG_PACKET_FINISHED:
        route_own(p, g);
        break;
    case PVMG_PACKET_DOWN:
        route_down(p, g);
        break;
    case PVMG_PACKET_PROBE:
        answer_probe(p, g);
        break;
    default:
        route_barrier(p, g);
    }
}

void pvmg_traffic_deliver(struct pvmg_packet *p)
{
    route(p);
}

/* Handles the message in the active receive buffer. */
static void handle(int mid)
{
    struct pvmg_packet *p;
    int kind, from = 0, event[3], ticket[2 + PVMG_TICKET_INTS];

    if (pvm_bufinfo(mid, NULL, NULL, &from) < 0 || pvm_upkint(&kind, 1, 1) < 0)
        return;
    if (from < 0) { /* from a daemon: notice of the server's exit */
        pvmg_gserver_gone(kind);
    } else if (kind == PVMG_PACKET_EVENT) {
        if (pvm_upkint(event, 3, 1) >= 0)
            pvmg_group_event(event[0], event[1], event[2]);
    } else if (kind == PVMG_PACKET_BOARD) {
        if (pvm_upkint(ticket, 2 + PVMG_TICKET_INTS, 1) >= 0)
            pvmg_group_board(from, ticket[0], ticket[1], ticket + 2);
    } else {
        p = pvmg_packet_receive(kind);
        if (p)
            route(p);
    }
}

static int on_message(int mid)
{
    struct pvmg_guard guard;

    pvmg_guard_enter(&guard, PVMG_GROUP_CTX_MEMBERS);
    pvm_setrbuf(mid);
    handle(mid);
    pvm_setrbuf(0); /* libpvm frees it */
    pvmg_guard_leave(&guard);
    return PvmOk;
}

static int listen_again(void)
{
    handler = pvm_addmhf(-1, PVMG_GROUP_TRAFFIC, PVMG_GROUP_CTX_MEMBERS, on_message);
    return handler;
}

int pvmg_traffic_start(void)
{
    int code;

    if (handler > 0)
        return PvmOk;
    code = listen_again();
    return code < 0 ? code : PvmOk;
}

static bool is_any(const struct pvmg_packet *p, const void *arg)
{
    (void)p;
    (void)arg;
    return true;
}

void pvmg_traffic_restart(void)
{
    drop_everywhere(is_any, NULL);
    if (handler > 0)
        pvm_delmhf(handler);
    handler = 0;
}

/* Handles all messages that have arrived. */
static void drain(void)
{
    for (int mid; (mid = pvm_nrecv(-1, -1)) > 0;)
        handle(mid);
}

void pvmg_traffic_open(void)
{
    opened = true;
    pvm_delmhf(handler);
    pvm_setcontext(PVMG_GROUP_CTX_MEMBERS);
    drain();
}

void pvmg_traffic_close(void)
{
    drain();
    listen_again();
    opened = false;
    pvm_setcontext(PVMG_GROUP_CTX_SERVER);
}

void pvmg_traffic_left(void)
{
    if (opened)
        listen_again();
    opened = joining = false;
}

/* Receives and handles one message, within limit_us unless it is LONG_MAX; an error when the daemon is gone. */
static int receive(long limit_us)
{
    struct timeval t = {limit_us / 1000000, limit_us % 1000000};
    int mid = limit_us == LONG_MAX ? pvm_recv(-1, -1) : pvm_trecv(-1, -1, &t);

    if (mid > 0)
        handle(mid);
    return mid < 0 ? mid : PvmOk;
}

static long earlier(long a, long b)
{
    return a < b ? a : b;
}

/* Deadlines of a waiting task; LONG_MAX: none. */
struct alarms {
    long end, ask, give_up, pause;
};

/* The server has ended: asks the next one what this task may have missed, and later the other members again. */
static int renew(struct pvmg_wait *w, struct alarms *a)
{
    int code;

    if (!w->group->stale)
        return PvmOk;
    pvm_setcontext(PVMG_GROUP_CTX_SERVER);
    code = pvmg_group_renew(w->group);
    pvm_setcontext(PVMG_GROUP_CTX_MEMBERS);
    a->pause = w->first_ask_us;
    a->ask = w->ask ? clock_us() + a->pause : LONG_MAX;
    return code < 0 ? code : PvmOk;
}

/* Starts and stops the grace period. */
static int check_lost(struct pvmg_wait *w, struct alarms *a, long now)
{
    int code = w->lost ? w->lost(w) : PvmOk;

    if (code >= 0)
        a->give_up = LONG_MAX;
    else if (a->give_up == LONG_MAX)
        a->give_up = now + PVMG_TRAFFIC_GRACE_US;
    return now >= a->give_up ? code : PvmOk;
}

int pvmg_traffic_wait(struct pvmg_wait *w)
{
    long now = clock_us();
    struct alarms a = {.end = w->limit_us < 0 ? LONG_MAX : now + w->limit_us,
                       .ask = w->ask ? now + w->first_ask_us : LONG_MAX,
                       .give_up = LONG_MAX,
                       .pause = w->first_ask_us};

    for (int code = w->ready(w);; code = w->ready(w)) {
        if (code)
            return code;
        now = clock_us();
        if (now >= a.end)
            return 0;
        bool was_stale = w->group->stale;
        code = renew(w, &a);
        if (code < 0)
            return code;
        if (was_stale)
            continue;
        code = check_lost(w, &a, now);
        if (code < 0)
            return code;
        if (now >= a.ask) {
            w->ask(w);
            a.pause *= 2;
            a.ask = now + a.pause;
        }
        long wake = earlier(a.end, earlier(a.ask, a.give_up));
        code = receive(wake == LONG_MAX ? LONG_MAX : wake - now);
        if (code < 0)
            return code;
    }
}

static struct pvmg_packet *find(int kind, const struct pvmg_group *g, int number)
{
    struct pvmg_packet *p;

    DL_FOREACH (*queue_of(number), p)
        if (p->kind == kind && p->call.group == g->id && p->call.number == number)
            return p;
    return NULL;
}

bool pvmg_traffic_has(int kind, const struct pvmg_group *g, int number)
{
    return find(kind, g, number);
}

struct pvmg_packet *pvmg_traffic_take(int kind, const struct pvmg_group *g, int number)
{
    struct pvmg_packet *p = find(kind, g, number);

    if (p)
        take_out(p);
    return p;
}

struct pvmg_packet *pvmg_traffic_take_barrier(int kind, const struct pvmg_group *g)
{
    struct pvmg_packet *p;

    DL_FOREACH (*queue_of(g->barrier), p) {
        if (p->kind == kind && p->call.group == g->id && p->call.generation == g->epoch &&
            p->call.number == g->barrier) {
            take_out(p);
            return p;
        }
    }
    return NULL;
}

static bool is_barrier(const struct pvmg_packet *p)
{
    return p->kind == PVMG_PACKET_ARRIVE || p->kind == PVMG_PACKET_RELEASE;
}

static bool is_finished(const struct pvmg_packet *p, const void *arg)
{
    const struct pvmg_group *g = arg;

    return p->call.group == g->id && !is_barrier(p) && p->call.number < g->finished;
}

/* Packets of skipped calls stay until their queue is next. */
void pvmg_traffic_finish(struct pvmg_group *g)
{
    g->finished = g->number + 1;
    drop(*queue_of(g->number), is_finished, g);
}

static bool is_past(const struct pvmg_packet *p, const void *arg)
{
    const struct pvmg_group *g = arg;

    return p->call.group == g->id && is_barrier(p) && !is_due(p, g);
}

void pvmg_traffic_prune(const struct pvmg_group *g)
{
    drop_everywhere(is_past, g);
}

static bool is_of(const struct pvmg_packet *p, const void *arg)
{
    return p->call.group == *(const int *)arg;
}

void pvmg_traffic_forget(int group)
{
    drop_everywhere(is_of, &group);
}

void pvmg_traffic_join_begin(void)
{
    joining = true;
}

/* Handles again what has been stored in a queue. */
static void route_again(struct pvmg_packet **queue)
{
    struct pvmg_packet *p, *all = *queue;

    *queue = NULL;
    while ((p = all)) {
        DL_DELETE(all, p);
        if (pvmg_group_of(p->call.group))
            store(p);
        else
            route(p);
    }
}

void pvmg_traffic_join_end(void)
{
    joining = false;
    pvm_setcontext(PVMG_GROUP_CTX_MEMBERS);
    for (int i = 0; i < QUEUES; i++)
        route_again(&unexpected[i]);
    pvm_setcontext(PVMG_GROUP_CTX_SERVER);
}
