/*
 * aal.h - ATM adaptation layers: PDUs to cells and back, octet by octet.
 *
 *   AAL5    octets, padding, 8 octets of trailer (user-to-user, CPI, length, CRC-32); the last cell is marked
 *   AAL3/4  each cell has a header of 2 octets (segment type, sequence number, MID) and a trailer of 2 (length,
 *           CRC-10). The papers count 8 octets around the PDU (header of 4 with BTag and size, trailer of 4 with ETag
 *           and length)
 *   raw     each cell is a PDU of 48 octets
 *
 * Cells of a PDU: AAL5 ceil((n + 8) / 48), AAL3/4 ceil((n + 8) / 44), raw ceil(n / 48).
 */
#ifndef PVMA_AAL_H
#define PVMA_AAL_H

#include "cell.h"

enum pvma_aal { PVMA_AAL_RAW = 0, PVMA_AAL34 = 3, PVMA_AAL5 = 5 };

#define PVMA_PDU_MAX 65535 /* octets in an AAL5 or AAL3/4 PDU */
#define PVMA_MID_MAX 1023  /* of AAL3/4: 10 bits */

/* "raw", "aal3/4", "aal5". */
const char *pvma_aal_name(enum pvma_aal aal);

/* True when the text names a layer; "5", "34", "3/4" and "0" do too. */
bool pvma_aal_parse(const char *text, enum pvma_aal *aal);

/* The number of cells of a PDU. */
unsigned pvma_aal_cells(enum pvma_aal aal, size_t pdu_bytes);

/* ---- segmentation ---- */

/* A PDU under segmentation. The octets remain the caller's and must outlive it. */
struct pvma_segmenter {
    enum pvma_aal aal;
    const uint8_t *data;
    size_t length;
    unsigned cells, next; /* total, and number of the next */
    uint32_t crc;         /* AAL5: of the octets cut so far */
    uint16_t mid;         /* AAL3/4 */
    uint8_t sequence;     /* AAL3/4: of the next cell, 4 bits; continues from PDU to PDU of a VC */
    uint8_t tag;          /* AAL3/4: BTag and ETag */
};

/*
 * Begins a PDU of 0..PVMA_PDU_MAX octets (raw: 1 or more). Zero *s before the first PDU of a VC; it keeps the sequence
 * number and tag of AAL3/4 between PDUs. Returns 0 or PVMC_ELIMIT.
 */
int pvma_segmenter_start(struct pvma_segmenter *s, enum pvma_aal aal, uint16_t mid, const void *data, size_t length);

/* Fills payload and payload type of the next cell. False after the last one. */
bool pvma_segmenter_next(struct pvma_segmenter *s, struct pvma_cell *cell);

/* ---- reassembly ---- */

/* Why a PDU or a cell was discarded: indices of pvma_reassembler.errors. */
enum pvma_aal_error {
    PVMA_AAL_CRC32,    /* AAL5: wrong checksum: octets are damaged, or cells are lost and the length fits by chance */
    PVMA_AAL_LENGTH,   /* the length does not fit the cells received: some are lost, or two PDUs ran together */
    PVMA_AAL_OVERSIZE, /* larger than the largest PDU accepted */
    PVMA_AAL_CRC10,    /* AAL3/4: a damaged cell */
    PVMA_AAL_SEQUENCE, /* AAL3/4: a cell is missing or out of order */
    PVMA_AAL_TAG,      /* AAL3/4: the end belongs to another beginning */
    PVMA_AAL_PROTOCOL, /* AAL3/4: a continuation without a beginning, or a beginning within a PDU */
    PVMA_AAL_ABORTED,  /* AAL5: never counted: length 0 is an empty PDU here, not an abort */
    PVMA_AAL_ERRORS
};

/* "crc32", "length", ... */
const char *pvma_aal_error_name(enum pvma_aal_error error);

struct pvma_reassembler {
    enum pvma_aal aal;
    size_t max_bytes; /* largest PDU accepted */
    uint8_t *data;    /* octets received of the current PDU; grows as needed */
    size_t length, capacity;
    uint32_t cells;         /* of the current PDU */
    bool open;              /* a PDU has begun */
    bool synchronized;      /* AAL3/4: `sequence` is known */
    uint8_t sequence, tag;  /* AAL3/4: expected */
    uint16_t expected;      /* AAL3/4: octets announced */
    uint64_t pdus;          /* delivered */
    uint64_t useless_cells; /* AAL5: of PDUs that were given up */
    uint64_t errors[PVMA_AAL_ERRORS];
};

/* `max_bytes`: the largest PDU accepted, at most PVMA_PDU_MAX. */
void pvma_reassembler_init(struct pvma_reassembler *r, enum pvma_aal aal, size_t max_bytes);
void pvma_reassembler_free(struct pvma_reassembler *r);

enum pvma_reassembly { PVMA_MORE, PVMA_PDU, PVMA_DISCARDED };

/*
 * Takes a cell's payload; the cell remains the caller's. PVMA_PDU: r->data[r->length] is a good PDU, valid until the
 * next cell. PVMA_DISCARDED: a PDU or a cell was discarded and counted in r->errors; *error (may be NULL) says why.
 */
enum pvma_reassembly pvma_reassembler_take(struct pvma_reassembler *r, const struct pvma_cell *cell,
                                           enum pvma_aal_error *error);

/* MID of an AAL3/4 cell: selects the reassembly when several senders share a VC. */
uint16_t pvma_aal34_mid(const struct pvma_cell *cell);

#endif
