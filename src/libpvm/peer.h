/*
 * peer.h - what we keep for each task and daemon that we exchange frames with: sequence numbers, the message that is
 * coming in, and whether the daemon has told us to hold.
 */
#ifndef PVMI_PEER_H
#define PVMI_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>
#include "../core/frame.h"
#include "../core/message.h"
#include "../core/tid.h"

struct pvmi_peer {
    pvmi_tid tid;
    uint32_t tx_seq;               /* of the next frame to it */
    uint32_t rx_seq;               /* of the next frame from it */
    uint64_t used;                 /* when it was last asked for, see pvmi_peer_time() */
    bool held;                     /* TC_HOLD named this task or host */
    bool refuses;                  /* no memory for the message that comes in: the rest of it is dropped */
    struct pvmi_message *incoming; /* under assembly */
    uint64_t placed;               /* bytes of it that are there */
    UT_hash_handle hh;
};

/* The peer, made if it is new; NULL when out of memory (logged). */
struct pvmi_peer *pvmi_peer_get(pvmi_tid tid);

/* Whether frames from src in this context carry sequence numbers: all but control messages and what daemons send. */
bool pvmi_peer_counts(pvmi_tid tid, uint32_t ctx);

/*
 * A frame comes in: checks its number and place. Returns where its payload goes; NULL drops it, and *status is then 0
 * or, for what no honest sender does, PVMI_EFORMAT (logged).
 */
uint8_t *pvmi_peer_place(const struct pvmi_frame_header *h, int *status);

/* The payload is in place. Returns the message if it is complete, with the caller's reference, else NULL. */
struct pvmi_message *pvmi_peer_placed(const struct pvmi_frame_header *h);

/* TC_HOLD and TC_RELEASE of a task or host. */
void pvmi_peer_hold(pvmi_tid tid, bool held);

/* Whether frames to this task may not be started: it, or its host, is held. */
bool pvmi_peer_is_held(pvmi_tid tid);

/* Counts uses of peers: a clock for pvmi_peer_renew(). */
uint64_t pvmi_peer_time(void);

/* The tid has been given to a new task since `time`: forgets the old one of that tid, not what the new one has sent. */
void pvmi_peer_renew(pvmi_tid tid, uint64_t time);

/* TC_GONE: drops all peers of a host with their unfinished messages and holds. */
void pvmi_peer_forget_host(pvmi_tid host);

void pvmi_peer_forget_all(void);

#endif
