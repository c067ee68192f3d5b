/*
 * test_slots.c - slots for small parts of collective calls: what is put is found, once, and only where it belongs; a
 * busy slot refuses; members see each other's slots; sleepers are woken once.
 */
#include "groups/slots.h"
#include "tests/unit/unit.h"

enum { MEMBERS = 3, FIRST_TID = 0x40001 };

static void *memory;
static struct pvmg_slots slots[MEMBERS];

static void setup(void)
{
    const int tids[MEMBERS] = {FIRST_TID, FIRST_TID + 1, FIRST_TID + 2};
    memory = aligned_alloc(64, pvmg_slots_bytes(MEMBERS));
    memset(memory, 0, pvmg_slots_bytes(MEMBERS));
    pvmg_slots_prepare(memory, tids, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        ck_assert(pvmg_slots_open(&slots[i], memory, MEMBERS, FIRST_TID + i));
        ck_assert_int_eq(slots[i].mine, i);
        ck_assert_int_eq(slots[i].count, MEMBERS);
    }
}

static void close_all(void)
{
    for (int i = 0; i < MEMBERS; i++)
        pvmg_slots_close(&slots[i]);
    free(memory);
}

static bool put(int by, int place, int number, const void *data, size_t bytes)
{
    struct pvmg_call call = {.number = number, .n = (int)bytes};
    return pvmg_slots_put(&slots[by], place, PVMG_PACKET_UP, &call, by, data, bytes);
}

START_TEST(parts_are_found)
{
    static const size_t sizes[] = {1, 16, 200, 208, 209, PVMG_SLOTS_PART_MAX};
    static char data[PVMG_SLOTS_PART_MAX];
    setup();
    for (int i = 0; i < 6; i++) {
        enum pvmg_slot_ring ring = pvmg_slots_ring(sizes[i]);
        struct pvmg_slot_part part;
        int number, index = pvmg_slots_index(ring, i);
        memset(data, 'a' + i, sizeof data);
        ck_assert(pvmg_slots_is_free(&slots[1], ring, 1, i));
        ck_assert(!pvmg_slots_look(&slots[2], ring, 1, index, &number, &part));
        ck_assert(put(1, 1, i, data, sizes[i]));
        ck_assert(pvmg_slots_has(&slots[2], ring, 1, i));
        ck_assert(!pvmg_slots_has(&slots[2], ring, 0, i));
        ck_assert(!pvmg_slots_has(&slots[2], ring, 1, i + 1));
        ck_assert(pvmg_slots_look(&slots[2], ring, 1, index, &number, &part));
        ck_assert_int_eq(number, i);
        ck_assert_int_eq(part.start, 1);
        ck_assert_int_eq(part.call.n, (int)sizes[i]);
        ck_assert_uint_ge(part.bytes_max, sizes[i]);
        ck_assert_mem_eq(part.data, data, sizes[i]);
        ck_assert(pvmg_slots_retract(&slots[2], ring, 1, i));
        ck_assert(!pvmg_slots_retract(&slots[1], ring, 1, i));
        ck_assert(pvmg_slots_is_free(&slots[1], ring, 1, i));
    }
    close_all();
}
END_TEST

START_TEST(busy_slots_refuse)
{
    setup();
    for (int ring = 0; ring < PVMG_SLOTS_RINGS; ring++) {
        size_t bytes = ring == PVMG_SLOTS_SMALL ? 8 : 1000;
        static const char data[1000];
        int n = pvmg_slots_ring_size(ring), first = 1 << 30;
        for (int i = 0; i < n; i++)
            ck_assert(put(0, 0, first + i, data, bytes));
        ck_assert(!put(0, 0, first + n, data, bytes));
        ck_assert(put(1, 1, first + n, data, bytes));
        ck_assert(pvmg_slots_has(&slots[2], ring, 0, first));
        ck_assert(pvmg_slots_retract(&slots[2], ring, 0, first));
        ck_assert(put(0, 0, first + n, data, bytes));
        ck_assert(!put(0, 0, first + n, data, bytes));
    }
    close_all();
}
END_TEST

START_TEST(sleepers_are_woken_once)
{
    setup();
    ck_assert(!pvmg_slots_must_wake(&slots[0], 1));
    pvmg_slots_sleep(&slots[1], true);
    ck_assert(!pvmg_slots_must_wake(&slots[0], 2));
    ck_assert(pvmg_slots_must_wake(&slots[0], 1));
    ck_assert(!pvmg_slots_must_wake(&slots[2], 1));
    pvmg_slots_sleep(&slots[1], true);
    pvmg_slots_sleep(&slots[1], false);
    ck_assert(!pvmg_slots_must_wake(&slots[0], 1));
    unsigned waits = pvmg_slots_waits(&slots[0]);
    pvmg_slots_note_wait(&slots[2]);
    ck_assert_uint_eq(pvmg_slots_waits(&slots[0]), waits + 1);
    close_all();
}
END_TEST

START_TEST(strangers_are_refused)
{
    struct pvmg_slots s;
    setup();
    ck_assert(!pvmg_slots_open(&s, memory, MEMBERS, FIRST_TID + MEMBERS));
    ck_assert_int_eq(s.count, 0);
    ck_assert_uint_eq(pvmg_slots_bytes(PVMG_SLOTS_MEMBERS_MAX + 1), 0);
    ck_assert(pvmg_slots_open(&s, memory, PVMG_SLOTS_MEMBERS_MAX + 1, 1)); /* a board without slots */
    ck_assert_int_eq(s.count, 0);
    pvmg_slots_close(&s);
    close_all();
}
END_TEST

/* What others write there is found in no slot that we did not ask for, and is not followed. */
START_TEST(rubbish_is_harmless)
{
    setup();
    memset(memory, 0xff, pvmg_slots_bytes(MEMBERS));
    for (int ring = 0; ring < PVMG_SLOTS_RINGS; ring++)
        for (int i = 0; i < pvmg_slots_ring_size(ring); i++) {
            struct pvmg_slot_part part;
            int number;
            if (pvmg_slots_look(&slots[0], ring, 1, i, &number, &part))
                ck_assert_uint_le((size_t)((const char *)part.data - (char *)memory) + part.bytes_max,
                                  pvmg_slots_bytes(MEMBERS));
            ck_assert(!pvmg_slots_has(&slots[0], ring, 1, i));
            ck_assert(!put(0, 1, i, "x", 1));
        }
    ck_assert_int_eq(slots[0].tids[1], FIRST_TID + 1);
    close_all();
}
END_TEST

UNIT_MAIN("slots", parts_are_found, busy_slots_refuse, sleepers_are_woken_once, strangers_are_refused,
          rubbish_is_harmless)
