/*
 * receiver.h - the receiving side of SSCOP and PC-AAL, as in figure 5.6 of the thesis: which SDs have come, and what
 * is to be reported of it. It has neither clock nor wire. What it reports is made when it is sent, so reports that
 * wait take no memory.
 *
 * Data become readable in the order of their numbers. Memory is bounded by twice the window and one SD, whatever the
 * peer sends: N(MR) stops an honest one, and what comes beyond is dropped. A peer with a larger window repeats it.
 */
#ifndef PVMA_RECEIVER_H
#define PVMA_RECEIVER_H

#include "pdu.h"

/* An SD that has come. */
struct pvma_arrival {
    struct pvma_arrival *next; /* readable ones */
    uint32_t tag, offset;
    size_t length, taken; /* octets, and those that were read */
    uint8_t data[];
};

struct pvma_gap {
    int64_t from, to;
};

enum { PVMA_GAPS_MAX = 64 }; /* USTATs that wait; later ones are left to the next STAT */

struct pvma_receiver {
    unsigned bits;
    size_t window_bytes;
    int64_t window_sds;
    int64_t r;  /* VR(R): the next in order; all before it have come */
    int64_t h;  /* VR(H): the next that is expected; those before it have come, or were reported missing */
    int64_t pr; /* VR(PR): the last POLL */
    struct pvma_arrival **slot;         /* by number, from r on; NULL: has not come */
    size_t slots;                       /* a power of two */
    size_t charge;                      /* of all SDs that were not read, in order or not */
    struct pvma_arrival *first, **last; /* readable */
    size_t readable;                    /* octets */
    bool closed;                        /* the last report stopped the peer */
    /* reports to be sent */
    struct pvma_gap gap[PVMA_GAPS_MAX];
    unsigned gaps, gap_first;
    bool stat;        /* a STAT is due */
    bool begun;       /* ... and its first PDU was made */
    int64_t stat_end; /* ... up to this number, N(S) of the POLL */
    int64_t stat_at;  /* ... from this one on, at which a run of received SDs begins */
};

void pvma_receiver_init(struct pvma_receiver *receiver, unsigned bits, size_t window_bytes, int64_t first);
void pvma_receiver_free(struct pvma_receiver *receiver);

enum pvma_taken {
    PVMA_TAKEN,     /* new, kept */
    PVMA_DUPLICATE, /* has come before */
    PVMA_REFUSED,   /* beyond the window, or nothing that a receiver takes */
};

/* Takes an SD or a POLL. What it makes necessary to report, pvma_receiver_report() returns. */
enum pvma_taken pvma_receiver_take(struct pvma_receiver *receiver, const struct pvma_pdu *pdu);

/*
 * The next report to be sent. A STAT has at most `elements` elements (3 at least), without dividing a pair. With
 * `once` one PDU is all that a POLL is answered with, however long the list. False: nothing to report.
 */
bool pvma_receiver_report(struct pvma_receiver *receiver, unsigned elements, bool once, struct pvma_pdu *pdu);

/* Answers the last POLL again, because something has changed that the peer waits for. */
void pvma_receiver_report_again(struct pvma_receiver *receiver);

/* Moves up to `bytes` readable octets to `buffer`; returns their number. It may make a report necessary. */
size_t pvma_receiver_read(struct pvma_receiver *receiver, void *buffer, size_t bytes);

/* True if the SD of this number has come. */
bool pvma_receiver_has(const struct pvma_receiver *receiver, int64_t n);

#endif
