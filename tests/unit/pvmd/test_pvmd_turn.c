/* test_pvmd_turn.c - work in steps: each step runs once, whenever the work began. */
#include "pvmd/base/turn.h"
#include "pvmd/base/self.h"
#include "pvmd/base/stats.h"
#include "tests/unit/unit.h"

struct pvmd_daemon pvmd;
struct pvmd_stats pvmd_stats;

static unsigned steps, steps_left;

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

UNIT_MAIN("pvmd_turn", work_goes_on_while_there_is_more, work_that_is_begun_while_its_step_is_pending_takes_one,
          work_that_is_stopped_takes_no_step)
