/*
 * local.h - endpoints of one host: messages through shared memory, under the same calls.
 *
 * Who writes makes a channel: a sealed memfd with a ring (transports/shm/ring.h), which he sends to the other
 * endpoint's door, a Unix socket with an abstract name: nothing has a name that could be left behind, and names belong
 * to the network namespace, as node ids do. Their connection is a doorbell for a sleeping reader, and its end tells of
 * death. Both must be processes of one user, or one of them of root. What is read from the ring is read once and
 * checked.
 */
#ifndef PVMI_DP_LOCAL_H
#define PVMI_DP_LOCAL_H

#include "../transports/shm/ring.h"
#include "endpoint.h"

#define PVMI_LOCAL_SHIFT 14 /* a ring has 1 << SHIFT cells: 1 MiB */

/* The first page of a channel's memory; its cells follow. */
struct pvmi_local_area {
    uint64_t taken; /* cells that the reader has released */
    uint8_t apart[56];
    uint32_t asleep; /* the reader wants to be rung */
};

/* The first cell of a message: its bytes follow, into the next cells. */
struct pvmi_local_cell {
    uint32_t word; /* as ring.h has it */
    uint32_t unused[3];
};

/* The first and only message on a connection, with the memfd; then bytes that ring. */
struct pvmi_local_hello {
    uint32_t magic;
    uint16_t node, point; /* of the writer */
    uint32_t reliable;    /* the mode's kind */
};

#define PVMI_LOCAL_MAGIC 0x44504c31 /* "DPL1" */

struct pvmi_local_map {
    struct pvmi_local_area *area;
    uint8_t *cells; /* twice in a row */
};

/* Maps a channel's memory: 0, PVMI_ENOMEM, or PVMI_EFORMAT: not sealed, or of another size. fd stays the caller's. */
int pvmi_local_map(int fd, struct pvmi_local_map *m);
void pvmi_local_unmap(struct pvmi_local_map *m);

/* Zeroed memory for a channel: a descriptor, or PVMI_ESYSTEM. */
int pvmi_local_memory(void);

/* The name of an endpoint's door; returns its length for bind() and connect(). */
struct sockaddr_un;
unsigned pvmi_local_name(const struct pvmi_endpoint *e, struct pvmi_dp_point point, struct sockaddr_un *name);

/* Whether who is at the other end of a connection may be spoken to. */
bool pvmi_local_is_friend(int fd);

/* ---- reading: channel.c ---- */

struct pvmi_channel {
    int fd;
    struct pvmi_dp_point from;
    struct pvmi_local_map map;
    struct pvmi_ring_rx rx;
    uint64_t released;
    unsigned held; /* messages in the inbox */
    bool ended;    /* the writer is gone or breaks the rules */
    struct pvmi_channel *next;
};

/* Opens the door: 0, or PVMI_EEXISTS: somebody has this endpoint; PVMI_ELIMIT. */
int pvmi_channel_open_door(struct pvmi_endpoint *e);

/* Lets in who knocks. */
void pvmi_channel_accept(struct pvmi_endpoint *e);

/* Takes messages into the inbox; ends channels that are done. */
void pvmi_channel_take(struct pvmi_endpoint *e);

/* Whether a message waits in one of them. */
bool pvmi_channel_waits(const struct pvmi_endpoint *e);

/* Before sleeping: asks the writers to ring. True: a message came meanwhile. */
bool pvmi_channel_sleep(struct pvmi_endpoint *e);

/* The oldest message of this channel that is held. */
void pvmi_channel_release(struct pvmi_channel *c, uint32_t length);

void pvmi_channel_close_all(struct pvmi_endpoint *e);

/* ---- writing: outlet.c ---- */

struct pvmi_outlet {
    int fd; /* -1: not connected */
    struct pvmi_local_map map;
    struct pvmi_ring_tx tx;
    int64_t try_us;     /* when to connect again */
    int64_t give_up_us; /* reliable: when the peer is dead; 0: it is not being waited for */
};

/*
 * Writes to a peer of this host: 0; PVMI_EAGAIN: no room, or, in a reliable mode, nobody there yet;
 * PVMI_EUNREACHABLE, PVMI_ESHORT as of pvmi_session_write(); PVMI_EDENIED: another user's; PVMI_ENOMEM. In raw mode a
 * message to nobody is gone.
 */
int pvmi_outlet_write(struct pvmi_endpoint *e, struct pvmi_peer *p, const void *data, uint32_t length);

void pvmi_outlet_free(struct pvmi_outlet *o); /* NULL is allowed */

#endif
