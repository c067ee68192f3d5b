/* test_pvmd_delay.c - when the candidates of an election begin. */
#include "pvmd/quorum/delay.h"
#include "tests/unit/unit.h"

enum { HOSTS = 4095 };

#define CLOSE 1e-9

/* With a time limit of silence of no length, as in election.h. */
static double shortest_limit_s(size_t members)
{
    return members > 64 ? 2. * (double)members / 64 : 2.;
}

START_TEST(ten_hosts_are_30_ms_apart)
{
    for (size_t members = 1; members <= 10; members++)
        for (size_t before = 0; before < members; before++) {
            double delay_s = pvmd_delay_s(before, members, shortest_limit_s(members), false);
            ck_assert_double_eq_tol(delay_s, 0.03 * (double)(before + 1), CLOSE);
            ck_assert_double_eq_tol(pvmd_delay_s(before, members, shortest_limit_s(members), true), delay_s + 0.5,
                                    CLOSE);
        }
}
END_TEST

START_TEST(the_last_one_begins_in_time)
{
    for (size_t members = 1; members <= HOSTS; members++) {
        double limit_s = shortest_limit_s(members);
        ck_assert_double_le(pvmd_delay_s(members - 1, members, limit_s, false), limit_s / 2 + CLOSE);
        ck_assert_double_le(pvmd_delay_s(members - 1, members, limit_s, true), limit_s * 3 / 4 + CLOSE);
    }
}
END_TEST

static void steps_shrink(size_t members, double limit_s)
{
    double last_s = pvmd_delay_s(0, members, limit_s, false), last_step_s = limit_s;
    for (size_t before = 1; before < members; before++) {
        double delay_s = pvmd_delay_s(before, members, limit_s, false);
        ck_assert_double_gt(delay_s, last_s);
        ck_assert_double_le(delay_s - last_s, last_step_s + CLOSE);
        last_step_s = delay_s - last_s;
        last_s = delay_s;
    }
}

START_TEST(no_two_begin_at_once)
{
    steps_shrink(64, shortest_limit_s(64));
    steps_shrink(1000, shortest_limit_s(1000));
    steps_shrink(1000, shortest_limit_s(1000) + 18);
    steps_shrink(HOSTS, shortest_limit_s(HOSTS));
}
END_TEST

/* At the standard PVM_HOST_TIMEOUT, for a master that is known to have ended: as measured on machines of many hosts. */
START_TEST(the_first_ones_have_time)
{
    ck_assert_double_eq_tol(pvmd_delay_s(1, 64, 20., false), 0.03 + 0.192, CLOSE);
    ck_assert_double_eq_tol(pvmd_delay_s(1, 256, 26., false), 0.03 + 0.768, CLOSE);
    ck_assert_double_eq_tol(pvmd_delay_s(1, 1000, 49.25, false), 0.03 + 3., CLOSE);
}
END_TEST

UNIT_MAIN("pvmd_delay", ten_hosts_are_30_ms_apart, the_last_one_begins_in_time, no_two_begin_at_once,
          the_first_ones_have_time)
