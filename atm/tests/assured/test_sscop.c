/* test_sscop.c - SSCOP's PDUs as the thesis's figures 5.1 to 5.4 draw them, and octets that are none. */
#include "wires.h"

static uint8_t wire[PVMA_SSCOP_PDU_MAX];
static size_t length;

static void write_pdu(const struct pvma_pdu *pdu)
{
    memset(wire, 0xee, 200);
    length = pvma_sscop_encode(pdu, wire);
}

/* Compares the PDU with octets in hexadecimal, blanks aside. */
static void is(const char *hex)
{
    unsigned at = 0, octet;
    for (int used; sscanf(hex, " %2x%n", &octet, &used) == 1; hex += used, at++)
        ck_assert_msg(wire[at] == octet, "octet %u is %02x", at, wire[at]);
    ck_assert_uint_eq(length, at);
}

static bool reads(void)
{
    struct pvma_pdu pdu;
    return pvma_sscop_decode(&pdu, wire, length);
}

START_TEST(figures)
{
    struct pvma_pdu pdu = {.type = PVMA_SD, .n = 0x5123456, .data = (const uint8_t *)"abcde", .length = 5};
    write_pdu(&pdu);
    is("61626364 65000000 c8123456"); /* PL 3 */
    pdu = (struct pvma_pdu){.type = PVMA_POLL, .n = 7, .poll = 3};
    write_pdu(&pdu);
    is("00000003 0a000007");
    pdu = (struct pvma_pdu){.type = PVMA_STAT, .n = 7, .poll = 3, .limit = 99, .list = {7, 8, 10}, .elements = 3};
    write_pdu(&pdu);
    is("00000007 00000008 0000000a 00000003 00000063 0b000007");
    pdu = (struct pvma_pdu){.type = PVMA_USTAT, .n = 7, .limit = 99, .list = {7, 8}, .elements = 2};
    write_pdu(&pdu);
    is("00000007 00000008 00000063 0c000007");
    pdu = (struct pvma_pdu){.type = PVMA_END, .cause = 16};
    write_pdu(&pdu);
    is("00000010 03000000");
}
END_TEST

START_TEST(data_of_all_lengths)
{
    static uint8_t data[PVMA_SSCOP_SD_MAX];
    struct pvma_pdu pdu = {.type = PVMA_SD, .n = 1, .data = data}, back;
    for (pdu.length = 1; pdu.length <= sizeof data; pdu.length += pdu.length < 9 ? 1 : pdu.length) {
        write_pdu(&pdu);
        ck_assert(pvma_sscop_decode(&back, wire, length));
        ck_assert_uint_eq(back.length, pdu.length);
    }
    pdu.length = sizeof data;
    write_pdu(&pdu);
    ck_assert_uint_eq(length, 65532);
    ck_assert(reads());
    ck_assert_uint_eq(pvma_sscop_sd_bytes(PVMA_PDU_MAX), 65528);
    ck_assert_uint_eq(pvma_sscop_sd_bytes(9188), 9184);
    ck_assert_uint_eq(pvma_sscop_sd_bytes(4094), 4088);
    ck_assert_uint_eq(pvma_sscop_elements(9188), PVMA_LIST_MAX);
    ck_assert_uint_eq(pvma_sscop_elements(103), 22);
    ck_assert_uint_eq(pvma_sscop_elements(10), 3);
}
END_TEST

START_TEST(none)
{
    struct pvma_pdu pdu = {.type = PVMA_POLL, .n = 7, .poll = 3};
    write_pdu(&pdu);
    for (size_t most = length, l = 0; l < most; l++) {
        length = l;
        ck_assert_msg(!reads(), "%zu octets", l);
    }
    length = 8;
    for (unsigned head = 0; head < 256; head++) {
        wire[4] = (uint8_t)head;
        /* a POLL, or an SD of four octets: of fewer, the last would be padding and 0 */
        ck_assert_msg(reads() == (head == 10 || head == 8), "%02x", head);
    }
    pdu = (struct pvma_pdu){.type = PVMA_STAT, .n = 7, .list = {7}, .elements = 1};
    write_pdu(&pdu);
    ck_assert(reads());
    wire[0] = 1; /* padding of the element */
    ck_assert(!reads());
    memmove(wire, wire + 4, length -= 4); /* no element */
    ck_assert(!reads());
    pdu = (struct pvma_pdu){.type = PVMA_USTAT, .n = 7, .list = {7, 8, 9}, .elements = 3};
    write_pdu(&pdu);
    ck_assert(!reads());
    pdu = (struct pvma_pdu){.type = PVMA_STAT, .n = 7, .elements = PVMA_LIST_MAX};
    write_pdu(&pdu);
    ck_assert(reads());
    memmove(wire + 4, wire, length);
    length += 4; /* one too many */
    ck_assert(!reads());
}
END_TEST

UNIT_MAIN("sscop", figures, data_of_all_lengths, none)
