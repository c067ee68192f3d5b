/*
 * fuzz_atm_pdu.c - reassembly. The first byte selects the layer; cells of 49 bytes, payload type and payload, follow.
 * At the end the whole input is sent as one PDU, which must arrive unchanged.
 */
#include "fuzz.h"
#include <string.h>
#include "atm/src/cells/aal.h"

static void round_trip(enum pvma_aal aal, struct pvma_reassembler *r, const uint8_t *data, size_t size)
{
    struct pvma_segmenter s = {0};
    struct pvma_cell cell = {0};
    enum pvma_reassembly result = PVMA_MORE;
    MUST(pvma_segmenter_start(&s, aal, 1, data, size) == 0);
    while (pvma_segmenter_next(&s, &cell))
        result = pvma_reassembler_take(r, &cell, NULL);
    MUST(result == PVMA_PDU && r->length == size && (!size || !memcmp(r->data, data, size)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pvma_reassembler r;
    enum pvma_aal aal = size && data[0] & 1 ? PVMA_AAL34 : PVMA_AAL5;
    const uint8_t *at = data + 1;
    pvma_reassembler_init(&r, aal, 5000);
    for (size_t left = size ? size - 1 : 0; left >= 49; at += 49, left -= 49) {
        struct pvma_cell cell = {.pti = at[0] & 7};
        enum pvma_aal_error error;
        memcpy(cell.payload, at + 1, PVMA_CELL_PAYLOAD);
        enum pvma_reassembly result = pvma_reassembler_take(&r, &cell, &error);
        MUST(result != PVMA_PDU || r.length <= 5000);
        MUST(result != PVMA_DISCARDED || error < PVMA_AAL_ERRORS);
    }
    pvma_reassembler_free(&r);
    pvma_reassembler_init(&r, aal, PVMA_PDU_MAX);
    if (size <= PVMA_PDU_MAX)
        round_trip(aal, &r, data, size);
    pvma_reassembler_free(&r);
    return 0;
}
