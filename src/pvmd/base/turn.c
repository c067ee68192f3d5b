/* turn.c - see turn.h. Turns are measured in CPU time, which a busy machine does not prolong. */
#include "turn.h"
#include <stdint.h>
#include <time.h>
#include "self.h"
#include "stats.h"

#define LONG_S 0.010 /* a tenth of the longest acceptable turn; the rest is for the current step */
#define READ_S 0.001 /* the CPU clock is a system call, so short turns are measured together */

static ev_tstamp step_began; /* the last step of work in this turn; 0: none */
static ev_tstamp read_at;    /* the CPU clock, at this time, */
static int64_t read_us;      /* had this value; 0: not read yet */

static int64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * (int64_t)1000000 + t.tv_nsec / 1000;
}

static void measure(ev_tstamp ended)
{
    int64_t now_us = cpu_us();
    if (read_us && (uint64_t)(now_us - read_us) > pvmd_stats.longest_turn_us)
        pvmd_stats.longest_turn_us = (uint64_t)(now_us - read_us);
    read_us = now_us;
    read_at = ended;
}

/*
 * The loop has polled, and ev_now() is still the time before that: the end of the last turn. Sleeping takes hardly any
 * CPU time. The turns of a millisecond are counted as one. The clock may be set back.
 */
static void turn(EV_P)
{
    ev_tstamp ended = ev_now(EV_A);
    step_began = 0.;
    if (ended > read_at + READ_S || ended < read_at)
        measure(ended);
}

void pvmd_turn_watch(struct ev_loop *loop)
{
    ev_set_loop_release_cb(loop, NULL, turn);
}

/*
 * The loop's time is that of the day. When somebody sets it, turns count as long, and only steps make progress, until
 * the loop notices, half a second later.
 */
bool pvmd_turn_is_long(void)
{
    if (!pvmd.loop)
        return false;
    ev_tstamp lasted = ev_time() - (step_began != 0. ? step_began : ev_now(pvmd.loop));
    return lasted > LONG_S || lasted < 0.;
}

/* ---- work in pieces ---- */

static void step_event(EV_P_ ev_timer *timer, int events)
{
    (void)loop, (void)events;
    struct pvmd_work *work = timer->data;
    step_began = ev_time(); /* each step gets its time, however long the turn has lasted */
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
