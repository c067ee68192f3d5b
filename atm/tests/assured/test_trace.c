/*
 * test_trace.c - figure 5.7 of the thesis, PDU by PDU: SD 7 is lost and sent again for a USTAT, before new data; the
 * STAT that lists it once more does not lead to a third time. If the second one is lost, too, the next STAT does.
 */
#include <stdarg.h>
#include "wires.h"

static struct pair pair;
static char trace[400];

static void note(const char *format, ...)
{
    va_list args;
    size_t at = strlen(trace);
    va_start(args, format);
    vsnprintf(trace + at, sizeof trace - at, format, args);
    va_end(args);
}

static void send_sds(unsigned count)
{
    struct pvma_pdu pdu;
    enum pvma_asked asked;
    while (count-- && pvma_sender_next(&pair.sender, 0, &pdu, &asked)) {
        note("SD%d%s ", (int)pdu.n, asked == PVMA_BY_USTAT ? "u" : asked == PVMA_BY_STAT ? "s" : "");
        wire_put(&pair.there, &pdu);
    }
}

static void write_and_send(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pair_write(&pair);
    send_sds(count);
}

static void poll_it(void)
{
    struct pvma_pdu pdu;
    pvma_sender_poll(&pair.sender, &pdu);
    note("POLL%d ", (int)pdu.poll);
    wire_put(&pair.there, &pdu);
}

/* The next PDUs reach the receiver, which answers; `lost` of them, by number, do not. */
static void arrive(unsigned count, int lost)
{
    struct pvma_pdu pdu;
    while (count-- && pair.there.count) {
        wire_take(&pair.there, &pdu);
        if (pdu.type == PVMA_SD && pdu.n == lost)
            continue;
        pvma_receiver_take(&pair.receiver, &pdu);
        while (pvma_receiver_report(&pair.receiver, WIRE_LIST, true, &pdu)) {
            note(pdu.type == PVMA_USTAT ? "USTAT(" : "STAT%d(", (int)pdu.poll);
            for (unsigned i = 0; i < pdu.elements; i++)
                note(i ? ",%d" : "%d", (int)pdu.list[i]);
            note(") ");
            wire_put(&pair.back, &pdu);
        }
    }
}

static void come_back(void)
{
    struct pvma_pdu pdu;
    wire_take(&pair.back, &pdu);
    ck_assert(pvma_sender_take(&pair.sender, &pdu));
}

/* Up to the STAT that lists SD 7 a second time. */
static void first_half(void)
{
    pair_open(&pair, PVMA_SERIAL_SSCOP, 1 << 16, 1);
    write_and_send(4);
    poll_it();
    arrive(5, 0);
    write_and_send(4); /* 5 to 8 */
    come_back();
    ck_assert(!pvma_sender_is_acknowledged(&pair.sender, 5) && pvma_sender_is_acknowledged(&pair.sender, 4));
    write_and_send(1); /* 9 is underway when USTAT comes, and POLL right after it */
    poll_it();
    arrive(4, 7);
    pair_write(&pair); /* 10: new data that wait */
    come_back();
    send_sds(1);
    arrive(2, 7); /* 9 and POLL */
    come_back();
    send_sds(2);
    ck_assert_str_eq(trace, "SD1 SD2 SD3 SD4 POLL1 STAT1(5) SD5 SD6 SD7 SD8 SD9 POLL2 USTAT(7,8) SD7u STAT2(7,8,10) "
                            "SD10 ");
    ck_assert_uint_eq(pair.sender.inhibited, 1);
    trace[0] = '\0';
}

START_TEST(once_again)
{
    first_half();
    arrive(2, 0);
    poll_it();
    arrive(1, 0);
    come_back();
    send_sds(9);
    ck_assert_str_eq(trace, "POLL3 STAT3(11) ");
    ck_assert(!pvma_sender_waits(&pair.sender));
    pair_read(&pair);
    ck_assert_uint_eq(pair.read, 10);
    pair_close(&pair);
}
END_TEST

START_TEST(lost_twice)
{
    first_half();
    arrive(2, 7);
    poll_it();
    arrive(1, 0);
    come_back();
    send_sds(9);
    arrive(1, 0);
    ck_assert_str_eq(trace, "POLL3 STAT3(7,8,11) SD7s ");
    pair_read(&pair);
    ck_assert_uint_eq(pair.read, 10);
    pair_close(&pair);
}
END_TEST

UNIT_MAIN("trace", once_again, lost_twice)
