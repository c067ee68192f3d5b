/*
 * atm_transport.h - the parts of the transport atm and what they share. It carries the packets of datagram/ over
 * virtual circuits of the simulated network, or frames over its assured protocols (PVM_ATM_PROTOCOL).
 *
 *  atm.c       the tables of functions, opening and closing
 *  link.c      the circuit of a link
 *  assured.c   its bytes, if an assured protocol carries them
 *  move.c      events of descriptors, and waiting
 *  tree.c      point-to-multipoint circuits from here, for frames to several links at once
 *  leaf.c      point-to-multipoint circuits of peers, which lead here
 *  clock.c     the network's virtual time as the process's clock
 *  route.c     what the daemons' route costs in that time
 *  offer.c     what the two sides exchange before the first packet
 *  protocol.c  PVM_ATM_PROTOCOL
 *  library.c   the Fore API
 */
#ifndef PVMT_ATM_TRANSPORT_H
#define PVMT_ATM_TRANSPORT_H

#include <sys/types.h>
#include "core/clock.h"
#include "transports/datagram/datagram.h"
#include "library.h"
#include "offer.h"
#include "protocol.h"

#define ATM_HOST_MAX     64 /* bytes of a name */
#define ATM_PACKET_MAX   65535
#define ATM_TREES_MAX    8  /* a further tree replaces the least recently used one */
#define ATM_TREE_MAX     16 /* links of one tree; more links take several trees */
#define ATM_JOINT_HEADER 4  /* bytes at the start of a packet to several links */

/* Member of the struct that owns a descriptor. */
struct atm_watch {
    /* The descriptor is readable. Returns the number of events. */
    int (*ready)(struct atm_watch *watch);
};

/* Of a link that is not up yet. */
enum atm_state {
    ATM_OFFERED,  /* waits for joined() */
    ATM_EXPECTED, /* waits for the peer's call */
    ATM_CALLING,  /* waits for the answer to its own call */
};

struct atm_link {
    struct pvmt_datagram_link base;
    struct atm_watch watch;
    enum atm_state state;
    bool is_in_tree;
    int fd; /* first the listener, then the connection; -1: closed */
    struct pvmt_atm_offer own, peer;
    uint32_t item_bytes; /* of what was written last to an assured link; 0: nothing yet */
};

enum atm_tree_state {
    ATM_TREE_ASKED_FOR, /* used once: worthwhile only if the same group gets a second message */
    ATM_TREE_GROWING,   /* waits for the next peer's answer */
    ATM_TREE_UP,
    ATM_TREE_REFUSED, /* the network or a receiver refused it */
};

/* A point-to-multipoint circuit to the peers of some links. */
struct atm_tree {
    struct atm_watch watch;
    struct atm_transport *t;
    struct atm_link *links[ATM_TREE_MAX]; /* in the order of their addresses in memory */
    unsigned count;                       /* 0: unused */
    unsigned there;                       /* links that it reaches so far: the first ones */
    enum atm_tree_state state;
    int fd;           /* -1: none */
    uint32_t bytes;   /* bytes of a frame per packet, at most */
    uint64_t used_at; /* value of tree_calls */
};

/* A point-to-multipoint circuit of a peer. */
struct atm_leaf {
    struct atm_watch watch;
    struct atm_transport *t;
    int fd;
    struct atm_leaf *prev, *next;
};

struct atm_joint; /* see tree.c */

struct atm_transport {
    struct pvmt_datagram base;
    const struct pvmt_atm_library *library;
    bool is_virtual; /* the network has a virtual clock */
    int64_t wake_us; /* virtual time at which arm() wants the next sleep to end */
    struct atm_transport *next_here;
    char host[ATM_HOST_MAX]; /* PVM_ATM_HOST; "": the network chooses */
    uint32_t mtu;
    Aal_type aal;
    Atm_protocol protocol; /* of all links */
    struct atm_leaf door;  /* takes the peers' multicast calls; fd -1: not open */
    Atm_sap door_asap;
    struct atm_leaf *leaves;
    struct atm_tree trees[ATM_TREES_MAX];
    uint64_t joints, tree_calls; /* counters */
    struct atm_joint *joint;     /* the packet that is being assembled; NULL: each link sends its own */
    uint8_t packet[ATM_PACKET_MAX], arrived[ATM_PACKET_MAX];
};

