/*
 * frames.h - the frames of a transport's endpoint over a reliable connection: what transports over best-effort carriers
 * (dp, atm) have in common. A frame is one message: its header of 64 bytes, then its payload.
 *
 * The transport embeds struct pvmi_frames in its endpoint, gives it the packets that come, and puts on the carrier what
 * emit() is given. The callbacks of transport.h come from pvmi_frames_take() and pvmi_frames_progress() only; they may
 * disconnect the endpoint, whose memory must stay until the transport's progress() is over.
 */
#ifndef PVMI_FRAMES_H
#define PVMI_FRAMES_H

#include "../transport.h"
#include "reliable.h"

/* A frame on its way. */
struct pvmi_frames_out {
    struct pvmi_frame *frame; /* NULL: free */
    uint8_t wire[PVMI_FRAME_HEADER_BYTES];
    uint64_t joint; /* as pvmi_frames_send_jointly() was told; 0: goes by itself */
};

struct pvmi_frames {
    struct pvmi_endpoint *ep;
    struct pvmi_reliable *reliable; /* NULL: not open */
    /* As emit() of reliable.h. */
    int (*emit)(struct pvmi_frames *l, const struct iovec *pieces, unsigned count);
    bool silent;  /* its owner has disconnected it: no more callbacks */
    bool refused; /* tx_ready is due */
    int wrong;    /* a PVMI_E code: what came makes no sense */
    unsigned next_out;
    struct pvmi_frames_out out[PVMI_RELIABLE_MESSAGES_MAX];

    /* the frame that comes in */
    uint8_t header_bytes[PVMI_FRAME_HEADER_BYTES];
    uint32_t header_have;
    struct pvmi_frame_header header;
    uint8_t *place; /* NULL: dropped */
    uint32_t placed;
    bool in_payload;
};

/*
 * Opens the connection of endpoint ep, zeroed before; `own` and `peer` as in pvmi_reliable_new(). 0 or PVMI_ENOMEM
 * (also for settings out of bounds).
 */
int pvmi_frames_open(struct pvmi_frames *l, struct pvmi_endpoint *ep, const struct pvmi_reliable_settings *settings,
                     uint32_t own, uint32_t peer,
                     int (*emit)(struct pvmi_frames *l, const struct iovec *pieces, unsigned count));

/* Frees everything; frames not yet acknowledged are given back. Not from a callback. Also if it is not open. */
void pvmi_frames_close(struct pvmi_frames *l);

/* As send() of transport.h; without a connection yet: PVMI_EAGAIN, and tx_ready is due once there is one. */
int pvmi_frames_send(struct pvmi_frames *l, struct pvmi_frame *f, int64_t now_us);

/*
 * As pvmi_frames_send(), for a frame that goes to several endpoints at once and has the same number `joint` (not 0) at
 * all of them. Its packets, with at most `bytes` of it, go when pvmi_reliable_step() says so.
 */
int pvmi_frames_send_jointly(struct pvmi_frames *l, struct pvmi_frame *f, uint64_t joint, uint32_t bytes,
                             int64_t now_us);

/* The number of the joint frame whose next packet may go; 0: none. */
uint64_t pvmi_frames_joint(const struct pvmi_frames *l);

/* Whether another frame would be taken. */
static inline bool pvmi_frames_have_room(const struct pvmi_frames *l)
{
    return l->reliable && pvmi_reliable_pending(l->reliable) < PVMI_RELIABLE_MESSAGES_MAX;
}

/* A packet for this connection came. As pvmi_reliable_take(). */
int pvmi_frames_take(struct pvmi_frames *l, const uint8_t *packet, size_t length, int64_t now_us);

/*
 * After a burst of packets, and when time has come: as pvmi_reliable_progress(), and tx_ready. Returns how many things
 * happened; PVMI_EDOWN: the connection is over, *reason is what down() is to be told.
 */
int pvmi_frames_progress(struct pvmi_frames *l, int64_t now_us, int *reason);

/* As pvmi_reliable_unsent(). */
static inline size_t pvmi_frames_unsent(const struct pvmi_frames *l)
{
    return l->reliable ? pvmi_reliable_unsent(l->reliable) : 0;
}

/* Frames taken and not acknowledged. */
static inline size_t pvmi_frames_pending(const struct pvmi_frames *l)
{
    return l->reliable ? pvmi_reliable_pending(l->reliable) : 0;
}

#endif
