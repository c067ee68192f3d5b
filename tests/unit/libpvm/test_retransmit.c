/* test_retransmit.c - how frames are stored until they are acknowledged, and how many. */
#include "tests/unit/unit.h"
#include "libpvm/engine/retransmit.h"

static struct pvmw_window row;

/* A frame with that number and a payload in its own memory; the test keeps a reference. */
static struct pvmc_frame *frame(uint32_t seq, uint32_t length)
{
    struct pvmc_frame *f =
        pvmc_frame_alloc(&(struct pvmc_frame_header){.seq = seq, .length = length, .body_length = length});
    if (length)
        memset(f->mem->data, (int)seq, length);
    return f;
}

static void keep(uint32_t seq, uint32_t length)
{
    struct pvmc_frame *f = frame(seq, length);
    ck_assert_int_eq(pvmi_retransmit_keep(&row, f), 0);
    pvmc_frame_unref(f);
}

static struct pvmc_frame *inplace_frame(char *data, uint32_t length)
{
    struct pvmc_frame *f = pvmc_frame_new(&(struct pvmc_frame_header){.length = length, .body_length = length}, NULL);
    pvmc_frame_add_piece(f, data, length / 2);
    pvmc_frame_add_piece(f, data + length / 2, length - length / 2);
    return f;
}

START_TEST(small_inplace_data_are_copied_large_ones_waited_for)
{
    static char data[PVMI_RETRANSMIT_COPY_BYTES + 1];
    memset(data, 'a', sizeof data);
    struct pvmc_frame *small = inplace_frame(data, PVMI_RETRANSMIT_COPY_BYTES);
    struct pvmc_frame *large = inplace_frame(data, PVMI_RETRANSMIT_COPY_BYTES + 1);
    ck_assert_int_eq(pvmi_retransmit_keep(&row, small), 0);
    ck_assert_int_eq(pvmi_retransmit_keep(&row, large), 0);
    ck_assert_uint_eq(small->refs, 1); /* the sender may continue */
    ck_assert_uint_eq(large->refs, 2);
    data[7] = 'b';
    ck_assert_int_eq(pvmw_window_first(&row)->mem->data[7], 'a');
    pvmw_window_clear(&row);
    ck_assert_uint_eq(large->refs, 1);
    pvmc_frame_unref(small);
    pvmc_frame_unref(large);
}
END_TEST

START_TEST(is_full_at_its_bounds)
{
    for (uint32_t seq = 0; seq < PVMI_RETRANSMIT_FRAMES_MAX; seq++) {
        ck_assert(!pvmi_retransmit_is_full(&row));
        keep(seq, 0);
    }
    ck_assert(pvmi_retransmit_is_full(&row));
    pvmw_window_acknowledge_seq(&row, 1);
    ck_assert(!pvmi_retransmit_is_full(&row));
    pvmw_window_clear(&row);
    for (uint32_t seq = 0; seq < 64; seq++) {
        ck_assert(!pvmi_retransmit_is_full(&row));
        keep(seq, 1 << 20);
    }
    ck_assert(pvmi_retransmit_is_full(&row));
    pvmw_window_clear(&row);
}
END_TEST

UNIT_MAIN("retransmit", small_inplace_data_are_copied_large_ones_waited_for, is_full_at_its_bounds)
