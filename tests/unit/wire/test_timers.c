/* test_agenda.c - what is due when, against a list that is searched from end to end. */
#include <stdlib.h>
#include "../../src/transports/reliable/agenda.h"
#include "unit.h"

enum { ENTRIES = 300, STEPS = 200000 };

static struct pvmi_agenda agenda;
static struct pvmi_agenda_entry entries[ENTRIES];

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
        struct pvmi_agenda_entry *e = &entries[rand_r(&seed) % ENTRIES];
        int64_t due_us = rand_r(&seed) % 3 ? rand_r(&seed) % 1000 : INT64_MAX;
        if (pvmi_agenda_set(&agenda, e, due_us) || !!e->place != (due_us != INT64_MAX))
            ck_abort_msg("step %d", step);
        const struct pvmi_agenda_entry *first = pvmi_agenda_first(&agenda);
        if (step % 64 == 0)
            ck_assert_int_eq(first ? first->due_us : INT64_MAX, soonest_us());
    }
    for (int i = 0; i < ENTRIES; i++)
        pvmi_agenda_set(&agenda, &entries[i], INT64_MAX);
    ck_assert_ptr_null(pvmi_agenda_first(&agenda));
    pvmi_agenda_clear(&agenda);
}
END_TEST

UNIT_MAIN("agenda", the_first_is_the_soonest)
