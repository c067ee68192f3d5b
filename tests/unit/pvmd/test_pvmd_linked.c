/* test_pvmd_linked.c - the list of hosts with a link has each of them once. */
#include "pvmd/net/linked.h"
#include "core/message/tid.h"
#include "tests/unit/unit.h"

static unsigned indices[PVMC_HOST_INDEX_MAX];

static bool lists(unsigned index)
{
    unsigned times = 0;
    for (unsigned count = pvmd_linked_list(indices), i = 0; i < count; i++)
        times += indices[i] == index;
    ck_assert_uint_le(times, 1);
    return times;
}

START_TEST(each_host_is_listed_once)
{
    pvmd_linked_add(7);
    pvmd_linked_add(7);
    pvmd_linked_add(9);
    ck_assert(lists(7) && lists(9) && !lists(8));
    ck_assert_uint_eq(pvmd_linked_list(indices), 2);
    pvmd_linked_remove(8);
    pvmd_linked_remove(7);
    ck_assert(!lists(7) && lists(9));
    pvmd_linked_remove(9);
    ck_assert_uint_eq(pvmd_linked_list(indices), 0);
}
END_TEST

START_TEST(all_hosts_have_room)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++)
        pvmd_linked_add(i);
    ck_assert_uint_eq(pvmd_linked_list(indices), PVMC_HOST_INDEX_MAX);
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i += 2)
        pvmd_linked_remove(i);
    ck_assert_uint_eq(pvmd_linked_list(indices), PVMC_HOST_INDEX_MAX / 2);
    ck_assert(lists(2) && !lists(3) && lists(4094) && !lists(4095));
    for (unsigned i = 2; i <= PVMC_HOST_INDEX_MAX; i += 2)
        pvmd_linked_remove(i);
    ck_assert_uint_eq(pvmd_linked_list(indices), 0);
}
END_TEST

UNIT_MAIN("pvmd_linked", each_host_is_listed_once, all_hosts_have_room)
