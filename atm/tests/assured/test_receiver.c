/* test_receiver.c - the receiving side: lists of STATs, USTATs, order, and the limits of its memory. */
#include "wires.h"

static struct pvma_receiver receiver;
static struct pvma_pdu pdu;

static void open_receiver(size_t sds)
{
    pvma_receiver_init(&receiver, PVMA_SERIAL_PCAAL, sds * pvma_sd_charge(0), 1);
}

static enum pvma_taken take(int n)
{
    uint32_t data = (uint32_t)n;
    struct pvma_pdu sd = {.type = PVMA_SD, .n = n, .data = (const uint8_t *)&data, .length = PAYLOAD};
    return pvma_receiver_take(&receiver, &sd);
}

static enum pvma_taken take_poll(int poll, int n)
{
    struct pvma_pdu p = {.type = PVMA_POLL, .n = n, .poll = poll};
    return pvma_receiver_take(&receiver, &p);
}

/* The next report as text: "STAT 1 r3 laf2: 3 5 9"; "" for none. */
static const char *report(unsigned elements, bool once)
{
    static char text[200];
    text[0] = '\0';
    if (!pvma_receiver_report(&receiver, elements, once, &pdu))
        return text;
    int at = pdu.type == PVMA_USTAT
                 ? snprintf(text, sizeof text, "USTAT r%d:", (int)pdu.n)
                 : snprintf(text, sizeof text, "STAT %d r%d laf%d:", (int)pdu.poll, (int)pdu.n, (int)pdu.laf);
    for (unsigned i = 0; i < pdu.elements; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %d", (int)pdu.list[i]);
    return text;
}

START_TEST(ustat_names_the_gap)
{
    open_receiver(100);
    take(1);
    ck_assert_str_eq(report(7, false), "");
    take(4);
    ck_assert_str_eq(report(7, false), "USTAT r2: 2 4");
    ck_assert_str_eq(report(7, false), "");
    take(3); /* a late one is no gap, and the end of none */
    take(5);
    ck_assert_str_eq(report(7, false), "");
    take(7);
    ck_assert_str_eq(report(7, false), "USTAT r2: 6 7");
    take(2);
    ck_assert_int_eq(receiver.r, 6);
    pvma_receiver_free(&receiver);
}
END_TEST

START_TEST(stat_lists_pairs)
{
    open_receiver(100);
    take_poll(1, 1);
    ck_assert_str_eq(report(7, false), "STAT 1 r1 laf0: 1"); /* nothing was sent */
    take(1);
    take(2);
    take_poll(2, 3);
    ck_assert_str_eq(report(7, false), "STAT 2 r3 laf2: 3"); /* nothing is missing */
    take_poll(3, 6);
    ck_assert_str_eq(report(7, false), "STAT 3 r3 laf2: 3 6"); /* the last three are */
    take(6);                                                   /* 3 to 5 were reported */
    ck_assert_str_eq(report(7, false), "");
    take(8);
    take_poll(4, 10);
    ck_assert_str_eq(report(7, false), "USTAT r3: 7 8");
    ck_assert_str_eq(report(7, false), "STAT 4 r3 laf2: 3 6 7 8 9 10");
    take_poll(5, 9); /* an unpaired last element: from 8 on all have come */
    ck_assert_str_eq(report(7, false), "STAT 5 r3 laf2: 3 6 7 8 9");
    pvma_receiver_free(&receiver);
}
END_TEST

START_TEST(stat_in_parts)
{
    open_receiver(100);
    for (int n = 2; n <= 20; n += 2)
        take(n);
    receiver.gaps = 0;
    take_poll(9, 21);
    ck_assert_str_eq(report(7, false), "STAT 9 r1 laf0: 1 2 3 4 5 6");
    ck_assert_str_eq(report(7, false), "STAT 9 r1 laf6: 7 8 9 10 11 12");
    take(1); /* what comes meanwhile moves N(R) */
    ck_assert_str_eq(report(7, false), "STAT 9 r3 laf12: 13 14 15 16 17 18");
    ck_assert_str_eq(report(7, false), "STAT 9 r3 laf18: 19 20 21");
    ck_assert_str_eq(report(7, false), "");
    take_poll(10, 21); /* an unpaired element that does not fit */
    ck_assert_str_eq(report(6, true), "STAT 10 r3 laf2: 3 4 5 6 7 8");
    ck_assert_str_eq(report(6, true), "");
    take_poll(11, 21);
    report(6, false);
    report(6, false);
    ck_assert_str_eq(report(6, false), "STAT 11 r3 laf14: 15 16 17 18 19 20");
    ck_assert_str_eq(report(6, false), "STAT 11 r3 laf20: 21");
    ck_assert_str_eq(report(6, false), "");
    pvma_receiver_free(&receiver);
}
END_TEST

/* However long the list: what it leaves out would wait for another POLL. */
START_TEST(stat_of_thousands)
{
    int pairs = 0, stats = 0;
    open_receiver(20000);
    for (int n = 2; n <= 10000; n += 2)
        take(n);
    receiver.gaps = 0;
    take_poll(1, 10001);
    for (; *report(7, false); stats++)
        pairs += (int)pdu.elements / 2;
    ck_assert_int_eq(pairs, 5000);
    ck_assert_int_eq(stats, 1667);
    ck_assert_str_eq(report(7, false), "");
    pvma_receiver_free(&receiver);
}
END_TEST

START_TEST(order_and_duplicates)
{
    open_receiver(100);
    uint32_t data[8];
    ck_assert_int_eq(take(2), PVMA_TAKEN);
    ck_assert_int_eq(take(2), PVMA_DUPLICATE);
    ck_assert_uint_eq(pvma_receiver_read(&receiver, data, sizeof data), 0);
    take(3);
    ck_assert_int_eq(take(1), PVMA_TAKEN);
    ck_assert_int_eq(take(1), PVMA_DUPLICATE);
    ck_assert_uint_eq(receiver.readable, 3 * PAYLOAD);
    ck_assert_uint_eq(pvma_receiver_read(&receiver, data, 6), 6); /* in the middle of the second */
    ck_assert_uint_eq(pvma_receiver_read(&receiver, (char *)data + 6, 100), 6);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(data[i], i + 1);
    ck_assert_uint_eq(receiver.charge, 0);
    pvma_receiver_free(&receiver);
}
END_TEST

/* A reader that does not read stops the sender; when it reads, an unasked STAT lets the sender go on. */
START_TEST(unread)
{
    uint32_t data[10];
    open_receiver(10);
    for (int n = 1; n <= 10; n++)
        take(n);
    take_poll(1, 11);
    report(7, false);
    ck_assert_int_eq(pdu.limit, 11);
    pvma_receiver_read(&receiver, data, 5 * PAYLOAD);
    ck_assert_str_eq(report(7, false), "");
    pvma_receiver_read(&receiver, data, PAYLOAD);
    ck_assert_str_eq(report(7, false), "STAT 1 r11 laf10: 11");
    ck_assert_int_gt(pdu.limit, 11);
    ck_assert_str_eq(report(7, false), "");
    pvma_receiver_free(&receiver);
}
END_TEST

/* Whatever comes: memory stays within twice the window, USTATs within their table. */
START_TEST(memory)
{
    open_receiver(100);
    ck_assert_int_eq(take(1 + 101), PVMA_REFUSED); /* beyond the window */
    ck_assert_int_eq(take(-1), PVMA_DUPLICATE);
    for (int i = 1; i <= 1000; i++)
        take(i);
    ck_assert_uint_eq(receiver.charge, 2 * 100 * pvma_sd_charge(0));
    ck_assert_int_eq(receiver.r, 201);
    ck_assert_uint_le(receiver.slots, 256);
    pvma_receiver_free(&receiver);
    open_receiver(1000);
    for (int n = 2; n <= 1000; n += 2)
        take(n);
    ck_assert_uint_eq(receiver.gaps, PVMA_GAPS_MAX);
    pvma_receiver_free(&receiver);
}
END_TEST

/* A sender whose window is larger sends more than is taken here: its POLLs are answered for what may be taken. */
START_TEST(a_larger_window_of_the_sender)
{
    open_receiver(10); /* 11 numbers */
    for (int n = 1; n <= 100; n++)
        take(n);
    ck_assert_int_eq(receiver.r, 21);
    ck_assert_int_eq(take_poll(1, 101), PVMA_TAKEN);
    ck_assert_str_eq(report(7, false), "STAT 1 r21 laf20: 21 32");
    ck_assert_int_eq(pdu.limit, 32);
    pvma_receiver_free(&receiver);
}
END_TEST

/* SDs behind the one that is missing have taken all room; without it nothing can ever be read. */
START_TEST(the_missing_one_has_room)
{
    static const uint8_t data[64];
    struct pvma_pdu sd = {.type = PVMA_SD, .data = data, .length = sizeof data};
    uint8_t octets[sizeof data];
    open_receiver(10);
    for (sd.n = 2; sd.n <= 11; sd.n++)
        ck_assert_int_eq(pvma_receiver_take(&receiver, &sd), PVMA_TAKEN);
    ck_assert_uint_eq(receiver.charge, 2 * receiver.window_bytes);
    sd.n = 1;
    ck_assert_int_eq(pvma_receiver_take(&receiver, &sd), PVMA_TAKEN);
    ck_assert_int_eq(receiver.r, 12);
    sd.n = 12; /* now something can be read */
    ck_assert_int_eq(pvma_receiver_take(&receiver, &sd), PVMA_REFUSED);
    ck_assert_uint_eq(pvma_receiver_read(&receiver, octets, sizeof octets), sizeof octets);
    pvma_receiver_free(&receiver);
}
END_TEST

UNIT_MAIN("receiver", ustat_names_the_gap, stat_lists_pairs, stat_in_parts, stat_of_thousands, order_and_duplicates,
          unread, memory, a_larger_window_of_the_sender, the_missing_one_has_room)
