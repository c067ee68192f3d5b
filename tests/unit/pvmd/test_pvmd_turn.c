/* test_pvmd_turn.c - work in steps: each step runs once, whenever the work began. Turns are measured. */
#include "pvmd/base/turn.h"
#include "pvmd/base/self.h"
#include "pvmd/base/stats.h"
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/unit.h"

struct pvmd_daemon pvmd;
struct pvmd_stats pvmd_stats;

static unsigned steps, steps_left, cpu_looks;

/* In place of libc's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    cpu_looks += clock == CLOCK_THREAD_CPUTIME_ID;
    return (int)syscall(SYS_clock_gettime, clock, t);
}

static int64_t us_of(clockid_t clock)
{
    struct timespec t;
    syscall(SYS_clock_gettime, clock, &t);
    return t.tv_sec * (int64_t)1000000 + t.tv_nsec / 1000;
}

static bool take_step(void)
{
    steps++;
    return steps_left && steps_left--;
}

static struct pvmd_work work = {.step = take_step};

static void begin_work(EV_P_ ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    pvmd_work_begin(&work);
}

static void set_up(void)
{
    pvmd.loop = ev_loop_new(EVFLAG_AUTO);
    steps = steps_left = 0;
}

START_TEST(work_goes_on_while_there_is_more)
{
    set_up();
    steps_left = 4;
    pvmd_work_begin(&work);
    ck_assert(pvmd_work_is_due(&work));
    ev_run(pvmd.loop, 0);
    ck_assert_uint_eq(steps, 5);
    ck_assert(!pvmd_work_is_due(&work));
    ev_loop_destroy(pvmd.loop);
}
END_TEST

/* The other timer expires earlier in the same iteration: the work's timer is then pending, not active. */
START_TEST(work_that_is_begun_while_its_step_is_pending_takes_one)
{
    ev_timer before;
    set_up();
    pvmd_work_begin(&work);
    ev_timer_init(&before, begin_work, 0., 0.);
    ev_set_priority(&before, EV_MAXPRI);
    ev_timer_start(pvmd.loop, &before);
    ev_run(pvmd.loop, 0);
    ck_assert_uint_eq(steps, 1);
    ev_loop_destroy(pvmd.loop);
}
END_TEST

static void stop_work(EV_P_ ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    pvmd_work_stop(&work);
}

START_TEST(work_that_is_stopped_takes_no_step)
{
    ev_timer before;
    set_up();
    pvmd_work_begin(&work);
    ev_timer_init(&before, stop_work, 0., 0.);
    ev_set_priority(&before, EV_MAXPRI);
    ev_timer_start(pvmd.loop, &before);
    ev_run(pvmd.loop, 0);
    ck_assert_uint_eq(steps, 0);
    ev_loop_destroy(pvmd.loop);
}
END_TEST

static bool take_long_step(void)
{
    int64_t end_us = us_of(CLOCK_THREAD_CPUTIME_ID) + 20000;
    while (us_of(CLOCK_THREAD_CPUTIME_ID) < end_us)
        ;
    return false;
}

START_TEST(only_turns_that_may_be_long_are_measured)
{
    struct pvmd_work long_work = {.step = take_long_step};
    set_up();
    pvmd_turn_watch(pvmd.loop);
    int64_t begin_us = us_of(CLOCK_MONOTONIC);
    steps_left = 10000;
    pvmd_work_begin(&work);
    ev_run(pvmd.loop, 0);
    ck_assert_uint_eq(steps, 10001);
    ck_assert_int_le(cpu_looks, (us_of(CLOCK_MONOTONIC) - begin_us) / 1000 + 1);
    ck_assert_uint_lt(pvmd_stats.longest_turn_us, 20000);
    pvmd_work_begin(&long_work);
    ev_run(pvmd.loop, 0);
    pvmd_work_begin(&work); /* another turn, so that the long one ends */
    ev_run(pvmd.loop, 0);
    ck_assert_uint_ge(pvmd_stats.longest_turn_us, 20000);
    ev_loop_destroy(pvmd.loop);
}
END_TEST

UNIT_MAIN("pvmd_turn", only_turns_that_may_be_long_are_measured, work_goes_on_while_there_is_more,
          work_that_is_begun_while_its_step_is_pending_takes_one, work_that_is_stopped_takes_no_step)
