/*
 * aal.h - ATM adaptation layers: PDUs to cells and back, with their real octets.
 *
 *   AAL5    octets, padding, 8 octets of trailer (user-to-user, CPI, length, CRC-32); the last cell is marked
 *   AAL3/4  each cell has 2 octets in front (segment type, sequence number, MID) and 2 behind (length, CRC-10). The
 *           papers count 8 octets around the PDU (4 of header with BTag and size, 4 of trailer with ETag and length)
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

/* True when the text names one; also "5", "34", "3/4", "0". */
bool pvma_aal_parse(const char *text, enum pvma_aal *aal);

/* Octets of cells that carry no PDU octets: 48 (or, with AAL3/4, 48 as well) per cell less the PDU. */
unsigned pvma_aal_cells(enum pvma_aal aal, size_t pdu_bytes);

/* ---- segmentation ---- */

/* A PDU that becomes cells. The octets stay the caller's and must outlive it. */
struct pvma_segmenter {
    enum pvma_aal aal;
    const uint8_t *data;
    size_t length;
    unsigned cells, next; /* how many there will be, and which comes now */
    uint32_t crc;         /* AAL5: of what was cut so far */
    uint16_t mid;         /* AAL3/4 */
    uint8_t sequence;     /* AAL3/4: of the next cell, 4 bits; goes on from PDU to PDU of a VC */
    uint8_t tag;          /* AAL3/4: BTag and ETag */
};

/*
 * Begins a PDU of 0..PVMA_PDU_MAX octets (raw: 1 or more). *s is zeroed before the first PDU of a VC and keeps AAL3/4's
 * numbers between PDUs. Returns 0 or PVMI_ELIMIT.
 */
int pvma_segmenter_start(struct pvma_segmenter *s, enum pvma_aal aal, uint16_t mid, const void *data, size_t length);

/* Fills payload and payload type of the next cell. False when the PDU has no more. */
bool pvma_segmenter_next(struct pvma_segmenter *s, struct pvma_cell *cell);

/* ---- reassembly ---- */

/* Why a PDU was discarded, or what was seen: indices of pvma_reassembler.errors. */
enum pvma_aal_error {
    PVMA_AAL_CRC32,    /* AAL5: the check sum is wrong: octets damaged, or cells lost and the length right by chance */
    PVMA_AAL_LENGTH,   /* the length does not fit the cells that came: some are lost, or two PDUs ran together */
    PVMA_AAL_OVERSIZE, /* more cells than the largest PDU has */
    PVMA_AAL_CRC10,    /* AAL3/4: a damaged cell */
    PVMA_AAL_SEQUENCE, /* AAL3/4: a cell is missing or out of order */
    PVMA_AAL_TAG,      /* AAL3/4: the end belongs to another beginning */
    PVMA_AAL_PROTOCOL, /* AAL3/4: a continuation without a beginning, or a beginning within a PDU */
    PVMA_AAL_ABORTED,  /* AAL5: the sender gave up (length 0 is a PDU of no octets here, and no abort) */
    PVMA_AAL_ERRORS
};

/* "crc32", "length", ... */
const char *pvma_aal_error_name(enum pvma_aal_error error);

struct pvma_reassembler {
    enum pvma_aal aal;
    size_t max_bytes; /* largest PDU accepted */
    uint8_t *data;    /* what came of the PDU under way; grows as needed */
    size_t length, capacity;
    uint32_t cells;        /* of the PDU under way */
    bool open;             /* AAL3/4: a beginning was seen */
    bool synchronized;     /* AAL3/4: `sequence` is known */
    uint8_t sequence, tag; /* AAL3/4: expected */
    uint16_t expected;     /* AAL3/4: octets announced */
    uint64_t pdus;         /* delivered */
    uint64_t errors[PVMA_AAL_ERRORS];
};

/* `max_bytes`: of the largest PDU accepted, at most PVMA_PDU_MAX. */
void pvma_reassembler_init(struct pvma_reassembler *r, enum pvma_aal aal, size_t max_bytes);
void pvma_reassembler_free(struct pvma_reassembler *r);

enum pvma_reassembly { PVMA_MORE, PVMA_PDU, PVMA_DISCARDED };

/*
 * Takes a cell's payload; the cell stays the caller's. PVMA_PDU: r->data[r->length] is a good PDU, valid until the next
 * cell. PVMA_DISCARDED: a PDU or a cell was given up and counted in r->errors; *error (may be NULL) says why.
 */
enum pvma_reassembly pvma_reassembler_take(struct pvma_reassembler *r, const struct pvma_cell *cell,
                                           enum pvma_aal_error *error);

/* MID of an AAL3/4 cell: picks the reassembler where several senders share a VC. */
uint16_t pvma_aal34_mid(const struct pvma_cell *cell);

#endif
