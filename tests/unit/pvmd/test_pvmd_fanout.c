/* test_pvmd_fanout.c - which member starts the next host. */
#include "pvmd/hosts/fanout.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/net/link.h"
#include "tests/unit/unit.h"

struct pvmd_daemon pvmd = {.host_index = 1, .master_index = 1};

/* ---- functions that fanout.c needs ---- */

enum pvmd_link_state pvmd_link_state(const struct pvmd_host *host)
{
    (void)host;
    return PVMD_LINK_UP;
}

static struct pvmd_host *add(unsigned index)
{
    struct pvmd_host *h = pvmd_host_new(index, 1000 + index, "h");
    ck_assert_ptr_nonnull(h);
    pvmd_host_set_state(h, PVMD_HOST_UP);
    return h;
}

START_TEST(members_take_turns)
{
    for (unsigned i = 1; i <= 3; i++)
        add(i);
    ck_assert_uint_eq(pvmd_fanout_member(), 2);
    ck_assert_uint_eq(pvmd_fanout_member(), 3);
    ck_assert_uint_eq(pvmd_fanout_member(), 2);
    pvmd_host_free_all();
}
END_TEST

START_TEST(a_host_that_drains_or_has_failed_is_left_out)
{
    for (unsigned i = 1; i <= 4; i++)
        add(i);
    pvmd_host_any(2)->draining = true;
    pvmd_fanout_suspect(4);
    ck_assert_uint_eq(pvmd_fanout_member(), 3);
    ck_assert_uint_eq(pvmd_fanout_member(), 3);
    pvmd_fanout_clear_all();
    ck_assert_uint_eq(pvmd_fanout_member(), 4);
    ck_assert_uint_eq(pvmd_fanout_member(), 3);
    pvmd_host_free_all();
}
END_TEST

UNIT_MAIN("pvmd_fanout", members_take_turns, a_host_that_drains_or_has_failed_is_left_out)
