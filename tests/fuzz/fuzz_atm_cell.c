/* fuzz_atm_cell.c - cells from the wire: an accepted cell encodes to the same bytes again. */
#include "fuzz.h"
#include <string.h>
#include "atm/src/cells/cell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pvma_cells cells;
    pvma_cells_init(&cells);
    struct pvma_cell *cell = pvma_cell_new(&cells);
    for (; size >= PVMA_CELL_BYTES; data += PVMA_CELL_BYTES, size -= PVMA_CELL_BYTES) {
        uint8_t wire[PVMA_CELL_BYTES];
        enum pvma_hec hec = pvma_cell_decode(cell, data);
        if (hec == PVMA_HEC_BAD)
            continue;
        MUST(cell->vpi <= PVMA_VPI_MAX && cell->pti < 8 && cell->gfc < 16 && cell->clp < 2);
        pvma_cell_encode(cell, wire);
        MUST(!memcmp(wire + 5, data + 5, PVMA_CELL_PAYLOAD));
        MUST((memcmp(wire, data, 5) == 0) == (hec == PVMA_HEC_GOOD));
    }
    pvma_cell_put(&cells, cell);
    pvma_cells_free(&cells);
    return 0;
}
