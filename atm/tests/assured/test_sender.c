/* test_sender.c - the sending side: Retransmit1 and 2, repetition, priorities, the window, and reports that are none.
 */
#include "wires.h"

static struct pvma_sender sender;

static void open_window(unsigned sds)
{
    static const uint8_t data[PAYLOAD];
    pvma_sender_init(&sender, PVMA_SERIAL_PCAAL, 1000 * pvma_sd_charge(0), 1);
    for (unsigned i = 0; i < sds; i++)
        ck_assert(pvma_sender_put(&sender, data, PAYLOAD, 0, 0));
}

/* The number of the next SD sent; 0: none. */
static int next(pvma_ps now)
{
    struct pvma_pdu pdu;
    enum pvma_asked asked;
    return pvma_sender_next(&sender, now, &pdu, &asked) ? (int)pdu.n : 0;
}

static void send_all(void)
{
    while (next(0))
        ;
}

static int poll_it(void)
{
    struct pvma_pdu pdu;
    pvma_sender_poll(&sender, &pdu);
    return (int)pdu.poll;
}

/* A report: N(R), LAF, and the list up to a 0. */
static bool report(enum pvma_pdu_type type, int poll, int r, int laf, const int *list)
{
    struct pvma_pdu pdu = {.type = type, .poll = poll, .n = r, .laf = laf, .limit = r + 1000};
    for (; *list; list++)
        pdu.list[pdu.elements++] = *list;
    return pvma_sender_take(&sender, &pdu);
}

#define LIST(...) ((const int[]){__VA_ARGS__, 0})

START_TEST(retransmit1_only_what_was_sent_before_the_poll)
{
    open_window(6);
    for (int i = 0; i < 4; i++)
        next(0);
    int poll = poll_it();
    next(0);
    next(0);
    ck_assert(report(PVMA_STAT, poll, 2, 1, LIST(2, 4, 5)));
    ck_assert_int_eq(next(0), 2);
    ck_assert_int_eq(next(0), 3);
    ck_assert_int_eq(next(0), 0);
    ck_assert(report(PVMA_STAT, poll, 2, 1, LIST(2, 4, 5))); /* the same: they are underway */
    ck_assert_int_eq(next(0), 0);
    ck_assert_uint_eq(sender.inhibited, 2);
    ck_assert(report(PVMA_STAT, poll_it(), 2, 1, LIST(2, 4, 7))); /* the next POLL: they are lost again */
    ck_assert_int_eq(next(0), 2);
    pvma_sender_free(&sender);
}
END_TEST

START_TEST(retransmit2_in_any_case)
{
    open_window(5);
    send_all();
    ck_assert(report(PVMA_USTAT, 0, 2, 0, LIST(2, 4)));
    ck_assert(report(PVMA_USTAT, 0, 2, 0, LIST(2, 4))); /* before they are sent: once */
    ck_assert_int_eq(next(0), 2);
    ck_assert_int_eq(next(0), 3);
    ck_assert_int_eq(next(0), 0);
    ck_assert(report(PVMA_USTAT, 0, 2, 0, LIST(2, 4)));
    ck_assert_int_eq(next(0), 2);
    pvma_sender_free(&sender);
}
END_TEST

/* By another way: without being asked, with the number and the time of the first transmission. */
START_TEST(repeated_by_another_way)
{
    struct pvma_pdu pdu;
    open_window(5);
    for (pvma_ps at = 10; at <= 40; at += 10)
        next(at);
    ck_assert_int_eq(pvma_sender_issued(&sender, 3), 30);
    ck_assert(pvma_sender_repeat(&sender, 3, &pdu));
    ck_assert_int_eq(pdu.n, 3);
    ck_assert_int_eq(pvma_sender_issued(&sender, 3), 30);
    int64_t poll = poll_it();
    ck_assert(pvma_sender_repeat(&sender, 2, &pdu));
    ck_assert(report(PVMA_STAT, poll, 2, 1, LIST(2, 4, 5))); /* 1 has come, 2 was repeated after the POLL */
    ck_assert_int_eq(pvma_sender_issued(&sender, 1), -1);
    ck_assert(!pvma_sender_repeat(&sender, 1, &pdu));
    ck_assert_int_eq(next(50), 3);
    ck_assert_int_eq(next(50), 5);
    ck_assert_int_eq(pvma_sender_issued(&sender, 3), 50);
    pvma_sender_free(&sender);
}
END_TEST

START_TEST(old_data_before_new)
{
    open_window(9);
    for (int i = 0; i < 6; i++)
        next(0);
    ck_assert(report(PVMA_USTAT, 0, 3, 0, LIST(3, 5)));
    static const int order[] = {3, 4, 7, 8, 9, 0};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        ck_assert_int_eq(next(0), order[i]);
    pvma_sender_free(&sender);
}
END_TEST

/* Figure 5.11: a part of a STAT acknowledges what lies between its LAF and its first element, and no more. */
START_TEST(a_part_of_a_stat)
{
    open_window(20);
    send_all();
    int poll = poll_it();
    ck_assert(report(PVMA_STAT, poll, 3, 9, LIST(12, 15))); /* the part before listed 3 to 8 as missing, and was lost */
    for (int n = 1; n <= 20; n++)
        ck_assert_msg(pvma_sender_is_acknowledged(&sender, n) == (n < 3 || (n >= 9 && n < 12)), "%d", n);
    ck_assert(report(PVMA_STAT, poll, 3, 15, LIST(21))); /* the last part: what follows has come */
    for (int n = 1; n <= 20; n++)
        ck_assert_msg(pvma_sender_is_acknowledged(&sender, n) == (n < 3 || (n >= 9 && n < 12) || n >= 15), "%d", n);
    pvma_sender_free(&sender);
}
END_TEST

