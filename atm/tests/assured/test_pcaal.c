/* test_pcaal.c - PC-AAL's cells, octet by octet, the checksum, and cells that are none. */
#include "wires.h"
#include "atm/src/base/crc.h"

static const struct pvma_pcaal one = {0}, several = {.several = true}, stamped = {.several = true, .stamped = true},
                               one_stamped = {.stamped = true};
static const struct pvma_pcaal *const formats[] = {&one, &several, &stamped, &one_stamped};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static uint8_t cell[PVMA_PCAAL_BYTES];

/* The checksum must be right for the rest to be looked at. */
static void seal(void)
{
    cell[5] = cell[6] = 0;
    uint16_t crc = pvma_crc16(cell, sizeof cell);
    cell[5] = (uint8_t)(crc >> 8);
    cell[6] = (uint8_t)crc;
}

/* Compares the cell with octets in hexadecimal, blanks aside, without its checksum; zeros follow. */
static void is(const char *hex)
{
    unsigned at = 0, octet;
    for (int used; sscanf(hex, " %2x%n", &octet, &used) == 1; hex += used, at++)
        if (at != 5 && at != 6)
            ck_assert_msg(cell[at] == octet, "octet %u is %02x", at, cell[at]);
    for (; at < sizeof cell; at++)
        ck_assert_msg(!cell[at], "octet %u is %02x", at, cell[at]);
    uint16_t crc = (uint16_t)(cell[5] << 8 | cell[6]);
    seal();
    ck_assert_uint_eq(cell[5] << 8 | cell[6], crc);
}

START_TEST(checksum)
{
    ck_assert_uint_eq(pvma_crc16((const uint8_t *)"123456789", 9), 0x29b1); /* of every list of CRCs */
    ck_assert_uint_eq(pvma_crc16((const uint8_t *)"", 0), 0xffff);
}
END_TEST

START_TEST(data_cells)
{
    struct pvma_pdu pdu = {.type = PVMA_SD, .n = 0x1234567890, .tag = 0xabcd, .offset = 0x100};
    pdu.data = (const uint8_t *)"abcdefgh";
    pdu.length = 8;
    pvma_pcaal_encode(&one, &pdu, cell);
    is("80 34567890 0000 0000abcd 00000100 08 6162636465666768");
    pvma_pcaal_encode(&several, &pdu, cell);
    is("80 34567890 0000 0000abcd 00000100 00000107 6162636465666768");
    pdu.stamp = 7 * PVMA_US;
    pvma_pcaal_encode(&stamped, &pdu, cell);
    is("80 34567890 0000 0000abcd 00000100 00000107 00001b58 6162636465666768");
    struct pvma_pdu back;
    ck_assert(pvma_pcaal_decode(&stamped, &back, cell, 8 * PVMA_US));
    ck_assert_int_eq(back.stamp, pdu.stamp);
    ck_assert_uint_eq(back.length, 8);
    ck_assert(back.tag == 0xabcd && back.offset == 0x100 && !memcmp(back.data, "abcdefgh", 8));
    ck_assert(pvma_pcaal_decode(&stamped, &back, cell, 8 * PVMA_US + (PVMA_NS << 32)));
    ck_assert_int_eq(back.stamp, pdu.stamp + (PVMA_NS << 32)); /* the stamp's upper bits are those of the time */
}
END_TEST

START_TEST(control_cells)
{
    struct pvma_pdu pdu = {.type = PVMA_POLL, .n = 9, .poll = 3};
    pvma_pcaal_encode(&several, &pdu, cell);
    is("a0 00000009 0000 00000003");
    pdu = (struct pvma_pdu){.type = PVMA_STAT, .n = 5, .poll = 3, .limit = 99, .laf = 4, .list = {5, 6, 8}};
    pdu.elements = 3;
    pvma_pcaal_encode(&several, &pdu, cell);
    is("b0 00000005 0000 00000003 00000063 00000004 03 00000005 00000006 00000008");
    pdu.type = PVMA_LSTAT;
    pdu.stamp = 256 * PVMA_NS;
    pvma_pcaal_encode(&several, &pdu, cell);
    is("e0 00000005 0000 00000003 00000063 00000004 03 00000005 00000006 00000008 00000000 00000000 00000000 00000100");
    pdu = (struct pvma_pdu){.type = PVMA_USTAT, .n = 5, .limit = 99, .list = {5, 8}, .elements = 2};
    pvma_pcaal_encode(&several, &pdu, cell);
    is("c0 00000005 0000 00000063 00000005 00000008");
    pdu = (struct pvma_pdu){.type = PVMA_END, .cause = PVMA_CAUSE_TIMEOUT};
    pvma_pcaal_encode(&several, &pdu, cell);
    is("30 00000000 0000 66");
}
END_TEST

