/* test_pvmd_kept.c - the ring of sent frames: order, counts, wrapping numbers, memory. */
#include "../../src/pvmd/kept.h"
#include "../../src/core/error.h"
#include "../../src/core/mem.h"
#include "unit.h"

static struct pvmd_kept k;

static void add(uint32_t tag)
{
    struct pvmi_frame_header h = {.length = 100, .body_length = 100, .tag = (int32_t)tag};
    struct pvmi_frame *f = pvmi_frame_alloc(&h);
    ck_assert_int_eq(pvmd_kept_add(&k, f), 0);
    pvmi_frame_unref(f);
}

static void begin_at(uint32_t number)
{
    k = (struct pvmd_kept){.counted = number, .end = number};
}

START_TEST(frames_are_kept_in_order_until_counted)
{
    begin_at(UINT32_MAX - 50); /* numbers wrap on the way */
    for (uint32_t i = 0; i < 1000; i++) {
        add(k.end);
        add(k.end);
        ck_assert_uint_eq(pvmd_kept_count(&k), i + 2);
        ck_assert_int_eq(pvmd_kept_drop(&k, k.counted + 1, k.end), 0);
        for (uint32_t n = k.counted; n != k.end; n++)
            ck_assert_int_eq(pvmd_kept_frame(&k, n)->h.tag, (int32_t)n);
    }
    pvmd_kept_clear(&k);
    ck_assert_uint_eq(k.bytes, 0);
}
END_TEST

START_TEST(impossible_counts_are_refused)
{
    begin_at(10);
    for (int i = 0; i < 5; i++)
        add(0);
    ck_assert_int_eq(pvmd_kept_drop(&k, 14, 13), PVMI_EFORMAT); /* 13 and 14 are kept, but not sent */
    ck_assert_int_eq(pvmd_kept_drop(&k, 9, 15), PVMI_EFORMAT);
    ck_assert_int_eq(pvmd_kept_drop(&k, 16, 15), PVMI_EFORMAT);
    ck_assert_uint_eq(pvmd_kept_count(&k), 5);
    ck_assert_int_eq(pvmd_kept_drop(&k, 15, 15), 0);
    ck_assert_uint_eq(pvmd_kept_count(&k), 0);
    pvmd_kept_clear(&k);
}
END_TEST

START_TEST(memory_comes_back)
{
    size_t in_use, cached;
    begin_at(0);
    for (int i = 0; i < 5000; i++)
        add(0);
    ck_assert_uint_gt(k.bytes, 5000 * 100);
    ck_assert_int_eq(pvmd_kept_drop(&k, 5000, 5000), 0);
    ck_assert_uint_eq(k.bytes, 0);
    ck_assert_uint_eq(k.capacity, 0); /* a ring that was large once is given back */
    pvmi_mem_usage(&in_use, &cached);
    ck_assert_uint_eq(in_use, 0);
    add(0);
    ck_assert_uint_eq(pvmd_kept_count(&k), 1);
    pvmd_kept_clear(&k);
}
END_TEST

UNIT_MAIN("pvmd_kept", frames_are_kept_in_order_until_counted, impossible_counts_are_refused, memory_comes_back)
