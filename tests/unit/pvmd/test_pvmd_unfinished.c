/* test_pvmd_unfinished.c - which messages of a task the daemon knows to be unfinished. */
#include "core/error.h"
#include "pvmd/frames/relay.h"
#include "pvmd/frames/unfinished.h"
#include "tests/unit/unit.h"

static struct pvmd_unfinished table;
static unsigned aborts;
static pvmc_tid first_aborted;

void pvmd_relay(struct pvmc_frame *f, unsigned from_host)
{
    (void)from_host;
    ck_assert_uint_eq(f->h.flags, PVMC_FRAME_ABORT);
    if (!aborts++)
        first_aborted = f->h.dst;
}

static int note(pvmc_tid dst, uint8_t flags, uint64_t offset)
{
    struct pvmc_frame_header h = {
        .flags = flags, .src = 0x40001, .dst = dst, .length = 4, .offset = offset, .body_length = 8};
    return pvmd_unfinished_note(&table, &h);
}

START_TEST(what_is_finished_is_forgotten)
{
    ck_assert_int_eq(note(1, 0, 0), 0);
    ck_assert_int_eq(note(2, 0, 0), 0);
    ck_assert_int_eq(note(2, PVMC_FRAME_STREAM, 0), 0);
    ck_assert_int_eq(note(3, 0, 0), 0);
    ck_assert_int_eq(note(1, 0, 4), 0);
    ck_assert_int_eq(note(2, PVMC_FRAME_STREAM, 4), 0);
    pvmd_unfinished_abort(&table);
    ck_assert_uint_eq(aborts, 2);
    ck_assert_uint_eq(first_aborted, 2);
}
END_TEST

/* Their last frames may have gone by direct links, so a task may begin any number of them. */
START_TEST(old_streams_give_way)
{
    ck_assert_int_eq(note(7, 0, 0), 0);
    for (pvmc_tid dst = 100; dst < 100 + 2 * PVMD_UNFINISHED_MAX; dst++)
        ck_assert_int_eq(note(dst, PVMC_FRAME_STREAM, 0), 0);
    pvmd_unfinished_abort(&table);
    ck_assert_uint_eq(aborts, PVMD_UNFINISHED_MAX);
    ck_assert_uint_eq(first_aborted, 7);
}
END_TEST

START_TEST(other_messages_have_a_limit)
{
    for (pvmc_tid dst = 100; dst < 100 + PVMD_UNFINISHED_MAX; dst++)
        ck_assert_int_eq(note(dst, 0, 0), 0);
    ck_assert_int_eq(note(99, 0, 0), PVMC_ELIMIT);
    pvmd_unfinished_abort(&table);
}
END_TEST

UNIT_MAIN("pvmd_unfinished", what_is_finished_is_forgotten, old_streams_give_way, other_messages_have_a_limit)
