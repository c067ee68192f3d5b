/* transfer.h - the sending of a message to one receiver. */
#ifndef PVMI_TRANSFER_H
#define PVMI_TRANSFER_H

#include "core/message/message.h"
#include "libpvm/engine/link.h"
#include "libpvm/engine/peer.h"
#include "route.h"

struct pvmi_transfer {
    struct pvmc_message *m;
    pvmc_tid dst;
    struct pvmi_peer *peer;      /* in use; NULL: no sequence numbers, to our daemon and the like */
    uint64_t offset;             /* of the next frame */
    bool whole;                  /* the last frame has been sent */
    bool streams;                /* its frames are those of a stream */
    bool has_shadow;             /* the frame at shadow_at - 1 has one, if the daemon carries it (shadow.h) */
    uint64_t shadow_at;          /* 0: none has been asked about */
    struct pvmc_frame **inplace; /* frames of in-place data that a transport may still need */
    size_t inplace_count, inplace_capacity;
};

/*
 * Starts to send m, which stays the caller's and must not change until pvmi_transfer_end(). peer is claimed, or NULL.
 */
void pvmi_transfer_begin(struct pvmi_transfer *t, struct pvmc_message *m, pvmc_tid dst, struct pvmi_peer *peer);

/* Frees what t has. */
void pvmi_transfer_end(struct pvmi_transfer *t);

/* Sends as much as there is room for. 0: everything is sent, or the receiver is gone; PVMC_EAGAIN; an error. */
int pvmi_transfer_advance(struct pvmi_transfer *t);

/*
 * Sends the rest and waits for room, and until the caller may change and free its data. Nothing else may be sent to the
 * receiver meanwhile, so handlers wait. 0 or an error.
 */
int pvmi_transfer_finish(struct pvmi_transfer *t);

/*
 * Finishes a transfer that the program left by a jump while it waited: the next message to the same receiver sends the
 * rest first. The peer stays claimed until then. 0, at once if there is none, or an error.
 */
struct pvmi_abandoned;
int pvmi_transfer_resume(struct pvmi_peer *p); /* NULL: to our daemon */

/* The peer is forgotten, and with it the abandoned transfer. */
void pvmi_transfer_forget(struct pvmi_peer *p);

/* This thread has jumped out of calls of that level and above. Called by jump.c. */
void pvmi_transfer_abandon(unsigned level);

/* All of the above: sends m to m->dst. p is claimed, or NULL. 0 or an error. */
int pvmi_transfer_all(struct pvmc_message *m, struct pvmi_peer *p);

/* The same for a stream of which `sent` bytes, more than 0, have been sent. */
int pvmi_transfer_rest(struct pvmc_message *m, struct pvmi_peer *p, uint64_t sent);

/* Waits until the caller may change m, all of whose frames have been sent to p, which is claimed. 0 or an error. */
int pvmi_transfer_settle(struct pvmc_message *m, struct pvmi_peer *p);

/*
 * Whether nothing that was sent to p over l needs progress of ours: a link that is not lossless sends nothing while the
 * program computes. p NULL: the daemon.
 */
bool pvmi_transfer_is_settled(const struct pvmi_peer *p, const struct pvmi_link *l);

/* ---- for messages to many receivers ---- */

/* The link for the next frame. */
static inline struct pvmi_link *pvmi_transfer_link(const struct pvmi_transfer *t)
{
    return t->peer ? pvmi_route_link(t->peer) : &pvmi_daemon_link;
}

/* pvmi_condition: there is room, or waiting for it is pointless. */
bool pvmi_transfer_may_go_on(void *transfer);

/* pvmi_condition: the caller may change and free its data. */
bool pvmi_transfer_is_released(void *transfer);

/* The next frame, for that link; the caller's reference, NULL when out of memory. */
struct pvmc_frame *pvmi_transfer_frame(const struct pvmi_transfer *t, const struct pvmi_link *l);

/* The link has accepted the next frame. 0 or PVMC_ENOMEM. */
int pvmi_transfer_note(struct pvmi_transfer *t, const struct pvmi_link *l, struct pvmc_frame *f);

/* Sends the next frame, if there is room. 0, PVMC_EAGAIN or an error. */
int pvmi_transfer_send(struct pvmi_transfer *t);

/* Counts a frame to p, of `length` bytes, that the link has accepted; `last`: with it a message is complete. */
static inline void pvmi_transfer_count(struct pvmi_peer *p, const struct pvmi_link *l, uint32_t length, bool last)
{
    struct pvmi_traffic *traffic = l->peer ? &p->direct : &p->daemon;
    struct pvmc_gauges_route *shown = l->carrier->shown;
    p->tx_seq++;
    traffic->tx_frames++;
    traffic->tx_bytes += length;
    shown->tx_messages += last;
    shown->tx_bytes += length;
}

#endif