START_TEST(window)
{
    static const uint8_t data[100];
    pvma_sender_init(&sender, PVMA_SERIAL_SSCOP, 320, 1);
    ck_assert_uint_eq(pvma_sender_room(&sender), 320);
    ck_assert(!pvma_sender_put(&sender, data, 0, 0, 0));
    for (int i = 0; i < 3; i++)
        ck_assert(pvma_sender_put(&sender, data, 100, 0, 0));
    ck_assert(!pvma_sender_put(&sender, data, 1, 0, 0)); /* it would count as 32 */
    send_all();
    ck_assert(pvma_sender_wants_poll(&sender));
    int poll = poll_it();
    ck_assert(!pvma_sender_wants_poll(&sender));
    ck_assert(report(PVMA_STAT, poll, 1, 0, LIST(1, 2, 4))); /* 2 and 3 have come: their room is free */
    ck_assert_uint_eq(pvma_sender_room(&sender), 220);
    ck_assert(pvma_sender_waits(&sender));
    ck_assert(report(PVMA_STAT, poll_it(), 4, 3, LIST(4)));
    ck_assert(!pvma_sender_waits(&sender));
    pvma_sender_free(&sender);
}
END_TEST

START_TEST(a_closed_receiver)
{
    struct pvma_pdu pdu = {.type = PVMA_STAT, .n = 3, .limit = 3, .laf = 2, .list = {3}, .elements = 1};
    open_window(4);
    next(0);
    next(0);
    pdu.poll = poll_it();
    ck_assert(pvma_sender_take(&sender, &pdu));
    ck_assert_int_eq(next(0), 0);
    ck_assert(pvma_sender_waits(&sender)); /* POLLs go on */
    pdu.poll = poll_it();
    pdu.limit = 4;
    ck_assert(pvma_sender_take(&sender, &pdu));
    ck_assert_int_eq(next(0), 3);
    ck_assert_int_eq(next(0), 0);
    pvma_sender_free(&sender);
}
END_TEST

/* The peer's window is smaller. When it is full, a POLL asks for more at once, but not twice for the same. */
START_TEST(a_stopped_sender_polls)
{
    struct pvma_pdu pdu = {.type = PVMA_STAT, .n = 3, .limit = 5, .laf = 2, .list = {3}, .elements = 1};
    open_window(9);
    next(0);
    next(0);
    ck_assert(!pvma_sender_wants_poll(&sender));
    pdu.poll = poll_it();
    ck_assert(pvma_sender_take(&sender, &pdu));
    ck_assert(!pvma_sender_wants_poll(&sender));
    send_all();
    ck_assert(pvma_sender_wants_poll(&sender));
    pdu.poll = poll_it();
    ck_assert(!pvma_sender_wants_poll(&sender));
    pdu.list[pdu.elements++] = 5;
    ck_assert(pvma_sender_take(&sender, &pdu)); /* both are missing, and sent again */
    send_all();
    ck_assert(!pvma_sender_wants_poll(&sender));
    pvma_sender_free(&sender);
}
END_TEST

/* Nothing of these may change anything, and none may be taken. */
START_TEST(reports_that_are_none)
{
    open_window(8);
    for (int i = 0; i < 6; i++)
        next(0);
    int poll = poll_it();
    ck_assert(!report(PVMA_STAT, poll + 1, 1, 0, LIST(7)));      /* of a POLL to come */
    ck_assert(!report(PVMA_STAT, poll, 8, 7, LIST(8)));          /* SD 7 was not sent */
    ck_assert(!report(PVMA_STAT, poll, 1, 0, LIST(2, 8)));       /* nor here */
    ck_assert(!report(PVMA_STAT, poll, 1, 0, LIST(4, 4)));       /* does not ascend */
    ck_assert(!report(PVMA_STAT, poll, 1, 0, LIST(4, 6, 5)));    /* descends */
    ck_assert(!report(PVMA_STAT, poll, 1, 5, LIST(4, 6)));       /* before LAF */
    ck_assert(!report(PVMA_STAT, poll, 1, 0, (const int[]){0})); /* empty */
    ck_assert(!report(PVMA_USTAT, 0, 1, 0, LIST(4)));            /* half a pair */
    ck_assert(!report(PVMA_USTAT, 0, 1, 0, LIST(4, 8)));         /* not sent */
    ck_assert(!report(PVMA_USTAT, 0, 5, 0, LIST(4, 6)));         /* before N(R) */
    ck_assert(!report(PVMA_POLL, poll, 1, 0, LIST(2)));          /* no report */
    ck_assert_int_eq(sender.a, 1);
    ck_assert_ptr_null(sender.again);
    for (int n = 1; n <= 8; n++)
        ck_assert(!pvma_sender_is_acknowledged(&sender, n));
    pvma_sender_free(&sender);
}
END_TEST

UNIT_MAIN("sender", retransmit1_only_what_was_sent_before_the_poll, retransmit2_in_any_case, repeated_by_another_way,
          old_data_before_new, a_part_of_a_stat, window, a_closed_receiver, a_stopped_sender_polls,
          reports_that_are_none)
