/* test_clock.c - the clock counts microseconds and goes forward. */
#include "clock.h"
#include "unit.h"
#include <unistd.h>

START_TEST(never_goes_back)
{
    int64_t last = pvmi_clock_us();
    for (int i = 0; i < 10000; i++) {
        int64_t now = pvmi_clock_us();
        ck_assert_int_ge(now, last);
        last = now;
    }
}
END_TEST

START_TEST(counts_microseconds)
{
    int64_t start = pvmi_clock_us();
    usleep(20000);
    int64_t passed = pvmi_clock_us() - start;
    ck_assert_int_ge(passed, 20000);
    ck_assert_int_lt(passed, 15000000);
}
END_TEST

UNIT_MAIN("clock", never_goes_back, counts_microseconds)
