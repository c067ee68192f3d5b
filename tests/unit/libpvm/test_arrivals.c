/*
 * test_arrivals.c - messages that have arrived and are not yet in the inbox: order, growth, and messages that bypass
 * them.
 */
#include "libpvm/engine/arrivals.h"
#include "libpvm/engine/inbox.h"
#include "libpvm/base/task.h"
#include "tests/unit/unit.h"

enum { MANY = 1000, OTHER_TASK = 0x40007 };

/* A message identified by its wid. */
static void put(pvmc_tid src, int tag, int wid)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    m->src = src;
    m->tag = tag;
    m->wid = wid;
    pvmi_arrivals_put(m);
}

static int pop(void)
{
    struct pvmc_message *m = pvmi_arrivals_pop();
    int wid = m ? m->wid : -1;
    pvmc_message_unref(m);
    return wid;
}

static void check_taken_in(size_t arrivals, size_t inbox)
{
    ck_assert_uint_eq(pvmi_arrivals_count, arrivals);
    ck_assert_uint_eq(pvmi_inbox_count, inbox);
}

START_TEST(they_come_out_in_order_however_many_there_are)
{
    int next = 0, wid = 0;
    for (int round = 0; round < 5; round++) {
        while (wid < (round + 1) * MANY)
            put(OTHER_TASK, 1, wid++);
        for (int i = 0; i < MANY / 2; i++)
            ck_assert_int_eq(pop(), next++);
    }
    while (pvmi_arrivals_count)
        ck_assert_int_eq(pop(), next++);
    ck_assert_int_eq(next, wid);
    ck_assert_int_eq(pop(), -1);
}
END_TEST

START_TEST(each_call_takes_in_one)
{
    for (int i = 0; i < 3; i++)
        put(OTHER_TASK, 1, i);
    check_taken_in(3, 0);
    ck_assert(pvmi_arrivals_take_in());
    check_taken_in(2, 1);
    pvmi_arrivals_pass();
    check_taken_in(1, 2);
    pvmi_arrivals_take_in_all();
    check_taken_in(0, 3);
    ck_assert(!pvmi_arrivals_take_in());
    pvmi_inbox_clear();
}
END_TEST

START_TEST(what_a_receive_waits_for_is_not_kept_here)
{
    struct pvmi_wanted wanted = {.src = OTHER_TASK, .tag = 7, .ctx = 0};
    pvmi_inbox_want(&wanted);
    put(OTHER_TASK, 1, 1); /* in PVM it is in the inbox when the call returns */
    check_taken_in(0, 1);
    put(OTHER_TASK, 7, 2);
    ck_assert_ptr_nonnull(wanted.m);
    put(OTHER_TASK, 1, 3); /* came after it */
    check_taken_in(1, 1);
    pvmi_inbox_want(NULL);
    pvmc_message_unref(wanted.m);
    pvmi_arrivals_clear();
    pvmi_inbox_clear();
}
END_TEST

START_TEST(nobody_overtakes_what_waits_here)
{
    struct pvmi_wanted wanted = {.src = OTHER_TASK, .tag = 7, .ctx = 0};
    put(OTHER_TASK, 7, 1);
    pvmi_inbox_want(&wanted);
    put(OTHER_TASK, 7, 2);
    ck_assert_ptr_null(wanted.m);
    check_taken_in(2, 0);
    pvmi_inbox_want(NULL);
    pvmi_arrivals_clear();
}
END_TEST

START_TEST(what_we_send_to_ourselves_is_in_the_inbox)
{
    put(pvmi_task.tid, 1, 1);
    check_taken_in(0, 1);
    put(OTHER_TASK, 1, 2);
    put(pvmi_task.tid, 1, 3); /* unless other messages are ahead of it */
    check_taken_in(2, 1);
    pvmi_arrivals_clear();
    pvmi_inbox_clear();
}
END_TEST

UNIT_MAIN("arrivals", they_come_out_in_order_however_many_there_are, each_call_takes_in_one,
          what_a_receive_waits_for_is_not_kept_here, nobody_overtakes_what_waits_here,
          what_we_send_to_ourselves_is_in_the_inbox)
