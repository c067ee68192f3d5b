/*
 * atm_transport.h - the parts of the transport atm and what they share.
 *
 *  atm.c       the table of functions, opening and closing
 *  link.c      a connection: offered, joined, up, over
 *  move.c      progress: callers and packets from descriptors, what is due
 *  tree.c      point-to-multipoint circuits from here, for frames to several links at once
 *  leaf.c      those that lead here
 *  world.c     life in the network's virtual time
 *  offer.c     what the two sides tell each other beforehand
 *  library.c   the Fore API
 */
#ifndef PVMI_ATM_TRANSPORT_H
#define PVMI_ATM_TRANSPORT_H

#include <sys/types.h>
#include "../reliable/agenda.h"
#include "../reliable/frames.h"
#include "../transport.h"
#include "library.h"
#include "offer.h"

#define ATM_HOST_MAX     64 /* bytes of a name */
#define ATM_PACKET_MAX   65535
#define ATM_TREES_MAX    8  /* the one not used for longest makes room for another */
#define ATM_TREE_MAX     16 /* links that one reaches; more take several */
#define ATM_JOINT_HEADER 4  /* bytes of a packet to several links, before the receivers' own parts */

/* What a descriptor belongs to: a member of it. */
struct atm_watch {
    /* It is readable. Returns how many things happened. */
    int (*ready)(struct atm_watch *watch);
};

enum atm_state {
    ATM_OFFERED,  /* we wait for joined() */
    ATM_EXPECTED, /* and now for the peer's call */
    ATM_CALLING,  /* for the answer to ours */
    ATM_UP,
};

struct atm_link {
    struct pvmi_endpoint base;
    struct pvmi_frames frames;
    struct pvmi_agenda_entry agenda;
    struct atm_watch watch;
    enum atm_state state;
    bool dead;    /* disconnected or down: freed when progress() is over and its owner is done with it */
    bool told;    /* its owner is done with it */
    bool over;    /* the connection has ended, or never was: its owner is to be told `reason` */
    bool touched; /* in the list of those to be looked at */
    bool is_in_tree;
    int reason;
    int fd; /* where we listen, then the connection; -1: closed */
    struct pvmi_atm_offer own, peer;
    struct atm_link *next_touched;
    struct atm_link *prev, *next; /* of the living or in the graveyard */
};

enum atm_tree_state {
    ATM_TREE_ASKED_FOR, /* seen once: most receivers of one message get no second one together */
    ATM_TREE_GROWING,   /* waits for the answer of the next one */
    ATM_TREE_UP,
    ATM_TREE_REFUSED, /* the network or a receiver would not have it */
};

/* A point-to-multipoint circuit to the peers of some links. */
struct atm_tree {
    struct atm_watch watch;
    struct atm_transport *t;
    struct atm_link *links[ATM_TREE_MAX]; /* in the order of their addresses in memory */
    unsigned count;                       /* 0: unused */
    unsigned there;                       /* links that it leads to by now: the first ones */
    enum atm_tree_state state;
    int fd;           /* -1: none */
    uint32_t bytes;   /* of a frame in a packet, at most */
    uint64_t used_at; /* counts calls */
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
    struct pvmi_transport base;
    const struct pvmi_atm_library *library;
    bool is_virtual; /* the network's clock */
    int64_t wake_us; /* virtual time: when arm() has asked to be looked at, until the next sleep */
    struct atm_transport *next_here;
    char host[ATM_HOST_MAX]; /* where it was opened; "": where the network puts us */
    uint32_t mtu;
    Aal_type aal;
    int64_t dead_after_us;
    pid_t pid; /* whose it is: a forked child has only a copy */
    int epoll_fd, timer_fd;
    struct atm_leaf door; /* where peers' multicast calls come in; fd -1: not open */
    Atm_sap door_asap;
    struct atm_leaf *leaves;
    struct atm_tree trees[ATM_TREES_MAX];
    uint64_t last_joint, tree_calls;
    struct atm_joint *joint; /* the packet that is being put together; NULL: packets go by themselves */
    int64_t now_us;          /* as of the current call */
    struct atm_link *links, *graveyard, *touched;
    struct pvmi_agenda agenda;
    bool in_progress;
    uint8_t packet[ATM_PACKET_MAX];
};

/* ---- link.c ---- */

int pvmi_atm_link_offer(struct pvmi_transport *base, void *owner, uint8_t blob[PVMI_OFFER_MAX], int *fd,
                        struct pvmi_endpoint **out);
int pvmi_atm_link_join(struct pvmi_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                       uint8_t reply[PVMI_OFFER_MAX], struct pvmi_endpoint **out);
int pvmi_atm_link_joined(struct pvmi_endpoint *base, const uint8_t *reply, size_t length);
void pvmi_atm_link_disconnect(struct pvmi_endpoint *base);
int pvmi_atm_link_send(struct pvmi_endpoint *base, struct pvmi_frame *f);

/* Does what is due: sends, calls back, notes when to look again. Returns how many things happened. */
int pvmi_atm_link_settle(struct atm_link *l);

/* Frees the dead whose owners are done with them. */
void pvmi_atm_links_bury(struct atm_transport *t);

/* Frees a link without telling anybody but the network. */
void pvmi_atm_link_free(struct atm_link *l);

/* ---- tree.c ---- */

int pvmi_atm_multicast(struct pvmi_endpoint **eps, struct pvmi_frame **frames, unsigned count);

/* Takes what a link would send into the packet for several. 0. */
int pvmi_atm_joint_add(struct atm_link *l, const struct iovec *pieces, unsigned count);

/* Sends what may go to all links of a tree. Returns how many packets. */
int pvmi_atm_trees_step(struct atm_transport *t);

/* Gives all trees up: what waits for them goes link by link. */
void pvmi_atm_trees_fell(struct atm_transport *t);

/* The link goes: no tree has it any more. */
void pvmi_atm_trees_leave(struct atm_link *l);

/* ---- leaf.c ---- */

/* Opens the door, if it is not open. Without one, peers send to us alone. */
void pvmi_atm_door_open(struct atm_transport *t);

void pvmi_atm_leaves_close(struct atm_transport *t);

/* ---- move.c ---- */

/* Looks after a descriptor from now on. 0 or PVMI_ESYSTEM. */
int pvmi_atm_watch(struct atm_transport *t, int fd, struct atm_watch *watch);

/* Closes a Fore descriptor, if *fd is one; a forked child its copy only. *fd becomes -1. */
void pvmi_atm_close(struct atm_transport *t, int *fd);

int pvmi_atm_progress(struct pvmi_transport *base);
int pvmi_atm_arm(struct pvmi_transport *base);

/* ---- world.c ---- */

/* In virtual time: the process lives on t's network from now on, until all that have entered leave. */
void pvmi_atm_world_enter(struct atm_transport *t);
void pvmi_atm_world_leave(struct atm_transport *t);

/* Notes that a link is to be settled. */
static inline void pvmi_atm_touch(struct atm_link *l)
{
    struct atm_transport *t = (struct atm_transport *)l->base.transport;
    if (l->touched)
        return;
    l->touched = true;
    l->next_touched = t->touched;
    t->touched = l;
}

#endif
