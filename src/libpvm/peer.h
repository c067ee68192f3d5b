/*
 * peer.h - what we keep for each task and daemon that we exchange frames with: sequence numbers, the message that is
 * coming in, frames that came before their turn, the link to it, and whether the daemon has told us to hold.
 *
 * Frames of one sender have one row of numbers over all routes. They are taken in that order: lower ones than the due
 * one have come before and are dropped, higher ones are kept until the others are there.
 */
#ifndef PVMI_PEER_H
#define PVMI_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include "../core/frame.h"
#include "../core/hash.h"
#include "../core/message.h"
#include "../core/proto.h"
#include "../core/tid.h"
#include "early.h"
#include "replay.h"

struct pvmi_link;

/* How a direct link to a peer comes about; for route.c alone. */
struct pvmi_route {
    struct pvmi_link *attempt; /* offered by us or joined by us, not up yet; NULL: none */
    uint32_t number;           /* of that attempt, by the side that offers */
    unsigned next;             /* which transport of our choice is to be offered next */
    unsigned failures;         /* in a row: the pause grows with them */
    unsigned frames;           /* sent by the daemon since a link was possible */
    int64_t not_before_us;     /* no offer before that time */
    int64_t since_us;          /* when the attempt, or the link, began */
};

/* Frames and payload bytes. */
struct pvmi_traffic {
    uint64_t tx_frames, tx_bytes, rx_frames, rx_bytes;
};

struct pvmi_peer {
    pvmi_tid tid;
    uint32_t tx_seq;               /* of the next frame to it */
    uint32_t rx_seq;               /* of the frame from it that is due */
    struct pvmi_link *link;        /* direct and up; NULL: frames go by the daemon */
    struct pvmi_message *incoming; /* under assembly */
    uint64_t placed;               /* bytes of it that are there */
    struct pvmi_early *early;
    bool placing;           /* a link writes the payload of the due frame */
    bool refuses;           /* no memory for the message that comes in: the rest of it is dropped */
    bool held;              /* TC_HOLD named this task or host */
    bool had_link;          /* numbers may come out of turn */
    bool watched;           /* the daemon tells us when it has ended */
    bool ended;             /* it has left; what its links still hold comes yet */
    bool broken;            /* it has broken the rules: its frames are dropped until its tid has a new owner */
    bool complained;        /* ... or it sent control messages that do not fit together; said once */
    bool gone;              /* forgotten while somebody uses it */
    bool claimed;           /* a thread is in the middle of a message to it, or has left that */
    struct pvmi_left *left; /* the message that the program has jumped out of; NULL: none */
    unsigned uses;          /* see pvmi_peer_use() */
    unsigned links;         /* in any state, this one's */
    uint64_t asked;         /* when it was last asked for, see pvmi_peer_time() */
    struct pvmi_route route;
    struct pvmi_replay again; /* frames of a broken link that go by the daemon, before any other */
    struct pvmi_traffic direct, daemon;
    unsigned refusals; /* times that a direct link took no frame at once */
    unsigned links_opened, links_lost;
    UT_hash_handle hh;
};

/* The frame that a link is taking in. */
struct pvmi_arrival {
    struct pvmi_peer *peer;     /* whose frame it is; NULL: no frame, or none that is kept */
    struct pvmi_early *early;   /* where it is kept, when it came too early */
    struct pvmi_message *whole; /* a control message, which no number orders */
};

/* The peer, made if it is new; NULL when out of memory (logged). */
struct pvmi_peer *pvmi_peer_get(pvmi_tid tid);

/* The peer, or NULL. */
struct pvmi_peer *pvmi_peer_find(pvmi_tid tid);

/* All peers: the first, go on with hh.next. For lists of what a task does. */
struct pvmi_peer *pvmi_peer_first(void);

/* Whether frames from src in this context carry sequence numbers: all but control messages and what daemons send. */
static inline bool pvmi_peer_counts(pvmi_tid tid, uint32_t ctx)
{
    return !pvmi_tid_is_daemon(tid) && ctx != PVMI_CTX_TC && ctx != PVMI_CTX_TM && ctx != PVMI_CTX_DM;
}

/*
 * A frame comes in by p's direct link or by the daemon: checks its number and place. Returns where its payload goes,
 * and fills *a; NULL drops it, and *status is then 0 or, for what no honest sender does and all that it sends
 * afterwards, PVMI_EFORMAT (logged once), or PVMI_ENOMEM.
 */
uint8_t *pvmi_peer_place(struct pvmi_arrival *a, struct pvmi_peer *p, const struct pvmi_frame_header *h, bool direct,
                         int *status);

/* The payload is in place: hands on the messages that are complete now. */
void pvmi_peer_placed(struct pvmi_arrival *a, const struct pvmi_frame_header *h);

/* The link went down in the middle of a frame. */
void pvmi_peer_cancel(struct pvmi_arrival *a);

/*
 * A frame of a direct link that is a whole message came in: as rx_whole in transport.h. 0; PVMI_EEXISTS: dropped, mem
 * stays the caller's; PVMI_EFORMAT or PVMI_ENOMEM likewise, as above.
 */
int pvmi_peer_whole(struct pvmi_peer *p, const struct pvmi_frame_header *h, struct pvmi_mem *mem, const uint8_t *data);

/* A message of its own out of such a frame; takes over mem, if it returns one. NULL when out of memory. */
struct pvmi_message *pvmi_peer_message(const struct pvmi_frame_header *h, struct pvmi_mem *mem, const uint8_t *data);

/* TC_HOLD and TC_RELEASE of a task or host. */
void pvmi_peer_hold(pvmi_tid tid, bool held);

/* Whether frames to this task may not be started by the daemon: it, or its host, is held. */
bool pvmi_peer_is_held(pvmi_tid tid);

/* The task has left, the daemon says: what will never be complete is dropped as soon as its links are down. */
void pvmi_peer_ended(struct pvmi_peer *p);

/* Its last link has been freed. */
void pvmi_peer_unlinked(struct pvmi_peer *p);

/* Keeps p in memory until it is put back; when it is forgotten meanwhile, p->gone is set. */
static inline void pvmi_peer_use(struct pvmi_peer *p)
{
    p->uses++;
}

void pvmi_peer_put(struct pvmi_peer *p);

/* Counts uses of peers: a clock for pvmi_peer_renew(). */
uint64_t pvmi_peer_time(void);

/* The tid has been given to a new task since `time`: forgets the old one of that tid, not what the new one has sent. */
void pvmi_peer_renew(pvmi_tid tid, uint64_t time);

/* TC_GONE: drops all peers of a host with their links, unfinished messages and holds. */
void pvmi_peer_forget_host(pvmi_tid host);

/* All links must be closed. */
void pvmi_peer_forget_all(void);

#endif
