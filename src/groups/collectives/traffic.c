#include "traffic.h"
#include <limits.h>
#include <time.h>
#include <utlist.h>
#include "gserver.h"
#include "guard.h"
#include "pvm3.h"

static struct pvmi_parcel *stored; /* in the order they came */
static int handler;                /* id, or 0 */
static bool joining;
static bool opened; /* a call receives by itself */

static long clock_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

static void store(struct pvmi_parcel *p)
{
    DL_APPEND(stored, p);
}

static void drop(struct pvmi_parcel *p)
{
    DL_DELETE(stored, p);
    pvmi_parcel_free(p);
}

/* For us, in a call that is not over. */
static void route_own(struct pvmi_parcel *p, const struct pvmi_group *g)
{
    if (g && p->call.number >= g->finished)
        store(p);
    else
        pvmi_parcel_free(p);
}

static void route_down(struct pvmi_parcel *p, const struct pvmi_group *g)
{
    pvmi_parcel_forward(p);
    route_own(p, g);
}

/* ARRIVE and RELEASE: are they of the current barrier, or one to come? Its epoch may be one that we shall hear of. */
static bool is_due(const struct pvmi_parcel *p, const struct pvmi_group *g)
{
    int epoch = p->call.generation;

    return epoch > g->epoch || (epoch == g->epoch && p->call.number >= g->barrier);
}

static void route_barrier(struct pvmi_parcel *p, const struct pvmi_group *g)
{
    if (g && is_due(p, g))
        store(p);
    else
        pvmi_parcel_free(p);
}

/* Sends its part of what we gave in that call again, straight to who misses it; false: there is none, or not any more.
 */
static bool resend(const struct pvmi_group *g, const struct pvmi_parcel *probe)
{
    const struct pvmi_parcel *p = g && g->kept_number == probe->call.number ? g->kept : NULL;

    for (int i = 0; p && i < p->reach; i++) {
        if (p->tids[i] != probe->from)
            continue;
        struct pvmi_parcel part = pvmi_parcel_part_of(p, i, 1);
        pvmi_parcel_send(&part, probe->from);
        return true;
    }
    return false;
}

static void answer_probe(struct pvmi_parcel *p, const struct pvmi_group *g)
{
    if ((!g || p->call.number < g->finished) && !resend(g, p))
        pvmi_parcel_word(PVMI_WAY_PAST, &p->call, 0, p->from);
    pvmi_parcel_free(p);
}

static void route(struct pvmi_parcel *p)
{
    const struct pvmi_group *g = pvmi_group_of(p->call.group);

    if (g && !pvmi_group_is_member(g))
        g = NULL;
    if (!g && joining) {
        store(p);
        return;
    }
    switch (p->way) {
    case PVMI_WAY_UP:
    case PVMI_WAY_PAST:
        route_own(p, g);
        break;
    case PVMI_WAY_DOWN:
        route_down(p, g);
        break;
    case PVMI_WAY_PROBE:
        answer_probe(p, g);
        break;
    default:
        route_barrier(p, g);
    }
}

/* Handles the message in the active receive buffer. */
static void handle(int mid)
{
    struct pvmi_parcel *p;
    int way, from = 0, event[3];

    if (pvm_bufinfo(mid, NULL, NULL, &from) < 0 || pvm_upkint(&way, 1, 1) < 0)
        return;
    if (from < 0) { /* a daemon: this is the notice of the server's exit */
        pvmi_gserver_gone(way);
    } else if (way == PVMI_WAY_EVENT) {
        if (pvm_upkint(event, 3, 1) >= 0)
            pvmi_group_event(event[0], event[1], event[2]);
    } else {
        p = pvmi_parcel_receive(way);
        if (p)
            route(p);
    }
}

static int on_message(int mid)
{
    struct pvmi_guard guard;

    pvmi_guard_enter(&guard, PVMI_GROUP_CTX_MEMBERS);
    pvm_setrbuf(mid);
    handle(mid);
    pvm_setrbuf(0); /* libpvm frees it */
    pvmi_guard_leave(&guard);
    return PvmOk;
}

static int listen_again(void)
{
    handler = pvm_addmhf(-1, PVMI_GROUP_TRAFFIC, PVMI_GROUP_CTX_MEMBERS, on_message);
    return handler;
}

