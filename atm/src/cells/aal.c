/* aal.c - the common part of the adaptation layers; each layer has a file of its own. */
#include "aal.h"
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "aal_layer.h"

static const struct pvma_aal_layer *layer_of(enum pvma_aal aal)
{
    return aal == PVMA_AAL5 ? &pvma_aal5_layer : aal == PVMA_AAL34 ? &pvma_aal34_layer : &pvma_raw_layer;
}

const char *pvma_aal_name(enum pvma_aal aal)
{
    return layer_of(aal)->name;
}

bool pvma_aal_parse(const char *text, enum pvma_aal *aal)
{
    static const struct {
        const char *text;
        enum pvma_aal aal;
    } names[] = {{"aal5", PVMA_AAL5},   {"5", PVMA_AAL5},   {"aal3/4", PVMA_AAL34}, {"3/4", PVMA_AAL34},
                 {"aal34", PVMA_AAL34}, {"34", PVMA_AAL34}, {"raw", PVMA_AAL_RAW},  {"0", PVMA_AAL_RAW}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcmp(text, names[i].text)) {
            *aal = names[i].aal;
            return true;
        }
    }
    return false;
}

unsigned pvma_aal_cells(enum pvma_aal aal, size_t pdu_bytes)
{
    const struct pvma_aal_layer *layer = layer_of(aal);
    return (unsigned)((pdu_bytes + layer->around + layer->per_cell - 1) / layer->per_cell);
}

const char *pvma_aal_error_name(enum pvma_aal_error error)
{
    static const char *const names[PVMA_AAL_ERRORS] = {
        [PVMA_AAL_CRC32] = "crc32",       [PVMA_AAL_LENGTH] = "length",     [PVMA_AAL_OVERSIZE] = "oversize",
        [PVMA_AAL_CRC10] = "crc10",       [PVMA_AAL_SEQUENCE] = "sequence", [PVMA_AAL_TAG] = "tag",
        [PVMA_AAL_PROTOCOL] = "protocol", [PVMA_AAL_ABORTED] = "aborted",
    };
    return (unsigned)error < PVMA_AAL_ERRORS ? names[error] : "?";
}

/* ---- segmentation ---- */

int pvma_segmenter_start(struct pvma_segmenter *s, enum pvma_aal aal, uint16_t mid, const void *data, size_t length)
{
    if (length > PVMA_PDU_MAX || (aal == PVMA_AAL_RAW && !length))
        return PVMC_ELIMIT;
    s->aal = aal;
    s->data = data;
    s->length = length;
    s->cells = pvma_aal_cells(aal, length);
    s->next = 0;
    s->crc = 0;
    s->mid = mid & PVMA_MID_MAX;
    s->tag++;
    return 0;
}

bool pvma_segmenter_next(struct pvma_segmenter *s, struct pvma_cell *cell)
{
    if (s->next >= s->cells)
        return false;
    cell->pti = 0;
    layer_of(s->aal)->cut(s, cell);
    s->next++;
    return true;
}

/* ---- reassembly ---- */

void pvma_reassembler_init(struct pvma_reassembler *r, enum pvma_aal aal, size_t max_bytes)
{
    memset(r, 0, sizeof *r);
    r->aal = aal;
    r->max_bytes = max_bytes < PVMA_PDU_MAX ? max_bytes : PVMA_PDU_MAX;
}

void pvma_reassembler_free(struct pvma_reassembler *r)
{
    free(r->data);
    r->data = NULL;
    r->capacity = 0;
}

void pvma_reassembler_append(struct pvma_reassembler *r, const uint8_t *data, size_t length)
{
    if (r->length + length > r->capacity) {
        r->capacity = 2 * r->capacity + length + 256;
        r->data = pvma_renew(r->data, r->capacity);
    }
    memcpy(r->data + r->length, data, length);
    r->length += length;
}

enum pvma_reassembly pvma_reassembler_give_up(struct pvma_reassembler *r, enum pvma_aal_error error,
                                              enum pvma_aal_error *said)
{
    r->errors[error]++;
    if (r->aal == PVMA_AAL5)
        r->useless_cells += r->cells;
    if (said)
        *said = error;
    return PVMA_DISCARDED;
}

enum pvma_reassembly pvma_reassembler_take(struct pvma_reassembler *r, const struct pvma_cell *cell,
                                           enum pvma_aal_error *error)
{
    enum pvma_reassembly result = layer_of(r->aal)->join(r, cell, error);
    if (result == PVMA_PDU)
        r->pdus++;
    return result;
}

/* ---- raw: no layer, each cell is a PDU ---- */

static void raw_cut(struct pvma_segmenter *s, struct pvma_cell *cell)
{
    size_t from = (size_t)s->next * PVMA_CELL_PAYLOAD, left = s->length - from;
    size_t bytes = left < PVMA_CELL_PAYLOAD ? left : PVMA_CELL_PAYLOAD;
    memcpy(cell->payload, s->data + from, bytes);
    memset(cell->payload + bytes, 0, PVMA_CELL_PAYLOAD - bytes);
}

static enum pvma_reassembly raw_join(struct pvma_reassembler *r, const struct pvma_cell *cell,
                                     enum pvma_aal_error *error)
{
    (void)error;
    r->length = 0;
    pvma_reassembler_append(r, cell->payload, PVMA_CELL_PAYLOAD);
    return PVMA_PDU;
}

const struct pvma_aal_layer pvma_raw_layer = {"raw", 0, PVMA_CELL_PAYLOAD, raw_cut, raw_join};
