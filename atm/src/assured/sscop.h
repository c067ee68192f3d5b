/*
 * sscop.h - the PDUs of SSCOP as packets of AAL5: figures 5.1 to 5.4 of the thesis, which are those of Q.2110. A PDU
 * is read from its end, which holds its type. Words of four octets, from the first:
 *
 *   SD      data and 0 to 3 octets of padding; then PL (2 bits), 2 reserved, type (4), N(S) (24)
 *   POLL    N(PS); N(S)
 *   STAT    elements of the list; N(PS); N(MR); N(R)
 *   USTAT   first missing, next received; N(MR); N(R)
 *   END     cause; nothing
 *
 * The last word of each begins with 4 reserved bits (SD: PL and 2) and the type. The others begin with 8 of padding.
 * AAL5's checksum covers all. All that is reserved or padding is 0.
 */
#ifndef PVMA_SSCOP_H
#define PVMA_SSCOP_H

#include "pdu.h"

enum {
    PVMA_SSCOP_SD_MAX = 65528,                       /* octets of data: what the thesis and Q.2110 call k */
    PVMA_SSCOP_PDU_MAX = PVMA_SSCOP_SD_MAX + 4,      /* octets */
    PVMA_SSCOP_STAT_MAX = 4 * PVMA_LIST_MAX + 4 * 3, /* octets */
};

/* The octets of data in the largest SD whose PDU has at most `pdu_bytes`. */
size_t pvma_sscop_sd_bytes(size_t pdu_bytes);

/* The elements of the largest STAT whose PDU has at most `pdu_bytes`; 3, which need 24, at least. */
unsigned pvma_sscop_elements(size_t pdu_bytes);

/* Writes a PDU, which must be valid, to wire[PVMA_SSCOP_PDU_MAX] and returns its octets. */
size_t pvma_sscop_encode(const struct pvma_pdu *pdu, uint8_t *wire);

/* Reads a PDU. False: it is none. The data of an SD remain where they are. */
bool pvma_sscop_decode(struct pvma_pdu *pdu, const uint8_t *wire, size_t length);

#endif
