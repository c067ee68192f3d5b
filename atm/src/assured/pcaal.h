/*
 * pcaal.h - the PDUs of PC-AAL: one cell each, without any layer below. Octets, from 0:
 *
 *   all     0 type (4 bits), reserved (2), last (1), high (1); 1 N(S), of STAT, USTAT and LSTAT N(R); 5 CRC-16 of the
 * cell SD      7 tag; 11 offset of the first octet in its message; then scheme 1: 15 octets in the item; 16 one item,
 * at most 28 octets scheme n: 15 offset of the last octet; 19 items, at most 29 octets POLL    7 N(PS) USTAT   7 N(MR);
 * 11 first missing; 15 next received STAT    7 N(PS); 11 N(MR); 15 LAF; 19 number of elements; 20 elements, at most 7
 *   LSTAT   as STAT, with the time stamp at 44 and 6 elements
 *   STAMP   7 time stamp; only with time stamps
 *   END     7 cause (1 octet)
 *
 * With time stamps (ECE), 4 octets with one are before an SD's items, which leaves 28 and 25 octets for these, and
 * after a POLL's N(PS). Without, the bits `last` and `high` are 0. A stamp counts nanoseconds and has the low 32 bits,
 * so a latency of 4.29 s or more is taken for what is left of it after whole 4.29 s.
 * Octets without use are 0.
 */
#ifndef PVMA_PCAAL_H
#define PVMA_PCAAL_H

#include "pdu.h"

enum { PVMA_PCAAL_BYTES = 48, PVMA_PCAAL_STAT_ELEMENTS = 7, PVMA_PCAAL_LSTAT_ELEMENTS = 6 };

struct pvma_pcaal {
    bool several; /* scheme n: as many items in a cell as fit */
    bool stamped; /* SDs and POLLs carry the time at which they were sent */
};

/* Octets of a cell's items, if items have so many: one, or as many as fit; of a longer one, what fits. */
unsigned pvma_pcaal_sd_bytes(const struct pvma_pcaal *format, unsigned item_bytes);

/* Writes a PDU, which must be valid. */
void pvma_pcaal_encode(const struct pvma_pcaal *format, const struct pvma_pdu *pdu, uint8_t cell[PVMA_PCAAL_BYTES]);

/*
 * Reads a PDU. False: it is damaged, or none. The data of an SD remain in the cell. `now` completes a time stamp: it
 * is the last time not after `now` with the same low bits.
 */
bool pvma_pcaal_decode(const struct pvma_pcaal *format, struct pvma_pdu *pdu, const uint8_t cell[PVMA_PCAAL_BYTES],
                       pvma_ps now);

#endif
