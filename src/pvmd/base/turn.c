/* turn.c - see turn.h. Turns are measured in CPU time, which a busy machine does not prolong. */
#include "turn.h"
#include <stdint.h>
#include <time.h>
#include "self.h"
#include "stats.h"

#define LONG_NS 10000000 /* a tenth of the longest acceptable turn; the rest is for the current step */

static int64_t began_ns; /* the current step of work; or, from the turn's first question on, the turn; or 0 */
static int64_t began_cpu_ns;
static bool is_watched;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* The loop has polled: one turn ends, and the next one begins. Sleeping takes hardly any CPU time. */
static void turn(EV_P)
{
    (void)loop;
    int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (began_cpu_ns && (uint64_t)(cpu_ns - began_cpu_ns) > pvmd_stats.longest_turn_us * 1000)
        pvmd_stats.longest_turn_us = (uint64_t)(cpu_ns - began_cpu_ns) / 1000;
    began_cpu_ns = cpu_ns;
    began_ns = 0;
}

void pvmd_turn_watch(struct ev_loop *loop)
{
    ev_set_loop_release_cb(loop, NULL, turn);
    is_watched = true;
}

bool pvmd_turn_is_long(void)
{
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    began_ns = began_ns ? began_ns : now_ns;
    return is_watched && now_ns - began_ns > LONG_NS;
}

/* ---- work in pieces ---- */

static void step_event(EV_P_ ev_timer *timer, int events)
{
    (void)loop, (void)events;
    struct pvmd_work *work = timer->data;
    began_ns = clock_ns(CLOCK_MONOTONIC); /* each step gets its time, however long the turn has lasted */
    if (work->step())
        pvmd_work_begin(work);
}

/* A timer that has expired is no longer active, but pending until its callback runs. */
bool pvmd_work_is_due(const struct pvmd_work *work)
{
    return ev_is_active(&work->next) || ev_is_pending(&work->next);
}

void pvmd_work_begin(struct pvmd_work *work)
{
    if (pvmd_work_is_due(work) || !pvmd.loop)
        return;
    ev_timer_init(&work->next, step_event, 0., 0.);
    work->next.data = work;
    ev_timer_start(pvmd.loop, &work->next);
}

void pvmd_work_stop(struct pvmd_work *work)
{
    if (pvmd.loop)
        ev_timer_stop(pvmd.loop, &work->next);
}
