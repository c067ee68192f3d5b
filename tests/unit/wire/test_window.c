/* test_window.c - the retransmit window: order, acknowledgement by position and by number, wrapping, memory. */
#include "wire/window.h"
#include "core/error.h"
#include "core/memory/mem.h"
#include "tests/unit/unit.h"
#include <string.h>

static struct pvmw_window k, other;

static void add(uint32_t tag)
{
    struct pvmc_frame_header h = {.length = 100, .body_length = 100, .tag = (int32_t)tag};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    ck_assert_int_eq(pvmw_window_add(&k, f), 0);
    pvmc_frame_unref(f);
}

static void begin_at(uint32_t number)
{
    k = (struct pvmw_window){.first = number, .end = number};
}

START_TEST(frames_are_kept_in_order_until_counted)
{
    begin_at(UINT32_MAX - 50); /* numbers wrap in between */
    for (uint32_t i = 0; i < 1000; i++) {
        add(k.end);
        add(k.end);
        ck_assert_uint_eq(pvmw_window_count(&k), i + 2);
        ck_assert_int_eq(pvmw_window_acknowledge(&k, k.first + 1, k.end), 0);
        for (uint32_t n = k.first; n != k.end; n++)
            ck_assert_int_eq(pvmw_window_frame(&k, n)->h.tag, (int32_t)n);
    }
    pvmw_window_clear(&k);
    ck_assert_uint_eq(k.bytes, 0);
}
END_TEST

START_TEST(impossible_counts_are_refused)
{
    begin_at(10);
    for (int i = 0; i < 5; i++)
        add(0);
    ck_assert_int_eq(pvmw_window_acknowledge(&k, 14, 13), PVMC_EFORMAT); /* 13 and 14 are kept, but not sent */
    ck_assert_int_eq(pvmw_window_acknowledge(&k, 9, 15), PVMC_EFORMAT);
    ck_assert_int_eq(pvmw_window_acknowledge(&k, 16, 15), PVMC_EFORMAT);
    ck_assert_uint_eq(pvmw_window_count(&k), 5);
    ck_assert_int_eq(pvmw_window_acknowledge(&k, 15, 15), 0);
    ck_assert_uint_eq(pvmw_window_count(&k), 0);
    pvmw_window_clear(&k);
}
END_TEST

START_TEST(memory_comes_back)
{
    size_t in_use, cached;
    begin_at(0);
    for (int i = 0; i < 5000; i++)
        add(0);
    ck_assert_uint_gt(k.bytes, 5000 * 100);
    ck_assert_int_eq(pvmw_window_acknowledge(&k, 5000, 5000), 0);
    ck_assert_uint_eq(k.bytes, 0);
    ck_assert_uint_eq(k.capacity, 0); /* a ring that has grown is released */
    pvmc_mem_usage(&in_use, &cached);
    ck_assert_uint_eq(in_use, 0);
    add(0);
    ck_assert_uint_eq(pvmw_window_count(&k), 1);
    pvmw_window_clear(&k);
}
END_TEST

/* ---- frames with their own numbers ---- */

static void keep(uint32_t seq, uint32_t length)
{
    struct pvmc_frame *f =
        pvmc_frame_alloc(&(struct pvmc_frame_header){.seq = seq, .length = length, .body_length = length});
    if (length)
        memset(f->mem->data, (int)seq, length);
    ck_assert_int_eq(pvmw_window_add(&k, f), 0);
    pvmc_frame_unref(f);
}

START_TEST(acknowledged_by_their_own_numbers)
{
    for (uint32_t seq = 0; seq < 1000; seq++)
        keep(seq, 10);
    ck_assert_uint_eq(pvmw_window_count(&k), 1000);
    pvmw_window_acknowledge_seq(&k, 0);
    ck_assert_uint_eq(pvmw_window_count(&k), 1000);
    pvmw_window_acknowledge_seq(&k, 700);
    ck_assert_uint_eq(pvmw_window_count(&k), 300);
    ck_assert_uint_eq(pvmw_window_first(&k)->h.seq, 700);
    pvmw_window_acknowledge_seq(&k, 600); /* late */
    ck_assert_uint_eq(pvmw_window_count(&k), 300);
    for (uint32_t seq = 1000; seq < 3000; seq++) {
        keep(seq, 0);
        pvmw_window_acknowledge_seq(&k, seq - 20);
        ck_assert_uint_le(pvmw_window_count(&k), 300);
    }
    pvmw_window_acknowledge_seq(&k, 5000);
    ck_assert_ptr_null(pvmw_window_first(&k));
    ck_assert_uint_eq(k.bytes, 0);
    pvmw_window_clear(&k);
}
END_TEST

START_TEST(their_own_numbers_wrap)
{
    for (uint32_t i = 0; i < 10; i++)
        keep(UINT32_MAX - 4 + i, 1);
    pvmw_window_acknowledge_seq(&k, UINT32_MAX);
    ck_assert_uint_eq(pvmw_window_count(&k), 6);
    pvmw_window_acknowledge_seq(&k, 2);
    ck_assert_uint_eq(pvmw_window_count(&k), 3);
    ck_assert_uint_eq(pvmw_window_first(&k)->h.seq, 2);
    pvmw_window_clear(&k);
}
END_TEST

START_TEST(moves_on_marked_as_sent_again)
{
    keep(3, 100);
    keep(4, 0);
    pvmw_window_resend_by(&k, &other);
    keep(5, 100);
    pvmw_window_resend_by(&k, &other);
    ck_assert_uint_eq(pvmw_window_count(&k), 0);
    ck_assert_uint_eq(k.bytes, 0);
    ck_assert_uint_eq(pvmw_window_count(&other), 3);
    for (uint32_t seq = 3; seq < 6; seq++) {
        struct pvmc_frame *f = pvmw_window_first(&other);
        ck_assert_uint_eq(f->h.seq, seq);
        ck_assert_uint_eq(f->h.flags, PVMC_FRAME_AGAIN);
        if (f->h.length)
            ck_assert_uint_eq(f->mem->data[99], seq);
        pvmw_window_drop_first(&other);
    }
    ck_assert_uint_eq(other.bytes, 0);
    pvmw_window_clear(&other);
}
END_TEST

UNIT_MAIN("window", frames_are_kept_in_order_until_counted, impossible_counts_are_refused, memory_comes_back,
          acknowledged_by_their_own_numbers, their_own_numbers_wrap, moves_on_marked_as_sent_again)
