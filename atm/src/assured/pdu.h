/*
 * pdu.h - the PDUs of SSCOP and PC-AAL, as both engines see them. sscop.h and pcaal.h turn them into octets and back.
 * The numbers of a PDU from the wire have 24 or 32 bits; the engine that takes it restores the rest (serial.h).
 */
#ifndef PVMA_PDU_H
#define PVMA_PDU_H

#include <stdbool.h>
#include <stddef.h>
#include "base/sim.h"

/* On the wire; those of Q.2110 where it has them. */
enum pvma_pdu_type {
    PVMA_END = 3,    /* the connection is over */
    PVMA_SD = 8,     /* data */
    PVMA_POLL = 10,  /* asks for a STAT */
    PVMA_STAT = 11,  /* what has come and what is missing, on request */
    PVMA_USTAT = 12, /* what is missing, as soon as it is seen */
    PVMA_LSTAT = 14, /* a STAT that latency made necessary (ECE) */
    PVMA_STAMP = 15, /* the time at which it was sent (ECE) */
};

/* Elements in a list. A longer STAT of SSCOP is cut off, which is safe: it says nothing of the rest. */
enum { PVMA_LIST_MAX = 255 };

struct pvma_pdu {
    enum pvma_pdu_type type;
    int64_t n;     /* SD: its number. POLL: of the next new SD. STAT, USTAT, LSTAT: N(R), all before it have come */
    int64_t poll;  /* N(PS). POLL: its number. STAT, LSTAT: of the POLL that it answers */
    int64_t limit; /* N(MR). STAT, USTAT, LSTAT: the first SD that must not be sent yet */
    int64_t laf;   /* PC-AAL's STAT, LSTAT: where the run of received SDs before list[0] begins, or N(R) - 1 */
    int64_t list[PVMA_LIST_MAX]; /* STAT, USTAT, LSTAT: first missing, next received, next missing, ... */
    unsigned elements;
    const uint8_t *data; /* SD: in the buffer that was decoded, or the sender's */
    size_t length;
    uint32_t tag, offset; /* PC-AAL's SD: of the message, and of the first octet in it */
    pvma_ps stamp;        /* ECE's SD, POLL, STAMP: when it was sent. LSTAT: when the late one was sent */
    bool high;            /* ECE's SD, POLL, STAMP: the sender's mode. LSTAT: the mode that it shall enter */
    bool last;            /* ECE's POLL, STAMP: no other follows at the interval */
    int cause;            /* END: a pvma_cause */
};

#endif
