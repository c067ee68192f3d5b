/* test_timers.c - compares timers with a linear search of a list. */
#include <stdlib.h>
#include "wire/timers.h"
#include "tests/unit/unit.h"

enum { ENTRIES = 300, STEPS = 200000 };

static struct pvmw_timers timers;
static struct pvmw_timer entries[ENTRIES];

static int64_t soonest_us(void)
{
    int64_t soonest = INT64_MAX;
    for (int i = 0; i < ENTRIES; i++)
        if (entries[i].place && entries[i].due_us < soonest)
            soonest = entries[i].due_us;
    return soonest;
}

START_TEST(the_first_is_the_soonest)
{
    unsigned seed = 3;
    for (int step = 0; step < STEPS; step++) {
        struct pvmw_timer *e = &entries[rand_r(&seed) % ENTRIES];
        int64_t due_us = rand_r(&seed) % 3 ? rand_r(&seed) % 1000 : INT64_MAX;
        if (pvmw_timers_set(&timers, e, due_us) || !!e->place != (due_us != INT64_MAX))
            ck_abort_msg("step %d", step);
        const struct pvmw_timer *first = pvmw_timers_first(&timers);
        if (step % 64 == 0)
            ck_assert_int_eq(first ? first->due_us : INT64_MAX, soonest_us());
    }
    for (int i = 0; i < ENTRIES; i++)
        pvmw_timers_set(&timers, &entries[i], INT64_MAX);
    ck_assert_ptr_null(pvmw_timers_first(&timers));
    pvmw_timers_clear(&timers);
}
END_TEST

UNIT_MAIN("timers", the_first_is_the_soonest)
