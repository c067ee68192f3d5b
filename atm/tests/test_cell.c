/* test_cell.c - checksums with known vectors, cells on the wire, the pool, tables of VCs. */
#include "atm/src/cells/cell.h"
#include "atm/src/base/crc.h"
#include "atm/src/base/random.h"
#include "unit.h"
#include "atm/src/cells/vctable.h"

static const uint8_t nine[] = "123456789";

START_TEST(crc_vectors)
{
    ck_assert_uint_eq((uint32_t)~pvma_crc32(PVMA_CRC32_START, nine, 9), 0xfc891918); /* CRC-32/BZIP2: AAL5's */
    ck_assert_uint_eq(pvma_crc10(nine, 72), 0x199);                                  /* CRC-10/ATM */
    const uint8_t idle[4] = {0, 0, 0, 1}, unassigned[4] = {0};
    ck_assert_uint_eq(pvma_crc_hec(idle), 0x52); /* I.432 */
    ck_assert_uint_eq(pvma_crc_hec(unassigned), 0x55);
}
END_TEST

static struct pvma_cell sample(void)
{
    struct pvma_cell cell = {.gfc = 9, .vpi = 0xa5, .vci = 0xbeef, .pti = 5, .clp = 1};
    for (int i = 0; i < PVMA_CELL_PAYLOAD; i++)
        cell.payload[i] = (uint8_t)(i * 5);
    return cell;
}

static void assert_same(const struct pvma_cell *a, const struct pvma_cell *b)
{
    ck_assert_uint_eq(a->gfc, b->gfc);
    ck_assert_uint_eq(a->vpi, b->vpi);
    ck_assert_uint_eq(a->vci, b->vci);
    ck_assert_uint_eq(a->pti, b->pti);
    ck_assert_uint_eq(a->clp, b->clp);
    ck_assert_mem_eq(a->payload, b->payload, PVMA_CELL_PAYLOAD);
}

START_TEST(wire)
{
    struct pvma_cell cell = sample(), back = {0};
    uint8_t wire[PVMA_CELL_BYTES];
    pvma_cell_encode(&cell, wire);
    const uint8_t header[4] = {0x9a, 0x5b, 0xee, 0xfb};
    ck_assert_mem_eq(wire, header, 4);
    ck_assert_uint_eq(wire[4], pvma_crc_hec(header));
    ck_assert_int_eq(pvma_cell_decode(&back, wire), PVMA_HEC_GOOD);
    assert_same(&cell, &back);
}
END_TEST

/* Each single wrong header bit is corrected; two wrong bits never pass as good. */
START_TEST(header_errors)
{
    struct pvma_cell cell = sample();
    uint8_t wire[PVMA_CELL_BYTES];
    pvma_cell_encode(&cell, wire);
    for (int i = 0; i < 40; i++) {
        struct pvma_cell back = {0};
        wire[i / 8] ^= (uint8_t)(0x80 >> i % 8);
        ck_assert_int_eq(pvma_cell_decode(&back, wire), PVMA_HEC_CORRECTED);
        assert_same(&cell, &back);
        for (int j = i + 1; j < 40; j++) {
            wire[j / 8] ^= (uint8_t)(0x80 >> j % 8);
            ck_assert_int_ne(pvma_cell_decode(&back, wire), PVMA_HEC_GOOD);
            wire[j / 8] ^= (uint8_t)(0x80 >> j % 8);
        }
        wire[i / 8] ^= (uint8_t)(0x80 >> i % 8);
    }
}
END_TEST

START_TEST(pool)
{
    struct pvma_cells cells;
    struct pvma_cellq q;
    pvma_cells_init(&cells);
    pvma_cellq_init(&q);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++) {
            struct pvma_cell *cell = pvma_cell_new(&cells);
            ck_assert_uint_eq(cell->vci, 0);
            cell->vci = (uint16_t)i;
            pvma_cellq_push(&q, cell);
        }
        ck_assert_uint_eq(q.length, 1000);
        struct pvma_cell *first = pvma_cellq_pop(&q);
        ck_assert_uint_eq(first->vci, 0);
        pvma_cell_put(&cells, first);
        pvma_cellq_clear(&q, &cells);
        ck_assert_ptr_null(pvma_cellq_pop(&q));
    }
    ck_assert_uint_eq(cells.in_use, 0);
    ck_assert_uint_eq(cells.most, 1000);
    ck_assert_uint_le(cells.made, 1024); /* cells are reused */
    pvma_cells_free(&cells);
}
END_TEST

/* Compares with an array, with many collisions. */
START_TEST(vctable)
{
    static int values[4096];
    static void *expected[4096];
    struct pvma_vctable table;
    struct pvma_random random;
    pvma_vctable_init(&table);
    pvma_random_init(&random, 1, "table");
    ck_assert_ptr_null(pvma_vctable_get(&table, 0, 0));
    for (int i = 0; i < 50000; i++) {
        unsigned k = (unsigned)pvma_random_below(&random, 4096);
        uint16_t vpi = (uint16_t)(k >> 8), vci = (uint16_t)((k & 255) * 64);
        if (pvma_random_below(&random, 2)) {
            pvma_vctable_set(&table, vpi, vci, &values[k]);
            expected[k] = &values[k];
        } else {
            ck_assert_ptr_eq(pvma_vctable_remove(&table, vpi, vci), expected[k]);
            expected[k] = NULL;
        }
        k = (unsigned)pvma_random_below(&random, 4096);
        ck_assert_ptr_eq(pvma_vctable_get(&table, (uint16_t)(k >> 8), (uint16_t)((k & 255) * 64)), expected[k]);
    }
    pvma_vctable_free(&table);
}
END_TEST

UNIT_MAIN("atm_cell", crc_vectors, wire, header_errors, pool, vctable)
