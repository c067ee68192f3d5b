/* aal5.c - AAL5 (I.363.5): padding to whole cells, a trailer in the last 8 octets, the last cell marked. */
#include <string.h>
#include "aal_layer.h"
#include "base/crc.h"

enum { TRAILER = 8 }; /* user-to-user, CPI, length (2), CRC-32 (4) */

static void write_trailer(struct pvma_segmenter *s, uint8_t *payload)
{
    uint8_t *trailer = payload + PVMA_CELL_PAYLOAD - TRAILER;
    trailer[0] = 0;
    trailer[1] = 0;
    trailer[2] = (uint8_t)(s->length >> 8);
    trailer[3] = (uint8_t)s->length;
    uint32_t crc = ~pvma_crc32(s->crc, payload, PVMA_CELL_PAYLOAD - 4);
    for (int i = 0; i < 4; i++)
        trailer[4 + i] = (uint8_t)(crc >> (24 - 8 * i));
}

static void cut(struct pvma_segmenter *s, struct pvma_cell *cell)
{
    size_t from = (size_t)s->next * PVMA_CELL_PAYLOAD;
    size_t left = from < s->length ? s->length - from : 0;
    size_t bytes = left < PVMA_CELL_PAYLOAD ? left : PVMA_CELL_PAYLOAD;
    if (s->next == 0)
        s->crc = PVMA_CRC32_START;
    if (bytes)
        memcpy(cell->payload, s->data + from, bytes);
    memset(cell->payload + bytes, 0, PVMA_CELL_PAYLOAD - bytes);
    if (s->next + 1 == s->cells) {
        write_trailer(s, cell->payload);
        cell->pti = PVMA_PTI_END;
    } else {
        s->crc = pvma_crc32(s->crc, cell->payload, PVMA_CELL_PAYLOAD);
    }
}

/* Checks the PDU once its last cell has arrived. */
static enum pvma_reassembly finish(struct pvma_reassembler *r, enum pvma_aal_error *error)
{
    const uint8_t *trailer = r->data + r->length - TRAILER;
    size_t announced = (size_t)trailer[2] << 8 | trailer[3], came = r->length;
    uint32_t crc = 0;
    for (int i = 0; i < 4; i++)
        crc = crc << 8 | trailer[4 + i];
    bool whole = ~pvma_crc32(PVMA_CRC32_START, r->data, came - 4) == crc;
    if (pvma_aal_cells(PVMA_AAL5, announced) != r->cells)
        return pvma_reassembler_give_up(r, PVMA_AAL_LENGTH, error);
    if (!whole)
        return pvma_reassembler_give_up(r, PVMA_AAL_CRC32, error);
    if (announced > r->max_bytes)
        return pvma_reassembler_give_up(r, PVMA_AAL_OVERSIZE, error);
    r->length = announced;
    return PVMA_PDU;
}

static enum pvma_reassembly join(struct pvma_reassembler *r, const struct pvma_cell *cell, enum pvma_aal_error *error)
{
    if (!r->open) {
        r->open = true;
        r->length = 0;
        r->cells = 0;
    }
    r->cells++;
    bool last = cell->pti & PVMA_PTI_END;
    /* Cells beyond the largest PDU are not kept; reassembly only waits for the end mark. */
    bool too_long = r->cells > pvma_aal_cells(PVMA_AAL5, PVMA_PDU_MAX);
    if (!too_long)
        pvma_reassembler_append(r, cell->payload, PVMA_CELL_PAYLOAD);
    if (!last)
        return PVMA_MORE;
    r->open = false;
    return too_long ? pvma_reassembler_give_up(r, PVMA_AAL_OVERSIZE, error) : finish(r, error);
}

const struct pvma_aal_layer pvma_aal5_layer = {"aal5", TRAILER, PVMA_CELL_PAYLOAD, cut, join};
