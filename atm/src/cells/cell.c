/* cell.c - the wire format of cells, and their pool. */
#include "cell.h"
#include <stdlib.h>
#include <string.h>
#include "base/crc.h"

enum { BLOCK_CELLS = 256, HEADER_BYTES = 5 };

struct block {
    struct block *next;
    struct pvma_cell cells[BLOCK_CELLS];
};

/* ---- wire ---- */

void pvma_cell_encode(const struct pvma_cell *cell, uint8_t wire[PVMA_CELL_BYTES])
{
    wire[0] = (uint8_t)(cell->gfc << 4 | (cell->vpi >> 4 & 0xf));
    wire[1] = (uint8_t)(cell->vpi << 4 | cell->vci >> 12);
    wire[2] = (uint8_t)(cell->vci >> 4);
    wire[3] = (uint8_t)(cell->vci << 4 | (cell->pti & 7) << 1 | (cell->clp & 1));
    wire[4] = pvma_crc_hec(wire);
    memcpy(wire + HEADER_BYTES, cell->payload, PVMA_CELL_PAYLOAD);
}

/* Corrects a single wrong bit of a header; false when more are wrong. */
static bool correct(uint8_t header[HEADER_BYTES])
{
    for (int bit = 0; bit < HEADER_BYTES * 8; bit++) {
        header[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        if (pvma_crc_hec(header) == header[4])
            return true;
        header[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    }
    return false;
}

enum pvma_hec pvma_cell_decode(struct pvma_cell *cell, const uint8_t wire[PVMA_CELL_BYTES])
{
    uint8_t header[HEADER_BYTES];
    memcpy(header, wire, sizeof header);
    enum pvma_hec hec = PVMA_HEC_GOOD;
    if (pvma_crc_hec(header) != header[4])
        hec = correct(header) ? PVMA_HEC_CORRECTED : PVMA_HEC_BAD;
    if (hec == PVMA_HEC_BAD)
        return hec;
    cell->gfc = header[0] >> 4;
    cell->vpi = (uint16_t)((header[0] & 0xf) << 4 | header[1] >> 4);
    cell->vci = (uint16_t)((header[1] & 0xf) << 12 | header[2] << 4 | header[3] >> 4);
    cell->pti = header[3] >> 1 & 7;
    cell->clp = header[3] & 1;
    memcpy(cell->payload, wire + HEADER_BYTES, PVMA_CELL_PAYLOAD);
    return hec;
}

/* ---- pool ---- */

void pvma_cells_init(struct pvma_cells *cells)
{
    memset(cells, 0, sizeof *cells);
}

void pvma_cells_free(struct pvma_cells *cells)
{
    for (struct block *block = cells->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    pvma_cells_init(cells);
}

static void make_more(struct pvma_cells *cells)
{
    struct block *block = pvma_new(sizeof *block);
    block->next = cells->blocks;
    cells->blocks = block;
    cells->made += BLOCK_CELLS;
    for (int i = BLOCK_CELLS; i-- > 0;) {
        block->cells[i].next = cells->spare;
        cells->spare = &block->cells[i];
    }
}

struct pvma_cell *pvma_cell_new(struct pvma_cells *cells)
{
    if (!cells->spare)
        make_more(cells);
    struct pvma_cell *cell = cells->spare;
    cells->spare = cell->next;
    if (++cells->in_use > cells->most)
        cells->most = cells->in_use;
    memset(cell, 0, offsetof(struct pvma_cell, payload));
    return cell;
}

void pvma_cell_put(struct pvma_cells *cells, struct pvma_cell *cell)
{
    cell->next = cells->spare;
    cells->spare = cell;
    cells->in_use--;
}

void pvma_cellq_clear(struct pvma_cellq *q, struct pvma_cells *cells)
{
    for (struct pvma_cell *cell; (cell = pvma_cellq_pop(q));)
        pvma_cell_put(cells, cell);
}
