/*
 * peer.h - the state kept for each task and daemon that this task exchanges frames with: sequence numbers, the message
 * under assembly, the reorder queue, the direct link, and whether the daemon has told us to hold.
 *
 * Frames of one sender are numbered across all routes and processed in that order: a frame below the due number is a
 * duplicate and dropped, a frame above it waits in the reorder queue.
 */
#ifndef PVMI_PEER_H
#define PVMI_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include "core/message/frame.h"
#include "core/hash.h"
#include "core/message/message.h"
#include "core/message/partial.h"
#include "core/message/proto.h"
#include "core/message/tid.h"
#include "reorder.h"
#include "retransmit.h"
#include "transports/transport.h"

/* Copying a smaller message twice is cheaper than asking a receive for its buffer. */
#define PVMI_PEER_CLAIM_BYTES 2048

struct pvmi_link;

/* State of setting up a direct link; for route.c alone. */
struct pvmi_route {
    struct pvmi_link *attempt; /* not up yet; offered or joined by us; NULL: none */
    uint32_t number;           /* of that attempt, assigned by the offering side */
    unsigned next;             /* index of the chosen transport to be offered next */
    unsigned failures;         /* in a row: the pause grows with them */
    uint64_t frames;           /* sent by the daemon; 8 KiB count as one */
    int64_t not_before_us;     /* no offer before this time */
    int64_t since_us;          /* start of the attempt, or of the link */
    bool told;                 /* that there is a link, and not yet that there is none */
};

/* Frames and payload bytes. */
struct pvmi_traffic {
    uint64_t tx_frames, tx_bytes, rx_frames, rx_bytes;
};

struct pvmi_peer {
    pvmc_tid tid;
    uint32_t tx_seq;               /* of the next frame to it */
    uint32_t rx_seq;               /* the number that is due from it */
    struct pvmi_link *link;        /* direct and up; NULL: frames go by the daemon */
    struct pvmc_message *incoming; /* under assembly */
    uint64_t placed;               /* bytes of it that have arrived */
    struct pvmc_partial stream;    /* what arrives beside it, and is received meanwhile */
    bool shown;                    /* the stream's message was delivered */
    struct pvmi_reorder_frame *reorder;
    bool placing;    /* a link is writing the payload of the due frame */
    bool refuses;    /* no memory for the current message: the rest of it is dropped */
    bool held;       /* TC_HOLD named this task or host */
    bool had_link;   /* or a shadow: so frames may arrive out of order */
    bool watched;    /* the daemon will tell us of its end */
    bool ended;      /* it has ended; frames that its links still hold are accepted */
    bool broken;     /* it has broken the protocol: its frames are dropped until its tid has a new owner */
    bool complained; /* a violation has been logged, only once */
    bool gone;       /* forgotten while in use */
    bool streams;    /* pvm_initsendto() has opened a stream to it, see route/stream.h */
    bool claimed;    /* a message to it is being sent, or was when the program jumped out of the call */
    struct pvmi_abandoned *abandoned; /* the message that the program left by a jump; NULL: none */
    unsigned uses;                    /* see pvmi_peer_use() */
    unsigned links;                   /* number of its links in any state */
    uint64_t multicast;               /* number of the last multicast to it, for multicast.c */
    uint64_t asked;                   /* time of the last lookup, see pvmi_peer_time() */
    struct pvmi_route route;
    struct pvmw_window again; /* frames of a lost link, to be sent by the daemon before any other */
    struct pvmi_traffic direct, daemon;
    unsigned refusals; /* how often a direct link refused a frame at first */
    unsigned links_opened, links_lost;
    UT_hash_handle hh;
};

/* The frame that a link is receiving. */
struct pvmi_arrival {
    struct pvmi_peer *peer;             /* its sender; NULL: no frame, or one that is dropped */
    struct pvmi_reorder_frame *reorder; /* its place in the reorder queue; NULL: it is due */
    struct pvmc_message *whole;         /* a control message, which has no number */
};

/* The last peer looked up, because frames of one peer come in series; NULL: none. */
extern struct pvmi_peer *pvmi_peer_latest;

/* For pvmi_peer_find(): another one than the last. */
struct pvmi_peer *pvmi_peer_search(pvmc_tid tid);

/* The peer, or NULL. */
static inline struct pvmi_peer *pvmi_peer_find(pvmc_tid tid)
{
    struct pvmi_peer *p = pvmi_peer_latest;
    return __builtin_expect(p && p->tid == tid, 1) ? p : pvmi_peer_search(tid);
}

extern uint64_t pvmi_peer_asked; /* number of lookups by pvmi_peer_get() */

/* For pvmi_peer_get(): the peer, which is created if necessary. NULL when out of memory (logged). */
struct pvmi_peer *pvmi_peer_need(pvmc_tid tid);