START_TEST(items)
{
    static const struct {
        unsigned item, one, several, stamped;
    } rows[] = {{1, 1, 29, 25}, {4, 4, 28, 24}, {8, 8, 24, 24}, {16, 16, 16, 16}, {20, 20, 20, 20}, {28, 28, 28, 25}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_uint_eq(pvma_pcaal_sd_bytes(&one, rows[i].item), rows[i].one);
        ck_assert_uint_eq(pvma_pcaal_sd_bytes(&one_stamped, rows[i].item), rows[i].one);
        ck_assert_uint_eq(pvma_pcaal_sd_bytes(&several, rows[i].item), rows[i].several);
        ck_assert_uint_eq(pvma_pcaal_sd_bytes(&stamped, rows[i].item), rows[i].stamped);
    }
    ck_assert_uint_eq(pvma_pcaal_sd_bytes(&several, 0), 29);
}
END_TEST

static bool reads(const struct pvma_pcaal *format)
{
    struct pvma_pdu pdu;
    return pvma_pcaal_decode(format, &pdu, cell, PVMA_S);
}

/* Each wrong octet, and each wrong bit, is seen. */
START_TEST(damage)
{
    struct pvma_pdu pdu = {.type = PVMA_SD, .n = 1, .data = (const uint8_t *)"abcdefgh", .length = 8};
    pvma_pcaal_encode(&several, &pdu, cell);
    for (unsigned bit = 0; bit < 8 * sizeof cell; bit++) {
        cell[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_msg(!reads(&several), "bit %u", bit);
        cell[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert(reads(&several));
}
END_TEST

/* Sets an octet of a good cell, with a good checksum. */
static bool reads_with(const struct pvma_pdu *pdu, const struct pvma_pcaal *format, unsigned at, uint8_t octet)
{
    pvma_pcaal_encode(format, pdu, cell);
    cell[at] = octet;
    seal();
    return reads(format);
}

START_TEST(none)
{
    const struct pvma_pdu sd = {.type = PVMA_SD, .n = 1, .data = (const uint8_t *)"abcdefgh", .length = 8};
    const struct pvma_pdu poll = {.type = PVMA_POLL, .n = 1, .poll = 1};
    const struct pvma_pdu stat = {.type = PVMA_STAT, .n = 1, .list = {1}, .elements = 1};
    const struct pvma_pdu ustat = {.type = PVMA_USTAT, .n = 1, .list = {1, 2}, .elements = 2};
    const struct pvma_pdu end = {.type = PVMA_END};
    for (unsigned type = 0; type < 16; type++) {
        bool known = type == PVMA_SD || type == PVMA_POLL || type == PVMA_STAT || type == PVMA_USTAT;
        if (!known)
            ck_assert_msg(!reads_with(&sd, &several, 0, (uint8_t)(type << 4)), "type %u", type);
    }
    ck_assert(!reads_with(&sd, &several, 0, 0x81));  /* reserved */
    ck_assert(!reads_with(&sd, &several, 18, 0xff)); /* the last offset before the first */
    ck_assert(!reads_with(&sd, &several, 18, 29));   /* 30 octets */
    ck_assert(!reads_with(&sd, &several, 47, 1));    /* behind the items */
    ck_assert(!reads_with(&sd, &one, 15, 0));        /* an empty item */
    ck_assert(!reads_with(&sd, &one, 15, 29));       /* a long one */
    ck_assert(!reads_with(&poll, &several, 11, 1));  /* octets without use */
    ck_assert(reads_with(&poll, &stamped, 11, 1));   /* the stamp */
    ck_assert(!reads_with(&stat, &several, 19, 0));  /* no element */
    ck_assert(!reads_with(&stat, &several, 19, 8));  /* too many */
    ck_assert(!reads_with(&ustat, &several, 19, 1));
    ck_assert(!reads_with(&end, &several, 4, 1));
    ck_assert(!reads_with(&end, &several, 8, 1));
}
END_TEST

/* Random cells with a good checksum: what is read is written the same way. */
START_TEST(random_cells)
{
    struct pvma_random random;
    struct pvma_pdu pdu;
    uint8_t again[PVMA_PCAAL_BYTES];
    unsigned read = 0;
    pvma_random_init(&random, 1, "cells");
    for (unsigned i = 0; i < 20000; i++) {
        static const uint8_t types[] = {0x30, 0x80, 0xa0, 0xb0, 0xc0, 0xe0};
        const struct pvma_pcaal *format = formats[i % FORMATS];
        memset(cell, 0, sizeof cell);
        for (uint64_t left = pvma_random_below(&random, 30); left; left--)
            cell[pvma_random_below(&random, sizeof cell)] = (uint8_t)pvma_random_below(&random, 8);
        cell[0] = types[pvma_random_below(&random, sizeof types)];
        seal();
        if (!pvma_pcaal_decode(format, &pdu, cell, 10 * PVMA_S))
            continue;
        read++;
        pvma_pcaal_encode(format, &pdu, again);
        ck_assert_mem_eq(again, cell, sizeof cell);
    }
    ck_assert_uint_gt(read, 500);
}
END_TEST

UNIT_MAIN("pcaal", checksum, data_cells, control_cells, items, damage, none, random_cells)
