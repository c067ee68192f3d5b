/* test_inbox.c - the index of waiting messages: order of arrival, wildcards, and the cost among very many messages. */
#include "libpvm/engine/inbox.h"
#include <time.h>
#include "libpvm/engine/buffer.h"
#include "tests/unit/unit.h"

#define ANY PVMI_INBOX_ANY

/* A message identified by its wid. */
static void put(int src, int tag, int ctx, int wid)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    m->src = (pvmc_tid)src;
    m->tag = tag;
    m->ctx = (uint32_t)ctx;
    m->wid = wid;
    pvmi_inbox_put(m);
}

static int take(int src, int tag, int ctx)
{
    struct pvmi_waiting *w = pvmi_inbox_find(src, tag, ctx);
    if (!w)
        return -1;
    int mid;
    struct pvmc_message *m = pvmi_inbox_take(w, &mid);
    int wid = m->wid;
    pvmc_message_unref(m);
    return wid;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Enough messages that searches use an index. */
static void fill(int count)
{
    for (int i = 0; i < count; i++)
        put(1000 + i, 2000 + i, 0, -2);
}

static void check_kinds(void)
{
    put(1, 1, 0, 10);
    put(1, 2, 0, 11);
    put(2, 1, 0, 12);
    put(1, 1, 5, 13);
    put(1, 1, 0, 14);
    ck_assert_int_eq(take(3, ANY, 0), -1);
    ck_assert_int_eq(take(ANY, 3, 0), -1);
    ck_assert_int_eq(take(1, 1, 6), -1);
    ck_assert_int_eq(take(1, 1, 5), 13);
    ck_assert_int_eq(take(ANY, 2, 0), 11);
    ck_assert_int_eq(take(2, ANY, ANY), 12);
    ck_assert_int_eq(take(1, 1, 0), 10);
    put(7, 1, 5, 15);
    ck_assert_int_eq(take(ANY, 1, ANY), 14);
    ck_assert_int_eq(take(7, 1, ANY), 15);
    ck_assert_int_eq(take(7, 1, ANY), -1);
}

START_TEST(matches_among_few)
{
    check_kinds();
    ck_assert_ptr_null(pvmi_inbox_after(0));
}
END_TEST

START_TEST(matches_among_many)
{
    fill(1000);
    check_kinds();
    check_kinds(); /* with all indexes built */
    pvmi_inbox_clear();
    check_kinds();
    ck_assert_ptr_null(pvmi_inbox_after(0));
}
END_TEST

START_TEST(any_takes_in_order_of_arrival)
{
    for (int i = 0; i < 500; i++)
        put(i % 7, i % 5, i % 3, i);
    int taken = 0;
    for (int i = 0; i < 500; i += 11, taken++)
        ck_assert_int_ge(take(i % 7, i % 5, i % 3), 0);
    int last = -1, wid;
    while ((wid = take(ANY, ANY, ANY)) >= 0) {
        ck_assert_int_gt(wid, last);
        last = wid;
        taken++;
    }
    ck_assert_int_eq(taken, 500);
}
END_TEST

/* Compares the index with a linear search of an array, with random messages and searches. */
START_TEST(agrees_with_a_plain_search)
{
    struct {
        int src, tag, ctx, wid;
        bool there;
    } model[4000];
    int count = 0;
    srand(7);
    for (int step = 0; step < 20000; step++) {
        if (count < 4000 && rand() % 2) {
            model[count].src = rand() % 5;
            model[count].tag = rand() % 5;
            model[count].ctx = rand() % 3;
            model[count].wid = count;
            model[count].there = true;
            put(model[count].src, model[count].tag, model[count].ctx, count);
            count++;
            continue;
        }
        int src = rand() % 6 - 1, tag = rand() % 6 - 1, ctx = rand() % 4 - 1, expected = -1;
        for (int i = 0; i < count && expected < 0; i++)
            if (model[i].there && (src < 0 || src == model[i].src) && (tag < 0 || tag == model[i].tag) &&
                (ctx < 0 || ctx == model[i].ctx)) {
                expected = i;
                model[i].there = false;
            }
        ck_assert_int_eq(take(src, tag, ctx), expected);
    }
    pvmi_inbox_clear();
}
END_TEST

/* Seconds to insert and remove 20000 messages with each kind of search, among `others` that do not match. */
static double cost(int others)
{
    fill(others);
    take(1, 1, 0), take(ANY, 1, 0), take(1, ANY, 0), take(1, 1, ANY), take(1, ANY, ANY), take(ANY, 1, ANY);
    double start = now();
    for (int i = 0; i < 20000; i++) {
        put(1, 1, 0, i);
        ck_assert_int_eq(i % 3 ? i % 3 == 1 ? take(1, ANY, 0) : take(ANY, 1, 0) : take(1, 1, 0), i);
    }
    double seconds = now() - start;
    pvmi_inbox_clear();
    return seconds;
}

START_TEST(cost_does_not_grow_with_the_number_of_others)
{
    double some = cost(1000), many = cost(100000);
    ck_assert_msg(many < 10 * some, "%g s among 1000, %g s among 100000", some, many);
}
END_TEST

START_TEST(a_waiting_message_can_have_a_number)
{
    put(1, 2, 3, 4);
    struct pvmi_waiting *w = pvmi_inbox_find(1, 2, 3);
    int mid = pvmi_buffer_of_waiting(w), same;
    ck_assert_int_gt(mid, 0);
    ck_assert_int_eq(pvmi_buffer_of_waiting(w), mid);
    ck_assert_ptr_eq(pvmi_buffer_find(mid), w->m);
    struct pvmc_message *m = pvmi_inbox_take(w, &same);
    ck_assert_int_eq(same, mid);
    pvmi_buffer_taken(mid);
    ck_assert_ptr_eq(pvmi_buffer_find(mid), m);
    pvmi_buffer_free(mid);
    put(1, 2, 3, 4);
    mid = pvmi_buffer_of_waiting(pvmi_inbox_find(1, 2, 3));
    pvmi_buffer_free(mid); /* removes it from the inbox */
    ck_assert_ptr_null(pvmi_inbox_after(0));
}
END_TEST

UNIT_MAIN("inbox", matches_among_few, matches_among_many, any_takes_in_order_of_arrival, agrees_with_a_plain_search,
          cost_does_not_grow_with_the_number_of_others, a_waiting_message_can_have_a_number)
