/*
 * link.h - the connections of this task: one to our daemon, and direct ones to other tasks.
 *
 * What comes in goes through peer.c, which puts it in order, and then to pvmi_link_deliver(): control messages to
 * control.c, answers to request.c, all others to the arrivals, where calls take them in.
 */
#ifndef PVMI_LINK_H
#define PVMI_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include "../core/frame.h"
#include "../core/message.h"
#include "carrier.h"
#include "peer.h"
#include "replay.h"

#define PVMI_LINK_SHARE_MAX 64 /* links that frames of one message are given to at once */

enum pvmi_link_state {
    PVMI_LINK_OFFERED, /* by us; waits for the peer to join */
    PVMI_LINK_JOINED,  /* the peer's offer, by us; waits for the peer's first frame */
    PVMI_LINK_UP,
};

struct pvmi_link {
    struct pvmi_endpoint *ep; /* NULL: down */
    struct pvmi_carrier *carrier;
    struct pvmi_peer *peer; /* NULL: the daemon's */
    enum pvmi_link_state state;
    bool ours;        /* we have offered it */
    uint32_t attempt; /* its number, by the side that has offered it */
    uint32_t frame_max;
    bool lossless, by_reference; /* attributes of the transport */
    bool refused;                /* a frame was refused: tx_ready comes */
    bool ack_due, ack_wanted;    /* a TC_ACK is to be sent; with the wish for one in return */
    uint32_t unheard;            /* bytes sent since we last listened to all links */
    uint32_t unacked_frames;     /* taken in since we last acknowledged */
    uint32_t unacked_bytes;
    int64_t deadline_us; /* to be up; INT64_MAX: none */
    struct pvmi_arrival arrival;
    struct pvmi_replay kept; /* sent and not acknowledged yet, if not lossless */
    struct pvmi_link *prev, *next;
};

/* The link to our daemon. */
extern struct pvmi_link pvmi_daemon_link;

/* Counts how often all links were closed: who waits sees that what it waits for will not come. */
extern unsigned pvmi_link_epoch;

/* All direct links in any state. */
extern struct pvmi_link *pvmi_links;
extern unsigned pvmi_link_count;

/* ---- our daemon ---- */

/* Connects to the daemon that listens on socket `path`. 0, PVMI_EAGAIN (busy, try again), PVMI_EUNREACHABLE, ... */
int pvmi_link_open(const char *path);

/* Ends all connections without a word: the others see us die. Also in a forked child, for the copies it inherited. */
void pvmi_link_close(void);

static inline bool pvmi_link_is_up(void)
{
    return pvmi_daemon_link.ep;
}

/* ---- direct links, for route.c ---- */

/* A link to p without an endpoint yet, over that transport. NULL when out of memory. */
struct pvmi_link *pvmi_link_new(const struct pvmi_transport_ops *ops, struct pvmi_peer *p, enum pvmi_link_state state);

/* Ends and frees a direct link. What was not acknowledged moves to its peer's row of frames to be sent again. */
void pvmi_link_free(struct pvmi_link *l);

/* Sends a TC_ACK, which is also how both ends greet, now or as soon as there is room. */
void pvmi_link_acknowledge(struct pvmi_link *l, bool want_one_back);

/* The descriptor that came with the message that is being delivered, now the caller's; -1: none. */
int pvmi_link_take_descriptor(void);

/* ---- sending ---- */

/*
 * Gives a frame to a link. 0: taken, and kept if need be; PVMI_EAGAIN: not taken, wait for pvmi_link_is_ready();
 * PVMI_EDOWN.
 */
int pvmi_link_send(struct pvmi_link *l, struct pvmi_frame *f);

/*
 * Whether frames of one message to several tasks may go by pvmi_link_send_to_many() when l is one of their links;
 * `with`: and another one, too.
 */
bool pvmi_link_can_share(const struct pvmi_link *l, const struct pvmi_link *with);

/* As send_to_many() of transport.h, for links that can share: 0: all are taken, and kept; PVMI_EAGAIN: none. */
int pvmi_link_send_to_many(struct pvmi_link **links, struct pvmi_frame **frames, unsigned count);

/*
 * The same without a frame, for a small message whose body lies at data, where the transport can: its bytes are copied.
 * PVMI_EUNSUPPORTED also: it takes pvmi_link_send().
 */
int pvmi_link_send_whole(struct pvmi_link *l, const struct pvmi_frame_header *h, const uint8_t *data);

/* Whether a send may succeed again after PVMI_EAGAIN. */
static inline bool pvmi_link_is_ready(const struct pvmi_link *l)
{
    return !l->ep || (!l->refused && !pvmi_replay_is_full(&l->kept));
}

/* Whether all that the transport took is on its way without us, or the link is down. */
bool pvmi_link_is_idle(const struct pvmi_link *l);

/*
 * Whether so much was sent that it is time for pvmi_link_progress(): senders must hear when to hold. Progress may free
 * links.
 */
bool pvmi_link_must_listen(const struct pvmi_link *l);

/* ---- all links ---- */

/* Moves what can be moved on all links, without waiting. Number of things that happened, or PVMI_EDOWN (the daemon). */
int pvmi_link_progress(void);

/*
 * As pvmi_link_progress(), for direct links only: what a waiting task polls, since it may cost no system call. 0 when
 * there are none. The daemon is heard by pvmi_link_progress(), which must be called every few microseconds, too.
 */
int pvmi_link_progress_direct(void);

/* A descriptor that is readable when progress has something to do; arm first, and do not sleep if that gives 1. */
int pvmi_link_fd(void);
int pvmi_link_arm(void);

/*
 * Virtual time (pvmi_world): sleeps until something may have come, or until_us of pvmi_clock_us(). 0, or PVMI_EDOWN:
 * the simulated network is gone.
 */
int pvmi_link_sleep(int64_t until_us);

/* Hands a complete message on, as above; takes over the reference. Called by peer.c, and for messages to ourselves. */
void pvmi_link_deliver(struct pvmi_message *m);

#endif
