/* aal_layer.h - inside aal*.c: the interface of an adaptation layer. */
#ifndef PVMA_AAL_LAYER_H
#define PVMA_AAL_LAYER_H

#include "aal.h"

struct pvma_aal_layer {
    const char *name;
    unsigned around;                                               /* octets added around a PDU */
    unsigned per_cell;                                             /* octets of PDU and `around` in a cell */
    void (*cut)(struct pvma_segmenter *s, struct pvma_cell *cell); /* cell number s->next */
    enum pvma_reassembly (*join)(struct pvma_reassembler *r, const struct pvma_cell *cell, enum pvma_aal_error *error);
};

extern const struct pvma_aal_layer pvma_aal5_layer, pvma_aal34_layer, pvma_raw_layer;

/* Adds octets to the current PDU. */
void pvma_reassembler_append(struct pvma_reassembler *r, const uint8_t *data, size_t length);

/* Counts an error, sets *said unless it is NULL, and returns PVMA_DISCARDED. */
enum pvma_reassembly pvma_reassembler_give_up(struct pvma_reassembler *r, enum pvma_aal_error error,
                                              enum pvma_aal_error *said);

#endif
