/* test_clock.c - the clock counts microseconds and goes forward. */
#include "core/clock.h"
#include "tests/unit/unit.h"
#include <unistd.h>

START_TEST(never_goes_back)
{
    int64_t last = pvmc_clock_us();
    for (int i = 0; i < 10000; i++) {
        int64_t now = pvmc_clock_us();
        ck_assert_int_ge(now, last);
        last = now;
    }
}
END_TEST

START_TEST(counts_microseconds)
{
    int64_t start = pvmc_clock_us();
    usleep(20000);
    int64_t passed = pvmc_clock_us() - start;
    ck_assert_int_ge(passed, 20000);
    ck_assert_int_lt(passed, 15000000);
}
END_TEST

UNIT_MAIN("clock", never_goes_back, counts_microseconds)
