/*
 * frames.h - frames over the connection of an endpoint: over a reliable one (reliable.h), where a frame is one message,
 * its 64-byte header, then its payload; or, if the carrier itself loses nothing, as a stream (assured.h).
 *
 * The endpoint embeds struct pvmt_frames. Pass incoming packets to pvmt_frames_take(); emit() sends outgoing ones. The
 * callbacks of transport.h come from pvmt_frames_take() and pvmt_frames_progress() only. They may disconnect the
 * endpoint, whose memory must stay until the transport's progress() returns.
 */
#ifndef PVMT_FRAMES_H
#define PVMT_FRAMES_H

#include "transports/transport.h"
#include "wire/reliable/reliable.h"
#include "assured.h"

/* A frame not yet acknowledged. */
struct pvmt_frames_out {
    struct pvmc_frame *frame; /* NULL: free */
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    uint64_t joint; /* number from pvmt_frames_send_jointly(); 0: sent by itself */
};

struct pvmt_frames {
    struct pvmt_endpoint *ep;
    struct pvmw_reliable *reliable; /* NULL: not open, or: */
    struct pvmt_assured *assured;   /* NULL: not open, or `reliable` */
    /* As emit() of reliable.h. */
    int (*emit)(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count);
    bool silent;  /* its owner has disconnected it: no more callbacks */
    bool refused; /* tx_ready is due */
    int wrong;    /* a PVMC_E code: the peer sent malformed data */
    unsigned next_out;
    struct pvmt_frames_out out[PVMW_RELIABLE_MESSAGES_MAX];

    /* the incoming frame */
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

/* The same over a connection of the carrier's. 0 or PVMC_ENOMEM. */
int pvmt_frames_open_assured(struct pvmt_frames *l, struct pvmt_endpoint *ep,
                             const struct pvmt_assured_carrier *carrier);

static inline bool pvmt_frames_is_open(const struct pvmt_frames *l)
{
    return l->reliable || l->assured;
}

/* Frees everything and gives unacknowledged frames back. Not from a callback. Allowed if it is not open. */
void pvmt_frames_close(struct pvmt_frames *l);

/* Like send() of transport.h. Without a connection: PVMC_EAGAIN, and tx_ready follows once there is one. */
int pvmt_frames_send(struct pvmt_frames *l, struct pvmc_frame *f, int64_t now_us);

/*
 * Like pvmt_frames_send(), for a frame that goes to several endpoints at once and has the same number `joint` (not 0)
 * at all of them. pvmw_reliable_step() sends its packets, which carry at most `bytes` of it.
 */
int pvmt_frames_send_jointly(struct pvmt_frames *l, struct pvmc_frame *f, uint64_t joint, uint32_t bytes,
                             int64_t now_us);

/* The number of the joint frame whose next packet may be sent; 0: none. */
uint64_t pvmt_frames_joint(const struct pvmt_frames *l);

/* Whether another frame would be accepted. */
static inline bool pvmt_frames_have_room(const struct pvmt_frames *l)
{
    if (l->assured)
        return pvmt_assured_has_room(l->assured);
    return l->reliable && pvmw_reliable_pending(l->reliable) < PVMW_RELIABLE_MESSAGES_MAX;
}

/* Whether nothing more can be sent. */
bool pvmt_frames_are_over(const struct pvmt_frames *l);

/* The owner disconnects: no more callbacks. A reliable peer is told if it can be. */
void pvmt_frames_end(struct pvmt_frames *l, bool tell, int64_t now_us);

/* When progress() is due at the latest; PVMW_RELIABLE_NEVER: at the next event. */
int64_t pvmt_frames_due_us(const struct pvmt_frames *l);

/* Reads what has arrived over an assured connection. */
void pvmt_frames_hear(struct pvmt_frames *l);

/* Processes a packet for this connection. Like pvmw_reliable_take(). */
int pvmt_frames_take(struct pvmt_frames *l, const uint8_t *packet, size_t length, int64_t now_us);

/*
 * Like pvmw_reliable_progress(), and calls tx_ready. Call it after a burst of packets and when it is due. Returns the
 * number of events; PVMC_EDOWN: the connection is over, and down() must report *reason.
 */
int pvmt_frames_progress(struct pvmt_frames *l, int64_t now_us, int *reason);

/* Like pvmw_reliable_unsent(). */
static inline size_t pvmt_frames_unsent(const struct pvmt_frames *l)
{
    if (l->assured)
        return l->assured->queued;
    return l->reliable ? pvmw_reliable_unsent(l->reliable) : 0;
}

/* Frames accepted and not acknowledged, or, over an assured connection, not written. */
static inline size_t pvmt_frames_pending(const struct pvmt_frames *l)
{
    if (l->assured)
        return l->assured->queued;
    return l->reliable ? pvmw_reliable_pending(l->reliable) : 0;
}

#endif
