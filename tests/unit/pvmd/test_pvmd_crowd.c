/*
 * test_pvmd_crowd.c - which callers are admitted while strangers flood the port: in virtual time, with the doorman's
 * limits.
 */
#include "pvmd/door/crowd.h"
#include "pvmd/door/doorman.h"
#include "tests/unit/unit.h"

enum { RATE = 10000, SECONDS = 20, FLOODERS_MAX = 2000 };

static struct pvmd_crowd crowd;
static uint64_t random_state = 7;

static uint32_t draw(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

static void begin(void)
{
    memset(&crowd, 0, sizeof crowd);
    crowd.max = PVMD_STRANGERS_MAX;
    crowd.multiplier = 0x9e3779b97f4a7c15u;
}

static uint64_t source_of(const char *ip)
{
    union pvmw_address a;
    ck_assert_int_eq(pvmw_address_parse(ip, 1, &a), 0);
    return pvmd_crowd_source(&a);
}

START_TEST(sources_are_ipv4_addresses_and_ipv6_networks)
{
    ck_assert_uint_ne(source_of("10.0.0.1"), source_of("10.0.0.2"));
    ck_assert_uint_eq(source_of("fd00::1"), source_of("fd00::2"));
    ck_assert_uint_ne(source_of("fd00:0:0:1::1"), source_of("fd00:0:0:2::1"));
}
END_TEST

START_TEST(all_come_in_while_there_is_room)
{
    begin();
    for (unsigned i = 0; i < PVMD_STRANGERS_MAX / 4; i++)
        ck_assert(pvmd_crowd_admit(&crowd, 1, draw()));
    for (unsigned i = 0; i < PVMD_STRANGERS_MAX / 4; i++)
        ck_assert(pvmd_crowd_admit(&crowd, 1000 + i, draw()));
}
END_TEST

START_TEST(it_is_never_more_than_full)
{
    begin();
    for (unsigned i = 0; i < 10 * PVMD_STRANGERS_MAX; i++)
        pvmd_crowd_admit(&crowd, i, draw());
    ck_assert_uint_eq(crowd.count, PVMD_STRANGERS_MAX);
    begin();
    for (unsigned i = 0; i < 10 * PVMD_STRANGERS_MAX; i++)
        pvmd_crowd_admit(&crowd, 1, draw());
    ck_assert_uint_eq(crowd.count, PVMD_STRANGERS_MAX / 2);
}
END_TEST

START_TEST(who_goes_makes_room)
{
    begin();
    while (crowd.count < PVMD_STRANGERS_MAX / 2)
        pvmd_crowd_admit(&crowd, 1, draw());
    ck_assert(!pvmd_crowd_admit(&crowd, 1, draw()));
    ck_assert(pvmd_crowd_is_pressed(&crowd, 1));
    while (crowd.count)
        pvmd_crowd_leave(&crowd, 1);
    ck_assert(!pvmd_crowd_is_pressed(&crowd, 1));
    ck_assert(pvmd_crowd_admit(&crowd, 1, draw()));
}
END_TEST

/*
 * The share of an honest source's attempts that is admitted while RATE strangers per second arrive from `sources`
 * addresses and stay as long as permitted.
 */
static double share_admitted(unsigned sources, uint64_t honest)
{
    enum { TRIES = 2000 };
    static uint64_t queue[RATE * SECONDS]; /* admitted callers, in order: under pressure each stays for one second */
    static unsigned until[RATE * SECONDS];
    unsigned first = 0, last = 0, in = 0, tries = 0;
    begin();
    for (unsigned now = 0; now < RATE * SECONDS; now++) {
        while (first < last && until[first] <= now)
            pvmd_crowd_leave(&crowd, queue[first++]);
        uint64_t source = draw() % sources;
        if (pvmd_crowd_admit(&crowd, source, draw())) {
            queue[last] = source;
            until[last++] = now + (unsigned)(RATE * PVMD_STRANGER_PRESSED_S);
        }
        if (now < RATE * 5 || now % 50 || tries == TRIES)
            continue;
        tries++;
        if (pvmd_crowd_admit(&crowd, honest, draw())) {
            in++;
            pvmd_crowd_leave(&crowd, honest);
        }
    }
    return (double)in / tries;
}

START_TEST(a_flood_from_one_place_leaves_others_alone)
{
    ck_assert_double_ge(share_admitted(1, 123456), 0.99);
}
END_TEST

/* Enough for a caller that retries several times a second. */
START_TEST(a_flood_from_the_callers_own_place_does_not_shut_it_out)
{
    ck_assert_double_ge(share_admitted(1, 0), 0.15);
}
END_TEST

START_TEST(a_flood_from_everywhere_shuts_nobody_out)
{
    ck_assert_double_ge(share_admitted(FLOODERS_MAX, 123456), 0.25);
}
END_TEST

UNIT_MAIN("pvmd_crowd", sources_are_ipv4_addresses_and_ipv6_networks, all_come_in_while_there_is_room,
          it_is_never_more_than_full, who_goes_makes_room, a_flood_from_one_place_leaves_others_alone,
          a_flood_from_the_callers_own_place_does_not_shut_it_out, a_flood_from_everywhere_shuts_nobody_out)
