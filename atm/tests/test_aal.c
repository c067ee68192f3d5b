/* test_aal.c - PDUs to cells and back, with lost, damaged and reordered cells. */
#include "atm/src/cells/aal.h"
#include "core/error.h"
#include "atm/src/base/random.h"
#include "unit.h"

enum { CELLS_MAX = 1600 };

static struct pvma_cell cells[CELLS_MAX];
static uint8_t pdu[PVMA_PDU_MAX + 1];

static unsigned cut(struct pvma_segmenter *s, enum pvma_aal aal, size_t length)
{
    unsigned count = 0;
    ck_assert_int_eq(pvma_segmenter_start(s, aal, 5, pdu, length), 0);
    while (pvma_segmenter_next(s, &cells[count]))
        count++;
    ck_assert_uint_eq(count, pvma_aal_cells(aal, length));
    return count;
}

static enum pvma_reassembly join(struct pvma_reassembler *r, unsigned count, enum pvma_aal_error *error)
{
    enum pvma_reassembly last = PVMA_MORE;
    for (unsigned i = 0; i < count; i++)
        last = pvma_reassembler_take(r, &cells[i], error);
    return last;
}

static void fill(void)
{
    for (size_t i = 0; i < sizeof pdu; i++)
        pdu[i] = (uint8_t)(i * 31 + i / 256);
}

/* TUM report, 5.2.4: a message of 8704 octets has 32 octets of overhead in AAL5, 800 in AAL3/4. */
START_TEST(cell_counts)
{
    ck_assert_uint_eq(pvma_aal_cells(PVMA_AAL5, 8704) * 48 - 8704, 32);
    ck_assert_uint_eq(pvma_aal_cells(PVMA_AAL34, 8704) * 48 - 8704, 800);
    ck_assert_uint_eq(pvma_aal_cells(PVMA_AAL5, 9188), 192);
    ck_assert_uint_eq(pvma_aal_cells(PVMA_AAL34, 9188), 209);
    static const struct {
        size_t bytes;
        unsigned aal5, aal34;
    } rows[] = {{0, 1, 1},  {1, 1, 1},  {36, 1, 1}, {37, 1, 2}, {40, 1, 2},         {41, 2, 2},
                {80, 2, 2}, {81, 2, 3}, {88, 2, 3}, {89, 3, 3}, {65535, 1366, 1490}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_uint_eq(pvma_aal_cells(PVMA_AAL5, rows[i].bytes), rows[i].aal5);
        ck_assert_uint_eq(pvma_aal_cells(PVMA_AAL34, rows[i].bytes), rows[i].aal34);
    }
    ck_assert_uint_eq(pvma_aal_cells(PVMA_AAL_RAW, 48), 1);
}
END_TEST

/* Published test vectors of AAL5 trailers: 40 octets of 0, of 255, and 1 to 40. */
START_TEST(aal5_vectors)
{
    static const uint8_t trailers[3][8] = {{0, 0, 0, 0x28, 0x86, 0x4d, 0x7f, 0x99},
                                           {0, 0, 0, 0x28, 0xc5, 0x5e, 0x45, 0x7a},
                                           {0, 0, 0, 0x28, 0xbf, 0x67, 0x1e, 0xd0}};
    for (int i = 0; i < 3; i++) {
        struct pvma_segmenter s = {0};
        for (int j = 0; j < 40; j++)
            pdu[j] = (uint8_t)(i == 0 ? 0 : i == 1 ? 255 : j + 1);
        ck_assert_uint_eq(cut(&s, PVMA_AAL5, 40), 1);
        ck_assert_mem_eq(cells[0].payload + 40, trailers[i], 8);
        ck_assert_uint_eq(cells[0].pti, PVMA_PTI_END);
    }
}
END_TEST

START_TEST(aal34_cells)
{
    struct pvma_segmenter s = {0};
    fill();
    ck_assert_uint_eq(cut(&s, PVMA_AAL34, 100), 3);
    for (int i = 0; i < 3; i++) {
        static const uint8_t types[] = {2, 0, 1}; /* beginning, continuation, end */
        ck_assert_uint_eq(cells[i].payload[0] >> 6, types[i]);
        ck_assert_uint_eq(cells[i].payload[0] >> 2 & 15, (unsigned)i);
        ck_assert_uint_eq(pvma_aal34_mid(&cells[i]), 5);
        ck_assert_uint_eq(cells[i].payload[46] >> 2, i < 2 ? 44 : 20);
    }
    ck_assert_uint_eq(cells[0].payload[5], 100); /* buffer size */
    ck_assert_uint_eq(cut(&s, PVMA_AAL34, 20), 1);
    ck_assert_uint_eq(cells[0].payload[0] >> 6, 3);      /* single */
    ck_assert_uint_eq(cells[0].payload[0] >> 2 & 15, 3); /* sequence numbers continue */
}
END_TEST

