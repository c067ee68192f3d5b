/* test_shadow.c - what the library asks the network about messages that the daemons carry. The network is simulated. */
#include "libpvm/base/shadow.h"
#include "tests/unit/unit.h"

static unsigned there; /* shadows on their way; the number of each is its place */
static unsigned asked;
static bool gone;

static int under_way(unsigned first, struct pvmc_shadow list[PVMC_SHADOWS_MAX], bool *handing)
{
    unsigned count = there > first ? there - first : 0;
    count = count < PVMC_SHADOWS_MAX ? count : PVMC_SHADOWS_MAX;
    asked++;
    *handing = false;
    for (unsigned i = 0; i < count; i++)
        list[i] = (struct pvmc_shadow){7, first + i};
    return gone ? -1 : (int)count;
}

static const struct pvmc_virtual_clock network = {.under_way = under_way};

static void check_list(unsigned count, unsigned questions)
{
    const struct pvmc_shadow *list;
    there = count;
    asked = 0;
    ck_assert_int_eq(pvmi_shadow_ask(&list), (int)count);
    ck_assert_uint_eq(asked, questions);
    for (unsigned i = 0; i < count; i++)
        ck_assert(list[i].task == 7 && list[i].number == i);
}

START_TEST(lists_of_any_length)
{
    pvmc_virtual_clock = &network;
    check_list(0, 1);
    check_list(3, 1);
    check_list(PVMC_SHADOWS_MAX - 1, 1);
    check_list(PVMC_SHADOWS_MAX, 2);
    check_list(PVMC_SHADOWS_MAX + 1, 2);
    check_list(5 * PVMC_SHADOWS_MAX + 100, 6);
    check_list(1, 1);
    pvmc_virtual_clock = NULL;
}
END_TEST

START_TEST(the_network_may_be_gone)
{
    const struct pvmc_shadow *list;
    ck_assert_int_eq(pvmi_shadow_ask(&list), -1);
    pvmc_virtual_clock = &network;
    gone = true;
    ck_assert_int_eq(pvmi_shadow_ask(&list), -1);
    gone = false;
    pvmc_virtual_clock = NULL;
}
END_TEST

UNIT_MAIN("shadow", lists_of_any_length, the_network_may_be_gone)
