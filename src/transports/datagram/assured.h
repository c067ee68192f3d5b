/*
 * assured.h - frames over a connection of the carrier's that loses nothing, such as SSCOP's: a stream of bytes. It
 * needs no numbers, acknowledgements or timers.
 *
 * Where bytes are dear, the header of a frame is not the 64 bytes of frame.h. Most of it follows from the frame before:
 *
 *   u16 mask | u32 word, for each bit that is set, from the lowest on | payload
 *
 * Bit i is set if word i of the header, of 16, differs from what is expected: the header of the frame before with the
 * next number and the next piece of the same message, of the same length or what is left, or, after a message's last
 * piece, the first piece of another one like it. Before the first frame everything is 0, but for magic and version. So
 * the next piece of a message has a header of 2 bytes, and a message like the one before seldom has more than 14.
 */
#ifndef PVMT_ASSURED_H
#define PVMT_ASSURED_H

#include "transports/transport.h"

#define PVMT_ASSURED_QUEUE_MAX   32 /* frames accepted and not yet written */
#define PVMT_ASSURED_HEADER_MAX  (2 + PVMC_FRAME_HEADER_BYTES)
#define PVMT_ASSURED_ITEM        8  /* bytes of the items of a payload of which nobody knows */
#define PVMT_ASSURED_HEADER_ITEM 24 /* of a header: most are one such item, so one cell */

/* What the carrier does for it. */
struct pvmt_assured_carrier {
    /*
     * Takes bytes from the front of the pieces and returns their number; 0: no room now, its event comes with that of
     * arrived bytes; PVMC_EDOWN. They consist of items of so many bytes, from the first one on.
     */
    ssize_t (*write)(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count, uint32_t item_bytes);

    /*
     * The next bytes, valid until the next call: their number; 0: none now; PVMC_ESHORT: the end; PVMC_EDOWN. *more:
     * others may be there.
     */
    ssize_t (*read)(struct pvmt_endpoint *ep, const uint8_t **bytes, bool *more);

    /* Nothing can be done before so many bytes have arrived: their event may wait for them. */
    void (*await)(struct pvmt_endpoint *ep, uint32_t bytes);

    bool counts_items; /* header and payload are written apart, because their items differ */
};

struct pvmt_assured {
    const struct pvmt_assured_carrier *carrier;
    struct pvmt_endpoint *ep;
    bool silent; /* its owner has disconnected it: no more callbacks */
    int over;    /* a code of read(), write() or frame.h; 0: it lives */
    bool deaf;   /* write() has failed: the peer takes no more, but what it sent before is still read */

    struct pvmc_frame *queue[PVMT_ASSURED_QUEUE_MAX]; /* a ring; the first one is being written */
    unsigned first, queued;
    struct pvmc_frame_header tx_last;
    uint8_t tx_header[PVMT_ASSURED_HEADER_MAX]; /* of the queue's first frame */
    uint32_t tx_header_bytes, tx_done;          /* bytes written, of header and payload */

    struct pvmc_frame_header rx; /* the frame before, then the one that arrives */
    uint8_t rx_header[PVMT_ASSURED_HEADER_MAX];
    uint32_t rx_header_have;
    bool in_payload;
    uint8_t *place; /* NULL: dropped */
    uint32_t placed;
};

/* NULL: out of memory. */
struct pvmt_assured *pvmt_assured_new(const struct pvmt_assured_carrier *carrier, struct pvmt_endpoint *ep);

/* Gives frames that are not written back. Not from a callback. NULL is allowed. */
void pvmt_assured_free(struct pvmt_assured *a);

static inline bool pvmt_assured_has_room(const struct pvmt_assured *a)
{
    return a->queued < PVMT_ASSURED_QUEUE_MAX;
}

/* Like send() of transport.h. */
int pvmt_assured_send(struct pvmt_assured *a, struct pvmc_frame *f);

/* Writes what there is room for. Returns the number of frames that were completed. */
int pvmt_assured_flush(struct pvmt_assured *a);

/*
 * Reads what has arrived, with callbacks; then a->over tells whether more can follow. After a failed write, nothing
 * follows what is there now. Returns the number of reads.
 */
int pvmt_assured_hear(struct pvmt_assured *a);

/* Why it is over, for down(): 0 at the end of the stream between frames, or a PVMC_E code. */
int pvmt_assured_reason(const struct pvmt_assured *a);

#endif
