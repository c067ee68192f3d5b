/*
 * dp_transport.h - the parts of the transport dp and what they share. (dp.h is the public header of libdp, which stands
 * on the same ports.)
 *
 *  dp.c        the table of functions, what is usable here, opening and closing
 *  move.c      progress: frames from the rings, what is due, waiting
 *  link.c      a connection: offered, joined, up, over; which way its packets take
 *  offer.c     what the two sides tell each other beforehand
 *  listing.c   what pvm-info tells
 *  batch.c, port.c, socket.c, interface.c, helper.c, message.c   frames, rings, raw sockets
 */
#ifndef PVMI_DP_TRANSPORT_H
#define PVMI_DP_TRANSPORT_H

#include "../../core/hash.h"
#include "../reliable/agenda.h"
#include "../reliable/frames.h"
#include "../transport.h"
#include "batch.h"
#include "offer.h"

#define DP_WAYS_MAX    (PVMI_DP_PLACES_MAX * PVMI_DP_PLACES_MAX)
#define DP_EARLY_BYTES 128

struct dp_settings {
    char interfaces[256]; /* PVM_DP_IF */
    uint16_t ethertype;
    uint32_t mtu, ring_bytes, window;
    int64_t dead_after_us;
};

/* From one of our ports to one of the peer's places. */
struct dp_way {
    unsigned port;
    uint8_t hardware[6];
    uint16_t node, point;
};

enum dp_state {
    DP_OFFERED,  /* we wait for joined() */
    DP_KNOCKING, /* both ends are known; nothing has come from the peer */
    DP_UP,
};

struct dp_link {
    struct pvmi_endpoint base;
    struct pvmi_frames frames;
    struct pvmi_agenda_entry agenda;
    enum dp_state state;
    bool dead;    /* disconnected or down: freed when progress() is over and its owner is done with it */
    bool told;    /* its owner is done with it */
    bool broken;  /* none of its ways can be used */
    bool touched; /* in the list of those to be looked at */
    bool owing;   /* in the list of those to be acknowledged before we sleep */
    uint32_t own; /* incarnation */
    struct dp_way ways[DP_WAYS_MAX];
    unsigned way_count, way;       /* the one that the peer was heard by last */
    uint32_t room;                 /* bytes of a packet that fits all ways */
    uint8_t early[DP_EARLY_BYTES]; /* a packet that came before joined() */
    unsigned early_length;
    UT_hash_handle hh; /* by own */
    struct dp_link *next_touched, *next_owing;
    struct dp_link *prev, *next; /* in the graveyard */
};

struct dp_port {
    struct pvmi_dp_port port;
    int64_t down_until_us; /* its interface was down or gone: not tried before; 0: it was not */
};

struct dp_transport {
    struct pvmi_transport base;
    struct dp_settings settings;
    uint8_t host[PVMI_HOST_IDENTITY_BYTES];
    uint16_t node;
    pid_t pid; /* whose it is: a forked child has only a copy */
    int epoll_fd, timer_fd;
    int64_t timer_us; /* when it goes off; 0: not set */
    int64_t now_us;   /* as of the current call */
    struct dp_port ports[PVMI_DP_PLACES_MAX];
    unsigned port_count;
    struct dp_link *links, *graveyard, *touched, *owing;
    struct dp_link *last; /* that a packet was for */
    unsigned link_count;  /* that share the rings */
    uint32_t credit;      /* packets of a ring for each of them */
    struct pvmi_agenda agenda;
    bool in_progress, slept;
    struct pvmi_dp_batch batch;
};

/* ---- dp.c ---- */

/*
 * As look_again(), and opens ports anew whose interface was taken away and is there again. Not from a callback of this
 * transport. 0, or PVMI_EDOWN: no port is usable.
 */
int pvmi_dp_ports_renew(struct dp_transport *t);

/* ---- link.c ---- */

int pvmi_dp_link_offer(struct pvmi_transport *base, void *owner, uint8_t blob[PVMI_OFFER_MAX], int *fd,
                       struct pvmi_endpoint **out);
int pvmi_dp_link_join(struct pvmi_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                      uint8_t reply[PVMI_OFFER_MAX], struct pvmi_endpoint **out);
int pvmi_dp_link_joined(struct pvmi_endpoint *base, const uint8_t *reply, size_t length);
void pvmi_dp_link_disconnect(struct pvmi_endpoint *base);
int pvmi_dp_link_send(struct pvmi_endpoint *base, struct pvmi_frame *f);

/* A packet for this link came by port `port`. 0, or why not; PVMI_EDENIED: its sender takes us for somebody else. */
int pvmi_dp_link_take(struct dp_link *l, unsigned port, const uint8_t *hardware, const struct pvmi_dp_message *m,
                      const uint8_t *packet);

/* Does what is due: sends, calls back, notes when to look again. Returns how many things happened. */
int pvmi_dp_link_settle(struct dp_link *l);

/* Sends what is owed before we sleep. */
void pvmi_dp_link_acknowledge(struct dp_link *l);

/* After look_again(): breaks the links that have no way left. */
void pvmi_dp_links_check(struct dp_transport *t);

/* Frees the dead whose owners are done with them. */
void pvmi_dp_links_bury(struct dp_transport *t);

/* How much of the rings each peer may fill, now that the ports are open. */
void pvmi_dp_links_share(struct dp_transport *t);

/* Frees a link without telling anybody. */
void pvmi_dp_link_free(struct dp_link *l);

/* ---- listing.c ---- */

/* As describe() of transport.h. */
void pvmi_dp_describe(void (*line)(void *arg, const char *text), void *arg);

/* ---- move.c ---- */

int pvmi_dp_progress(struct pvmi_transport *base);
int pvmi_dp_arm(struct pvmi_transport *base);

/* Whether the port's interface was in order when it was last used, or may be again. */
bool pvmi_dp_port_is_usable(const struct dp_transport *t, const struct dp_port *p);

/* Looks which interfaces are up again; whether any is usable. */
bool pvmi_dp_ports_look_again(struct dp_transport *t);

/* Sends what has been gathered. */
void pvmi_dp_flush(struct dp_transport *t);

/* Notes that a link is to be settled. */
static inline void pvmi_dp_touch(struct dp_link *l)
{
    struct dp_transport *t = (struct dp_transport *)l->base.transport;
    if (l->touched)
        return;
    l->touched = true;
    l->next_touched = t->touched;
    t->touched = l;
}

/* Whether the link is in the touched and owing lists: then its memory must stay. */
static inline bool pvmi_dp_is_listed(const struct dp_link *l)
{
    return l->touched || l->owing;
}

#endif
