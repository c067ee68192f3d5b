/* turn.c - see turn.h. Turns are measured in CPU time, which a busy machine does not prolong. */
#include "turn.h"
#include <stdint.h>
#include <time.h>
#include "self.h"
#include "stats.h"

#define LONG_US 10000 /* a tenth of the longest acceptable turn; the rest is for the current step */

static int64_t began_us; /* the turn, or its current step of work */
static int64_t began_cpu_us;

static int64_t clock_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * (int64_t)1000000 + t.tv_nsec / 1000;
}

/* The loop has polled: one turn ends, and the next one begins. Sleeping takes hardly any CPU time. */
static void turn(EV_P)
{
    (void)loop;
    int64_t cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
    if (began_us && (uint64_t)(cpu_us - began_cpu_us) > pvmd_stats.longest_turn_us)
        pvmd_stats.longest_turn_us = (uint64_t)(cpu_us - began_cpu_us);
    began_cpu_us = cpu_us;
    began_us = clock_us(CLOCK_MONOTONIC);
}

void pvmd_turn_watch(struct ev_loop *loop)
{
    ev_set_loop_release_cb(loop, NULL, turn);
}

bool pvmd_turn_is_long(void)
{
    return began_us && clock_us(CLOCK_MONOTONIC) - began_us > LONG_US;
}

/* ---- work in pieces ---- */

static void step_event(EV_P_ ev_timer *timer, int events)
{
    (void)loop, (void)events;
    struct pvmd_work *work = timer->data;
    began_us = clock_us(CLOCK_MONOTONIC); /* each step gets its time, however long the turn has lasted */
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
