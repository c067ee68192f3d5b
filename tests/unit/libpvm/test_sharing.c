/* test_sharing.c - what yields tell about others on the core. */
#include "libpvm/base/sharing.h"
#include "tests/unit/unit.h"

enum { US = 1000, MS = 1000000 };

/* Yields that return at once, each after 2 us of polling. */
static void keep(struct pvmi_sharing *s, int yields)
{
    while (yields--)
        pvmi_sharing_learn(s, false, 300, 2 * US);
}

/* One yield that another process used for so long. */
static void lose(struct pvmi_sharing *s, int64_t ns)
{
    pvmi_sharing_learn(s, true, ns, 2 * US);
}

START_TEST(one_short_loss_is_no_rival)
{
    struct pvmi_sharing s = {0};
    keep(&s, 25);
    lose(&s, 60 * US);
    ck_assert(!pvmi_sharing_defies_yields(&s));
}
END_TEST

START_TEST(a_lost_time_slice_is_no_rival)
{
    struct pvmi_sharing s = {0};
    keep(&s, 100);
    lose(&s, 3 * MS);
    ck_assert(!pvmi_sharing_defies_yields(&s));
}
END_TEST

/* Between its time slices yields return at once, often enough to hide that the core is shared. */
START_TEST(another_sessions_process_is_a_rival)
{
    struct pvmi_sharing s = {0};
    for (int slice = 0; slice < 3; slice++) {
        lose(&s, 3 * MS);
        keep(&s, 1000);
    }
    ck_assert(!pvmi_sharing_is_on(&s));
    ck_assert(pvmi_sharing_defies_yields(&s));
    for (int sleeps = 0; sleeps < 4; sleeps++)
        pvmi_sharing_forget_half(&s);
    ck_assert(!pvmi_sharing_defies_yields(&s));
}
END_TEST

/* Those that yields make room for share the core, however long they take. When they have gone, their time is nothing.
 */
START_TEST(yields_make_room_for_those_who_use_each)
{
    struct pvmi_sharing s = {0};
    for (int yields = 0; yields < 4; yields++)
        lose(&s, 4 * MS);
    ck_assert(pvmi_sharing_is_on(&s));
    ck_assert(!pvmi_sharing_defies_yields(&s));
    keep(&s, PVMI_SHARED_MAX / 2 + 1);
    ck_assert(!pvmi_sharing_is_on(&s));
    ck_assert(!pvmi_sharing_defies_yields(&s));
}
END_TEST

UNIT_MAIN("sharing", one_short_loss_is_no_rival, a_lost_time_slice_is_no_rival, another_sessions_process_is_a_rival,
          yields_make_room_for_those_who_use_each)