int pvmi_traffic_start(void)
{
    int code;

    if (handler > 0)
        return PvmOk;
    code = listen_again();
    return code < 0 ? code : PvmOk;
}

void pvmi_traffic_restart(void)
{
    struct pvmi_parcel *p, *next;

    DL_FOREACH_SAFE (stored, p, next)
        drop(p);
    if (handler > 0)
        pvm_delmhf(handler);
    handler = 0;
}

/* Handles what has come. */
static void drain(void)
{
    for (int mid; (mid = pvm_nrecv(-1, -1)) > 0;)
        handle(mid);
}

void pvmi_traffic_open(void)
{
    opened = true;
    pvm_delmhf(handler);
    pvm_setcontext(PVMI_GROUP_CTX_MEMBERS);
    drain();
}

void pvmi_traffic_close(void)
{
    drain();
    listen_again();
    opened = false;
    pvm_setcontext(PVMI_GROUP_CTX_SERVER);
}

void pvmi_traffic_left(void)
{
    if (opened)
        listen_again();
    opened = joining = false;
}

/* Receives one message within the time, if there is a limit, and handles it; an error when we are cut off. */
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

/* The times at which a waiting task has something to do; LONG_MAX: never. */
struct alarms {
    long end, ask, give_up, pause;
};

/* Starts and stops the time of grace. */
static int check_lost(struct pvmi_wait *w, struct alarms *a, long now)
{
    int code = w->lost ? w->lost(w) : PvmOk;

    if (w->group->lost)
        return PvmDSysErr;
    if (code >= 0)
        a->give_up = LONG_MAX;
    else if (a->give_up == LONG_MAX)
        a->give_up = now + PVMI_TRAFFIC_GRACE_US;
    return now >= a->give_up ? code : PvmOk;
}

int pvmi_traffic_wait(struct pvmi_wait *w)
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

struct pvmi_parcel *pvmi_traffic_take(int way, const struct pvmi_group *g, int number)
{
    struct pvmi_parcel *p;

    DL_FOREACH (stored, p) {
        if (p->way == way && p->call.group == g->id && p->call.number == number) {
            DL_DELETE(stored, p);
            return p;
        }
    }
    return NULL;
}

struct pvmi_parcel *pvmi_traffic_take_barrier(int way, const struct pvmi_group *g)
{
    struct pvmi_parcel *p;

    DL_FOREACH (stored, p) {
        if (p->way == way && p->call.group == g->id && p->call.generation == g->epoch && p->call.number == g->barrier) {
            DL_DELETE(stored, p);
            return p;
        }
    }
    return NULL;
}

static bool is_barrier(const struct pvmi_parcel *p)
{
    return p->way == PVMI_WAY_ARRIVE || p->way == PVMI_WAY_RELEASE;
}

void pvmi_traffic_finish(struct pvmi_group *g)
{
    struct pvmi_parcel *p, *next;

    g->finished = g->number + 1;
    DL_FOREACH_SAFE (stored, p, next)
        if (p->call.group == g->id && !is_barrier(p) && p->call.number < g->finished)
            drop(p);
}

void pvmi_traffic_prune(const struct pvmi_group *g)
{
    struct pvmi_parcel *p, *next;

    DL_FOREACH_SAFE (stored, p, next)
        if (p->call.group == g->id && is_barrier(p) && !is_due(p, g))
            drop(p);
}

void pvmi_traffic_forget(int group)
{
    struct pvmi_parcel *p, *next;

    DL_FOREACH_SAFE (stored, p, next)
        if (p->call.group == group)
            drop(p);
}

void pvmi_traffic_join_begin(void)
{
    joining = true;
}

void pvmi_traffic_join_end(void)
{
    struct pvmi_parcel *p, *all = stored;

    joining = false;
    stored = NULL;
    pvm_setcontext(PVMI_GROUP_CTX_MEMBERS);
    while ((p = all)) {
        DL_DELETE(all, p);
        if (pvmi_group_of(p->call.group))
            store(p);
        else
            route(p);
    }
    pvm_setcontext(PVMI_GROUP_CTX_SERVER);
}
