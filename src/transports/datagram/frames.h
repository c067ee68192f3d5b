/*
 * frames.h - frames over the reliable connection of an endpoint. A frame is one message: its header of 64 bytes, then
 * its payload.
 *
 * The endpoint embeds struct pvmt_frames. Packets that come go to pvmt_frames_take(); packets that leave come to
 * emit(). The callbacks of transport.h come from pvmt_frames_take() and pvmt_frames_progress() only; they may
 * disconnect the endpoint, whose memory must stay until the transport's progress() is over.
 */
#ifndef PVMT_FRAMES_H
#define PVMT_FRAMES_H

#include "transports/transport.h"
#include "wire/reliable/reliable.h"

/* A frame on its way. */
struct pvmt_frames_out {
    struct pvmc_frame *frame; /* NULL: free */
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    uint64_t joint; /* number from pvmt_frames_send_jointly(); 0: goes by itself */
};

struct pvmt_frames {
    struct pvmt_endpoint *ep;
    struct pvmw_reliable *reliable; /* NULL: not open */
    /* As emit() of reliable.h. */
    int (*emit)(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count);
    bool silent;  /* its owner has disconnected it: no more callbacks */
    bool refused; /* tx_ready is due */
    int wrong;    /* a PVMC_E code: the peer sent something malformed */
    unsigned next_out;
    struct pvmt_frames_out out[PVMW_RELIABLE_MESSAGES_MAX];

    /* the frame that comes in */
    uint8_t header_bytes[PVMC_FRAME_HEADER_BYTES];
    uint32_t header_have;
    struct pvmc_frame_header header;
    uint8_t *place; /* NULL: dropped */
    uint32_t placed;
    bool in_payload;
};

/*
 * Opens the connection of endpoint ep, zeroed before; `own` and `peer` as in pvmw_reliable_new(). 0 or PVMC_ENOMEM
 * (also for settings out of bounds).
 */
int pvmt_frames_open(struct pvmt_frames *l, struct pvmt_endpoint *ep, const struct pvmw_reliable_settings *settings,
                     uint32_t own, uint32_t peer,
                     int (*emit)(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count));

/* Frees everything; frames not yet acknowledged are given back. Not from a callback. Also if it is not open. */
void pvmt_frames_close(struct pvmt_frames *l);

/* As send() of transport.h; without a connection yet: PVMC_EAGAIN, and tx_ready is due once there is one. */
int pvmt_frames_send(struct pvmt_frames *l, struct pvmc_frame *f, int64_t now_us);

/*
 * As pvmt_frames_send(), for a frame that goes to several endpoints at once and has the same number `joint` (not 0) at
 * all of them. Its packets, with at most `bytes` of it, go when pvmw_reliable_step() says so.
 */
int pvmt_frames_send_jointly(struct pvmt_frames *l, struct pvmc_frame *f, uint64_t joint, uint32_t bytes,
                             int64_t now_us);

/* The number of the joint frame whose next packet may go; 0: none. */
uint64_t pvmt_frames_joint(const struct pvmt_frames *l);

/* Whether another frame would be taken. */
static inline bool pvmt_frames_have_room(const struct pvmt_frames *l)
{
    return l->reliable && pvmw_reliable_pending(l->reliable) < PVMW_RELIABLE_MESSAGES_MAX;
}

/* A packet for this connection came. As pvmw_reliable_take(). */
int pvmt_frames_take(struct pvmt_frames *l, const uint8_t *packet, size_t length, int64_t now_us);

/*
 * After a burst of packets, and when time has come: as pvmw_reliable_progress(), and tx_ready. Returns how many things
 * happened; PVMC_EDOWN: the connection is over, *reason is what down() is to be told.
 */
int pvmt_frames_progress(struct pvmt_frames *l, int64_t now_us, int *reason);

/* As pvmw_reliable_unsent(). */
static inline size_t pvmt_frames_unsent(const struct pvmt_frames *l)
{
    return l->reliable ? pvmw_reliable_unsent(l->reliable) : 0;
}

/* Frames taken and not acknowledged. */
static inline size_t pvmt_frames_pending(const struct pvmt_frames *l)
{
    return l->reliable ? pvmw_reliable_pending(l->reliable) : 0;
}

#endif
