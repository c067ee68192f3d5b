/* test_replay.c - frames that are kept until they are acknowledged. */
#include "unit.h"
#include "../../src/libpvm/replay.h"

static struct pvmi_replay row, other;

/* A frame with that number whose payload is in memory of its own; the test keeps a reference. */
static struct pvmi_frame *frame(uint32_t seq, uint32_t length)
{
    struct pvmi_frame *f =
        pvmi_frame_alloc(&(struct pvmi_frame_header){.seq = seq, .length = length, .body_length = length});
    if (length)
        memset(f->mem->data, (int)seq, length);
    return f;
}

static void keep(uint32_t seq, uint32_t length)
{
    struct pvmi_frame *f = frame(seq, length);
    ck_assert_int_eq(pvmi_replay_keep(&row, f), 0);
    pvmi_frame_unref(f);
}

START_TEST(keeps_and_acknowledges_in_order)
{
    for (uint32_t seq = 0; seq < 1000; seq++)
        keep(seq, 10);
    ck_assert_uint_eq(row.count, 1000);
    ck_assert_uint_eq(row.bytes, 10000);
    pvmi_replay_acknowledge(&row, 0);
    ck_assert_uint_eq(row.count, 1000);
    pvmi_replay_acknowledge(&row, 700);
    ck_assert_uint_eq(row.count, 300);
    ck_assert_uint_eq(pvmi_replay_first(&row)->h.seq, 700);
    pvmi_replay_acknowledge(&row, 600); /* late */
    ck_assert_uint_eq(row.count, 300);
    for (uint32_t seq = 1000; seq < 3000; seq++) {
        keep(seq, 0);
        pvmi_replay_acknowledge(&row, seq - 20);
        ck_assert_uint_le(row.count, 300);
    }
    pvmi_replay_acknowledge(&row, 5000);
    ck_assert_ptr_null(pvmi_replay_first(&row));
    ck_assert_uint_eq(row.bytes, 0);
    pvmi_replay_clear(&row);
}
END_TEST

START_TEST(numbers_wrap)
{
    for (uint32_t i = 0; i < 10; i++)
        keep(UINT32_MAX - 4 + i, 1);
    pvmi_replay_acknowledge(&row, UINT32_MAX);
    ck_assert_uint_eq(row.count, 6);
    pvmi_replay_acknowledge(&row, 2);
    ck_assert_uint_eq(row.count, 3);
    ck_assert_uint_eq(pvmi_replay_first(&row)->h.seq, 2);
    pvmi_replay_clear(&row);
}
END_TEST

START_TEST(moves_on_marked_as_sent_again)
{
    keep(3, 100);
    keep(4, 0);
    pvmi_replay_move(&row, &other);
    keep(5, 100);
    pvmi_replay_move(&row, &other);
    ck_assert_uint_eq(row.count, 0);
    ck_assert_uint_eq(other.count, 3);
    ck_assert_uint_eq(other.bytes, 200);
    for (uint32_t seq = 3; seq < 6; seq++) {
        struct pvmi_frame *f = pvmi_replay_first(&other);
        ck_assert_uint_eq(f->h.seq, seq);
        ck_assert_uint_eq(f->h.flags, PVMI_FRAME_AGAIN);
        if (f->h.length)
            ck_assert_uint_eq(f->mem->data[99], seq);
        pvmi_replay_drop_first(&other);
    }
    pvmi_replay_clear(&other);
}
END_TEST

static struct pvmi_frame *inplace_frame(char *data, uint32_t length)
{
    struct pvmi_frame *f = pvmi_frame_new(&(struct pvmi_frame_header){.length = length, .body_length = length}, NULL);
    pvmi_frame_add_piece(f, data, length / 2);
    pvmi_frame_add_piece(f, data + length / 2, length - length / 2);
    return f;
}

START_TEST(small_inplace_data_are_copied_large_ones_waited_for)
{
    static char data[PVMI_REPLAY_COPY_BYTES + 1];
    memset(data, 'a', sizeof data);
    struct pvmi_frame *small = inplace_frame(data, PVMI_REPLAY_COPY_BYTES);
    struct pvmi_frame *large = inplace_frame(data, PVMI_REPLAY_COPY_BYTES + 1);
    ck_assert_int_eq(pvmi_replay_keep(&row, small), 0);
    ck_assert_int_eq(pvmi_replay_keep(&row, large), 0);
    ck_assert_uint_eq(small->refs, 1); /* the sender may go on */
    ck_assert_uint_eq(large->refs, 2);
    data[7] = 'b';
    ck_assert_int_eq(pvmi_replay_first(&row)->mem->data[7], 'a');
    pvmi_replay_clear(&row);
    ck_assert_uint_eq(large->refs, 1);
    pvmi_frame_unref(small);
    pvmi_frame_unref(large);
}
END_TEST

START_TEST(is_full_at_its_bounds)
{
    for (uint32_t seq = 0; seq < PVMI_REPLAY_FRAMES_MAX; seq++) {
        ck_assert(!pvmi_replay_is_full(&row));
        keep(seq, 0);
    }
    ck_assert(pvmi_replay_is_full(&row));
    pvmi_replay_acknowledge(&row, 1);
    ck_assert(!pvmi_replay_is_full(&row));
    pvmi_replay_clear(&row);
    for (uint32_t seq = 0; seq < 64; seq++) {
        ck_assert(!pvmi_replay_is_full(&row));
        keep(seq, 1 << 20);
    }
    ck_assert(pvmi_replay_is_full(&row));
    pvmi_replay_clear(&row);
}
END_TEST

UNIT_MAIN("replay", keeps_and_acknowledges_in_order, numbers_wrap, moves_on_marked_as_sent_again,
          small_inplace_data_are_copied_large_ones_waited_for, is_full_at_its_bounds)