extern const struct pvmt_transport_ops pvmt_atm_ops;

/* ---- link.c: functions of datagram.h ---- */

int pvmt_atm_link_offer(struct pvmt_datagram_link *base, uint8_t blob[PVMT_OFFER_MAX]);
int pvmt_atm_link_join(struct pvmt_datagram_link *base, const uint8_t *blob, size_t length,
                       uint8_t reply[PVMT_OFFER_MAX]);
int pvmt_atm_link_joined(struct pvmt_datagram_link *base, const uint8_t *reply, size_t length);
void pvmt_atm_link_leave(struct pvmt_datagram_link *base);
int pvmt_atm_link_emit(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count);

/* ---- assured.c ---- */

/* Chooses the protocol of a new descriptor. 0 or PVMC_EUNSUPPORTED. */
int pvmt_atm_assure(struct atm_link *l);

/* Like pvmt_datagram_connect(). */
int pvmt_atm_connect_assured(struct atm_link *l);

/* ---- tree.c ---- */

int pvmt_atm_multicast(struct pvmt_endpoint **eps, struct pvmc_frame **frames, unsigned count);

/* Adds what a link would send to the packet for several links. Returns 0. */
int pvmt_atm_joint_add(struct atm_link *l, const struct iovec *pieces, unsigned count);

/*
 * Sends packets that can go to all links of a tree. Returns their number. Removes all trees if a link does not answer.
 */
int pvmt_atm_trees_step(struct atm_transport *t);

/* Removes a link that ends, and all trees if one contains it. */
void pvmt_atm_trees_leave(struct atm_link *l);

/* ---- leaf.c ---- */

/* Opens the door if it is closed. Without a door, this task receives no multicast, only copies of its own. */
void pvmt_atm_door_open(struct atm_transport *t);

void pvmt_atm_leaves_close(struct atm_transport *t);

/* ---- move.c ---- */

/* Calls watch->ready() from now on when fd is readable. 0 or PVMC_ESYSTEM. */
int pvmt_atm_watch(struct atm_transport *t, int fd, struct atm_watch *watch);

/* Closes Fore descriptor *fd unless it is -1; a forked child closes only its copy. *fd becomes -1. */
void pvmt_atm_close(struct atm_transport *t, int *fd);

int pvmt_atm_progress(struct pvmt_transport *base);
int pvmt_atm_hear(struct pvmt_datagram *base);
int pvmt_atm_sleep_until(struct pvmt_datagram *base, int64_t due_us);

/* ---- clock.c ---- */

/* In virtual time: the process uses the clock of t's network until every transport that entered has left. */
void pvmt_atm_clock_enter(struct atm_transport *t);
void pvmt_atm_clock_leave(struct atm_transport *t);

/* ---- route.c: functions of struct pvmc_virtual_clock ---- */

int pvmt_atm_route_name(const struct pvmt_atm_library *library, uint32_t task);
int pvmt_atm_route_carry(const struct pvmt_atm_library *library, const struct pvmc_shadow *to, unsigned count,
                         uint64_t bytes);
int pvmt_atm_route_under_way(const struct pvmt_atm_library *library, unsigned first,
                             struct pvmc_shadow list[PVMC_SHADOWS_MAX], bool *handing);

/* ---- clock.c ---- */

/* Like clock_watch() of transport.h. */
const struct pvmc_clock_watch *pvmt_atm_clock_watch(char *why, size_t size);

#endif