START_TEST(every_length_comes_back)
{
    static const enum pvma_aal aals[] = {PVMA_AAL5, PVMA_AAL34};
    fill();
    for (int a = 0; a < 2; a++) {
        struct pvma_segmenter s = {0};
        struct pvma_reassembler r;
        pvma_reassembler_init(&r, aals[a], PVMA_PDU_MAX);
        for (size_t length = 0; length <= PVMA_PDU_MAX; length += length < 300 ? 1 : 4997) {
            unsigned count = cut(&s, aals[a], length);
            ck_assert_int_eq(join(&r, count, NULL), PVMA_PDU);
            ck_assert_uint_eq(r.length, length);
            ck_assert_int_eq(length ? memcmp(r.data, pdu, length) : 0, 0);
        }
        for (int i = 0; i < PVMA_AAL_ERRORS; i++)
            ck_assert_uint_eq(r.errors[i], 0);
        pvma_reassembler_free(&r);
    }
    struct pvma_segmenter s = {0};
    ck_assert_int_eq(pvma_segmenter_start(&s, PVMA_AAL5, 0, pdu, PVMA_PDU_MAX + 1), PVMC_ELIMIT);
}
END_TEST

static void remove_cell(unsigned *count, unsigned at)
{
    memmove(&cells[at], &cells[at + 1], (--*count - at) * sizeof cells[0]);
}

static uint64_t all_errors(const struct pvma_reassembler *r)
{
    uint64_t sum = 0;
    for (int i = 0; i < PVMA_AAL_ERRORS; i++)
        sum += r->errors[i];
    return sum;
}

/* The loss of any cell loses its PDU and is reported; the PDU after next arrives whole. */
START_TEST(lost_cells)
{
    static const enum pvma_aal aals[] = {PVMA_AAL5, PVMA_AAL34};
    fill();
    for (int a = 0; a < 2; a++) {
        for (unsigned lost = 0; lost < 5; lost++) {
            struct pvma_segmenter s = {0};
            struct pvma_reassembler r;
            pvma_reassembler_init(&r, aals[a], PVMA_PDU_MAX);
            unsigned count = cut(&s, aals[a], 200);
            ck_assert_uint_eq(count, 5);
            remove_cell(&count, lost);
            ck_assert_int_ne(join(&r, count, NULL), PVMA_PDU);
            for (int i = 0; i < 2; i++)
                join(&r, cut(&s, aals[a], 200), NULL);
            ck_assert_uint_ge(r.pdus, 1);
            ck_assert_uint_ge(all_errors(&r), 1);
            ck_assert_mem_eq(r.data, pdu, 200);
            pvma_reassembler_free(&r);
        }
    }
}
END_TEST

START_TEST(damage_and_disorder)
{
    struct pvma_segmenter s = {0};
    struct pvma_reassembler r;
    enum pvma_aal_error error;
    fill();
    pvma_reassembler_init(&r, PVMA_AAL5, PVMA_PDU_MAX);
    unsigned count = cut(&s, PVMA_AAL5, 200);
    cells[1].payload[7] ^= 4;
    ck_assert_int_eq(join(&r, count, &error), PVMA_DISCARDED);
    ck_assert_int_eq(error, PVMA_AAL_CRC32);
    count = cut(&s, PVMA_AAL5, 200);
    struct pvma_cell swap = cells[1];
    cells[1] = cells[2];
    cells[2] = swap;
    ck_assert_int_eq(join(&r, count, &error), PVMA_DISCARDED);
    ck_assert_int_eq(error, PVMA_AAL_CRC32);
    pvma_reassembler_free(&r);

    struct pvma_segmenter s34 = {0};
    pvma_reassembler_init(&r, PVMA_AAL34, PVMA_PDU_MAX);
    count = cut(&s34, PVMA_AAL34, 200);
    cells[1].payload[7] ^= 4;
    ck_assert_int_ne(join(&r, count, &error), PVMA_PDU);
    ck_assert_uint_eq(r.errors[PVMA_AAL_CRC10], 1);
    count = cut(&s34, PVMA_AAL34, 200);
    swap = cells[1];
    cells[1] = cells[2];
    cells[2] = swap;
    ck_assert_int_ne(join(&r, count, &error), PVMA_PDU);
    ck_assert_uint_ge(r.errors[PVMA_AAL_SEQUENCE], 1);
    ck_assert_int_eq(join(&r, cut(&s34, PVMA_AAL34, 200), &error), PVMA_PDU);
    pvma_reassembler_free(&r);
}
END_TEST

START_TEST(limits)
{
    struct pvma_segmenter s = {0};
    struct pvma_reassembler r;
    enum pvma_aal_error error;
    fill();
    pvma_reassembler_init(&r, PVMA_AAL5, 100);
    ck_assert_int_eq(join(&r, cut(&s, PVMA_AAL5, 101), &error), PVMA_DISCARDED);
    ck_assert_int_eq(error, PVMA_AAL_OVERSIZE);
    /* an endless PDU takes bounded memory, and the next one is good again */
    struct pvma_cell cell = {0};
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(pvma_reassembler_take(&r, &cell, &error), PVMA_MORE);
    ck_assert_uint_lt(r.capacity, 4 * PVMA_PDU_MAX);
    cell.pti = PVMA_PTI_END;
    ck_assert_int_eq(pvma_reassembler_take(&r, &cell, &error), PVMA_DISCARDED);
    ck_assert_int_eq(join(&r, cut(&s, PVMA_AAL5, 100), &error), PVMA_PDU);
    pvma_reassembler_free(&r);
}
END_TEST

UNIT_MAIN("atm_aal", cell_counts, aal5_vectors, aal34_cells, every_length_comes_back, lost_cells, damage_and_disorder,
          limits)
