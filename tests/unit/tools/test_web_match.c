/* test_web_match.c - both ends of messages whose events arrive in any order, as pvm web sees them. */
#include "console/web/match.h"
#include "tests/unit/unit.h"

enum { A = 0x40001, B, C, TAG = 7, CONTEXT = 3 };

static struct spacetime s;
static struct spacetime_message found[2000];
static int count;

/* spacetime.c and snapshot.c are not here. */
void spacetime_add_message(struct spacetime *of, const struct spacetime_message *m)
{
    (void)of;
    found[count++] = *m;
}

struct snapshot_task *snapshot_task(const struct snapshot *of, int tid)
{
    static struct snapshot_task living, ended = {.ended_us = 1};
    (void)of;
    return tid == C ? &ended : &living;
}

static void sent(int from, int to, int64_t at_us)
{
    match_send(&s, &(struct spacetime_message){.from = from, .to = to, .tag = TAG, .bytes = at_us, .sent_us = at_us},
               CONTEXT);
}

static void received(int from, int to, int64_t at_us)
{
    match_receive(&s, &(struct spacetime_message){.from = from, .to = to, .tag = TAG, .received_us = at_us}, CONTEXT);
}

static void check_found(int i, int to, int64_t sent_us, int64_t received_us)
{
    ck_assert_int_gt(count, i);
    ck_assert_int_eq(found[i].to, to);
    ck_assert_int_eq(found[i].sent_us, sent_us);
    ck_assert_int_eq(found[i].received_us, received_us);
}

START_TEST(in_order)
{
    for (int i = 1; i <= 600; i++) { /* the ring of those that wait goes round, and grows */
        sent(A, B, 10 * i);
        sent(A, B, 10 * i + 1);
        received(A, B, 10 * i + 2);
        received(A, B, 10 * i + 3);
    }
    ck_assert_int_eq(count, 1200);
    check_found(0, B, 10, 12);
    check_found(1199, B, 6001, 6003);
    spacetime_free(&s);
}
END_TEST

START_TEST(receive_known_first)
{
    received(A, B, 20);
    received(A, B, 21);
    ck_assert_int_eq(s.waiting_receives, 2);
    sent(A, B, 10);
    sent(A, B, 11);
    check_found(0, B, 10, 20);
    check_found(1, B, 11, 21);
    ck_assert_int_eq(s.waiting_receives, 0);
    spacetime_free(&s);
}
END_TEST

START_TEST(keys_are_apart)
{
    sent(A, B, 10);
    received(B, A, 20);
    received(A, C, 21);
    match_receive(&s, &(struct spacetime_message){.from = A, .to = B, .tag = TAG + 1, .received_us = 22}, CONTEXT);
    match_receive(&s, &(struct spacetime_message){.from = A, .to = B, .tag = TAG, .received_us = 23}, CONTEXT + 1);
    ck_assert_int_eq(count, 0);
    received(A, B, 24);
    check_found(0, B, 10, 24);
    spacetime_free(&s);
}
END_TEST

START_TEST(stale_receives_are_dropped)
{
    received(A, B, 20); /* its send was not traced */
    sent(A, B, 5000000);
    ck_assert_int_eq(count, 0);
    received(A, B, 5000001);
    check_found(0, B, 5000000, 5000001);
    spacetime_free(&s);
}
END_TEST

START_TEST(broadcasts)
{
    received(A, B, 20); /* before the broadcast is known */
    sent(A, 0, 10);
    check_found(0, B, 10, 20);
    received(A, C, 21);
    check_found(1, C, 10, 21);
    sent(A, B, 30); /* then a message to B, then another broadcast */
    sent(A, 0, 40);
    received(A, B, 31);
    received(A, B, 41);
    received(A, C, 42);
    check_found(2, B, 30, 31);
    check_found(3, B, 40, 41);
    check_found(4, C, 40, 42);
    spacetime_free(&s);
}
END_TEST

START_TEST(ended_receivers_are_forgotten)
{
    sent(A, B, 10);
    sent(A, C, 11);
    spacetime_forget_ended(&s);
    ck_assert_int_eq(s.queue_count, 1);
    received(A, B, 12);
    check_found(0, B, 10, 12);
    spacetime_free(&s);
}
END_TEST

START_TEST(limits)
{
    for (int i = 1; i <= 1000; i++) /* nobody receives: the first are dropped */
        sent(A, B, i);
    received(A, B, 2000);
    check_found(0, B, 1000 - 256 + 1, 2000);
    for (int i = 0; i < 60000; i++) /* a tag for each message */
        match_send(&s, &(struct spacetime_message){.from = A, .to = B, .tag = 100 + i, .sent_us = 1}, CONTEXT);
    ck_assert_int_le(s.queue_count, 50000);
    spacetime_free(&s);
    ck_assert_int_eq(s.queue_count, 0);
}
END_TEST

UNIT_MAIN("web match", in_order, receive_known_first, keys_are_apart, stale_receives_are_dropped, broadcasts,
          ended_receivers_are_forgotten, limits)
