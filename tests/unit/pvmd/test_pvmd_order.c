/*
 * test_pvmd_order.c - spawn orders survive encoding and decoding; damaged orders and damaged pieces of control messages
 * are refused.
 */
#include "pvmd/spawn/order.h"
#include "core/error.h"
#include "pvmd/frames/reassembly.h"
#include "tests/unit/unit.h"

static void write_order(struct pvmc_buf *b)
{
    char *arguments[] = {"a b", "", NULL}, *environment[] = {"X=1", NULL};
    struct pvmd_order order = {.file = "hello",
                               .arguments = arguments,
                               .argument_count = 2,
                               .flags = 5,
                               .environment = environment,
                               .environment_count = 1,
                               .context = 77,
                               .output = {1, 2, 3},
                               .trace = {4, 5, 6},
                               .trace_mask = "@@",
                               .trace_buffer = 8,
                               .trace_options = 9};
    pvmc_buf_init(b);
    pvmd_order_put(b, &order, "/wd", 3);
}

START_TEST(orders_arrive_as_they_were)
{
    struct pvmc_buf b;
    struct pvmd_order o;
    write_order(&b);
    ck_assert_int_eq(pvmd_order_get(&b, &o), 0);
    ck_assert_int_eq(pvmc_buf_end(&b), 0);
    ck_assert_str_eq(o.file, "hello");
    ck_assert_uint_eq(o.argument_count, 2);
    ck_assert_str_eq(o.arguments[0], "a b");
    ck_assert_str_eq(o.arguments[1], "");
    ck_assert_ptr_null(o.arguments[2]);
    ck_assert_uint_eq(o.flags, 5);
    ck_assert_str_eq(o.where, "/wd");
    ck_assert_uint_eq(o.count, 3);
    ck_assert_str_eq(o.environment[0], "X=1");
    ck_assert_uint_eq(o.context, 77);
    ck_assert_int_eq(o.output.tag, 3);
    ck_assert_uint_eq(o.trace.tid, 4);
    ck_assert_str_eq(o.trace_mask, "@@");
    ck_assert_int_eq(o.trace_buffer + o.trace_options, 17);
    pvmd_order_free(&o);
    pvmc_buf_free(&b);
}
END_TEST

START_TEST(short_orders_are_refused)
{
    struct pvmc_buf b, part;
    struct pvmd_order o;
    write_order(&b);
    for (size_t length = 0; length < b.length; length++) {
        pvmc_buf_view(&part, b.data, length);
        ck_assert_int_eq(pvmd_order_get(&part, &o), PVMC_ESHORT);
        pvmd_order_free(&o);
    }
    pvmc_buf_free(&b);
}
END_TEST

START_TEST(absurd_counts_take_no_memory)
{
    struct pvmc_buf b;
    struct pvmd_order o;
    pvmc_buf_init(&b);
    pvmc_buf_put_string(&b, "f");
    pvmc_buf_put_u32(&b, 0xffffffff);
    pvmc_buf_put_u64(&b, 0);
    ck_assert_int_eq(pvmd_order_get(&b, &o), PVMC_ESHORT);
    pvmd_order_free(&o);
    pvmc_buf_free(&b);
}
END_TEST

/* ---- reassembly ---- */

static int add(struct pvmd_reassembly *r, uint64_t body, uint64_t offset, uint32_t length, int flags,
               struct pvmc_message **whole)
{
    struct pvmc_frame_header h = {
        .body_length = body, .offset = offset, .length = length, .flags = (uint8_t)flags, .tag = 9};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    if (length)
        memset(f->pieces[0].iov_base, 'a' + (int)offset % 26, length);
    int rc = pvmd_reassembly_add(r, f, whole);
    pvmc_frame_unref(f);
    return rc;
}

START_TEST(pieces_become_a_message)
{
    struct pvmd_reassembly r = {0};
    struct pvmc_message *m;
    ck_assert_int_eq(add(&r, 0, 0, 0, 0, &m), 0);
    ck_assert_ptr_nonnull(m);
    pvmc_message_unref(m);
    ck_assert_int_eq(add(&r, 5, 0, 2, 0, &m), 0);
    ck_assert_ptr_null(m);
    ck_assert_int_eq(add(&r, 5, 2, 3, 0, &m), 0);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(memcmp(m->mem->data, "aaccc", 5), 0);
    ck_assert_int_eq(m->tag, 9);
    pvmc_message_unref(m);
}
END_TEST

START_TEST(pieces_that_do_not_fit_are_refused)
{
    struct pvmd_reassembly r = {0};
    struct pvmc_message *m;
    ck_assert_int_eq(add(&r, 5, 2, 3, 0, &m), PVMC_EFORMAT);
    ck_assert_int_eq(add(&r, PVMC_BUF_MAX + 1, 0, 1, 0, &m), PVMC_ELIMIT);
    ck_assert_int_eq(add(&r, 5, 0, 2, 0, &m), 0);
    ck_assert_int_eq(add(&r, 5, 3, 2, 0, &m), PVMC_EFORMAT);
    ck_assert_int_eq(add(&r, 6, 2, 4, 0, &m), PVMC_EFORMAT);
    ck_assert_int_eq(add(&r, 5, 0, 0, PVMC_FRAME_ABORT, &m), 0);
    ck_assert_int_eq(add(&r, 1, 0, 1, 0, &m), 0); /* aborted: a new one may begin */
    ck_assert_ptr_nonnull(m);
    pvmc_message_unref(m);
    ck_assert_int_eq(add(&r, 5, 0, 2, 0, &m), 0);
    pvmd_reassembly_clear(&r);
    ck_assert_ptr_null(r.incoming);
}
END_TEST

START_TEST(there_are_limits)
{
    static char name[PVMD_ORDER_PATH_MAX + 2];
    struct pvmd_order o;
    struct pvmc_buf b;
    memset(name, 'n', sizeof name - 1);
    pvmc_buf_init(&b);
    pvmc_buf_put_string(&b, "program");
    pvmc_buf_put_u32(&b, PVMD_ORDER_TEXTS_MAX + 1);
    for (int i = 0; i <= PVMD_ORDER_TEXTS_MAX; i++)
        pvmc_buf_put_string(&b, "");
    ck_assert_int_eq(pvmd_order_get(&b, &o), PVMC_ELIMIT);
    pvmd_order_free(&o);
    pvmc_buf_free(&b);
    pvmc_buf_init(&b);
    pvmc_buf_put_string(&b, name);
    ck_assert_int_eq(pvmd_order_get(&b, &o), PVMC_ELIMIT);
    pvmd_order_free(&o);
    pvmc_buf_free(&b);
}
END_TEST

UNIT_MAIN("pvmd_order", there_are_limits, orders_arrive_as_they_were, short_orders_are_refused,
          absurd_counts_take_no_memory, pieces_become_a_message, pieces_that_do_not_fit_are_refused)