/* The peer; created if necessary. NULL when out of memory (logged). */
static inline struct pvmi_peer *pvmi_peer_get(pvmc_tid tid)
{
    struct pvmi_peer *p = pvmi_peer_latest;
    if (__builtin_expect(!p || p->tid != tid, 0))
        p = pvmi_peer_need(tid);
    if (__builtin_expect(p != NULL, 1))
        p->asked = ++pvmi_peer_asked;
    return p;
}

/* The first of all peers; continue with hh.next. */
struct pvmi_peer *pvmi_peer_first(void);

/* Whether frames from src in this context carry sequence numbers: all but control messages and what daemons send. */
static inline bool pvmi_peer_counts(pvmc_tid tid, uint32_t ctx)
{
    bool is_control = ctx >= PVMC_CTX_DM && (ctx == PVMC_CTX_TC || ctx == PVMC_CTX_TM || ctx == PVMC_CTX_DM);
    return !pvmc_tid_is_daemon(tid) && !is_control;
}

/*
 * A frame arrives by p's direct link or by the daemon: checks its number and position. Returns the place for its
 * payload, and fills *a. NULL drops the frame: *status is then 0, PVMC_ENOMEM, or PVMC_EFORMAT for a violation that no
 * correct sender commits, and for everything it sends afterwards (logged once).
 */
uint8_t *pvmi_peer_place(struct pvmi_arrival *a, struct pvmi_peer *p, const struct pvmc_frame_header *h, bool direct,
                         int *status);

/* The payload is in place: delivers the messages that are complete now. */
void pvmi_peer_placed(struct pvmi_arrival *a, const struct pvmc_frame_header *h);

/* Changes when a stream ends; never 0. */
extern unsigned pvmi_peer_streams_ended;

/* From now on, no message is received before it is whole: for the group server, which waits for no single task. */
void pvmi_peer_show_none(void);

/*
 * The message of a stream, which nobody has seen, will be delivered when it is whole; takes over the reference. It must
 * be the open one of its sender, taken from the arrivals.
 */
void pvmi_peer_withhold(struct pvmc_message *m);

/* Whether frames of p have not arrived in virtual time (shadow.h). */
bool pvmi_peer_awaits_shadow(const struct pvmi_peer *p);

/* Asks whether shadows have arrived, and takes the frames in. Returns the number of events. */
int pvmi_peer_pass_shadows(void);

/* The link went down in the middle of a frame. */
void pvmi_peer_cancel(struct pvmi_arrival *a);

/*
 * A whole message in one frame arrived by a direct link, as rx_whole in transport.h. 0: mem is taken over; else mem
 * stays the caller's: PVMC_EEXISTS (dropped), PVMC_EFORMAT or PVMC_ENOMEM as above.
 */
int pvmi_peer_whole(struct pvmi_peer *p, const struct pvmc_frame_header *h, struct pvmc_mem *mem, const uint8_t *data);

/*
 * The same, for a message of less than PVMI_PEER_CLAIM_BYTES that a receive takes at once: it is not delivered. NULL
 * leaves everything to pvmi_peer_whole().
 */
struct pvmc_message *pvmi_peer_take(struct pvmi_peer *p, const struct pvmt_whole *w);

/* Makes a message of such a frame; takes over mem if it returns one. NULL when out of memory. */
struct pvmc_message *pvmi_peer_message(const struct pvmc_frame_header *h, struct pvmc_mem *mem, const uint8_t *data);

/* TC_HOLD and TC_RELEASE of a task or host. */
void pvmi_peer_hold(pvmc_tid tid, bool held);

/* The peers that are held, and what pvmi_peer_is_held() asks if there are any. */
extern unsigned pvmi_peers_held;
bool pvmi_peer_is_one_held(pvmc_tid tid);

/* Whether the daemon has told us to start no frames to this task or its host. */
static inline bool pvmi_peer_is_held(pvmc_tid tid)
{
    return __builtin_expect(pvmi_peers_held, 0) && pvmi_peer_is_one_held(tid);
}

/* The daemon reports that the task has ended: drops its incomplete message as soon as its links are down. */
void pvmi_peer_ended(struct pvmi_peer *p);

/* Forgets an ended peer that no link and no call uses. To be called between calls to the room, as TC_GONE is taken. */
void pvmi_peer_forget_ended(struct pvmi_peer *p);

/* Its last link has been freed. */
void pvmi_peer_unlinked(struct pvmi_peer *p);

/* Keeps p in memory until the matching release. If p is forgotten meanwhile, p->gone is set. */
static inline void pvmi_peer_use(struct pvmi_peer *p)
{
    p->uses++;
}

void pvmi_peer_put(struct pvmi_peer *p);

/* A clock that counts lookups of peers, for pvmi_peer_renew(). */
uint64_t pvmi_peer_time(void);

/* The tid was assigned to a new task after `time`: forgets the old task, but not what the new one has sent. */
void pvmi_peer_renew(pvmc_tid tid, uint64_t time);

/* TC_GONE: drops all peers of a host with their links, unfinished messages and holds. */
void pvmi_peer_forget_host(pvmc_tid host);

/* All links must be closed. */
void pvmi_peer_forget_all(void);

#endif
