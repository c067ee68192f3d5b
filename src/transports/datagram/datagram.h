/*
 * datagram.h - a transport over a carrier that may lose packets: the common part of dp and atm.
 *
 * It manages the links, each with a reliable connection (or an assured one of the carrier's), and their timers, sends
 * acknowledgements before the process sleeps, and keeps the memory of a dead link until nobody on the stack can be
 * using it. The carrier finds a packet's path and moves the packet.
 *
 * A carrier's transport begins with struct pvmt_datagram, its link with struct pvmt_datagram_link. Its table of
 * transport.h names the functions below, or functions of its own that call them.
 *
 *  datagram.c  opening, progress, waiting, closing
 *  link.c      life cycle of a link
 *  frames.c    its frames, on the reliable connection
 *  assured.c   its frames, on a connection of the carrier's that loses nothing
 */
#ifndef PVMT_DATAGRAM_H
#define PVMT_DATAGRAM_H

#include <sys/epoll.h>
#include <sys/types.h>
#include "core/clock.h"
#include "core/hash.h"
#include "wire/timers.h"
#include "transports/transport.h"
#include "frames.h"

struct pvmt_datagram_link {
    struct pvmt_endpoint ep;
    struct pvmt_frames frames;
    struct pvmw_timer timer;
    int64_t up_until_us; /* time limit for coming up, from when the peer is known on; INT64_MAX: none yet */
    uint32_t own;        /* incarnation: names this end to the peer */
    bool up;             /* packets can be sent */
    bool over;           /* the carrier has lost the peer: down() is due, with `reason` */
    bool dead;           /* disconnected or down: freed after progress() if `told` is set */
    bool told;           /* the owner has disconnected it */
    bool touched;        /* in the list of links to be settled */
    bool owing;          /* in the list of links to be acknowledged before we sleep */
    int reason;
    UT_hash_handle hh; /* by own */
    struct pvmt_datagram_link *next_touched, *next_owing;
    struct pvmt_datagram_link *prev, *next; /* in the graveyard */
};

struct pvmt_datagram {
    struct pvmt_transport transport;
    const struct pvmt_datagram_carrier *carrier;
    pid_t pid; /* the owner: a forked child has only a copy */
    int epoll_fd, timer_fd;
    int64_t timer_us;      /* expiry; 0: not set */
    int64_t now_us;        /* as of the current call */
    int64_t dead_after_us; /* as in pvmw_reliable_settings; also how long a known peer's link may take to come up */
    struct pvmt_datagram_link *links, *graveyard, *touched, *owing;
    struct pvmt_datagram_link *last; /* receiver of the last packet */
    struct pvmw_timers timers;
    bool in_progress;
    bool keeps_debts; /* does not acknowledge before a sleep, but when it is due: the network wakes the process then */
};

struct pvmt_datagram_carrier {
    const struct pvmt_transport_ops *ops;
    size_t transport_bytes, link_bytes; /* of its own structs */

    /* Opens the carrier. 0 or a PVMC_E code; close() follows in any case. */
    int (*open)(struct pvmt_datagram *t);

    /* Closes the carrier; no links are left. A forked child (getpid() differs from t->pid) only closes its copies. */
    void (*close)(struct pvmt_datagram *t);

    /* Prepares a link that waits for its peer, and writes what the peer must know. Returns its length or an error. */
    int (*offer)(struct pvmt_datagram_link *l, uint8_t blob[PVMT_OFFER_MAX]);

    /* Connects a link to the one that made this offer, and writes the reply. Returns its length or an error. */
    int (*join)(struct pvmt_datagram_link *l, const uint8_t *blob, size_t length, uint8_t reply[PVMT_OFFER_MAX]);

    /* The reply to offer(): connects the link. 0 or a PVMC_E code. */
    int (*joined)(struct pvmt_datagram_link *l, const uint8_t *reply, size_t length);

    /* Releases the resources of a link that goes out of service. Its peer has been told if possible. */
    void (*leave)(struct pvmt_datagram_link *l);

    /* Like emit() of reliable.h. */
    int (*emit)(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count);

    /* Optional: sends what emit() has gathered. */
    void (*flush)(struct pvmt_datagram *t);

    /* Passes received packets to pvmt_datagram_take(). Returns the number of events; sets now_us unless that is 0. */
    int (*hear)(struct pvmt_datagram *t);

    /* Optional: whether hear() would find something now. */
    bool (*has_packets)(struct pvmt_datagram *t);

    /* Called before a sleep that must end at due_us (INT64_MAX: never). Like arm() of transport.h. */
    int (*sleep_until)(struct pvmt_datagram *t, int64_t due_us);
};

/* ---- functions of transport.h ---- */

int pvmt_datagram_open(const struct pvmt_datagram_carrier *carrier, const char *address,
                       const struct pvmt_callbacks *callbacks, void *arg, struct pvmt_transport **out);
void pvmt_datagram_close(struct pvmt_transport *base);
int pvmt_datagram_offer(struct pvmt_transport *base, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                        struct pvmt_endpoint **out);
int pvmt_datagram_join(struct pvmt_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                       uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out);
int pvmt_datagram_joined(struct pvmt_endpoint *ep, const uint8_t *reply, size_t length);
void pvmt_datagram_disconnect(struct pvmt_endpoint *ep);
int pvmt_datagram_send(struct pvmt_endpoint *ep, struct pvmc_frame *f);
size_t pvmt_datagram_pending(const struct pvmt_endpoint *ep);
size_t pvmt_datagram_unsent(const struct pvmt_endpoint *ep);
int pvmt_datagram_progress(struct pvmt_transport *base);
int pvmt_datagram_fd(struct pvmt_transport *base);
int pvmt_datagram_arm(struct pvmt_transport *base);

/* ---- called by the carrier ---- */

/* Wakes the process when fd is readable; hear() finds `data` in epoll_fd's events. 0 or PVMC_ESYSTEM. */
int pvmt_datagram_watch(const struct pvmt_datagram *t, int fd, epoll_data_t data);

/* Wakes the process at due_us; INT64_MAX: never. It may wake earlier, which does no harm. */
void pvmt_datagram_wake_at(struct pvmt_datagram *t, int64_t due_us);

/* The link of this incarnation, or NULL. */
struct pvmt_datagram_link *pvmt_datagram_find(struct pvmt_datagram *t, uint32_t own);

/*
 * Creates the connection once the peer is known. 0 or PVMC_ENOMEM. If pvmt_datagram_up() does not follow in time, the
 * link is lost: PVMC_ETIMEOUT.
 */
int pvmt_datagram_connect(struct pvmt_datagram_link *l, const struct pvmw_reliable_settings *settings, uint32_t peer);

/* The same for a connection of the carrier's that loses nothing: it calls pvmt_datagram_hear() instead of _take(). */
int pvmt_datagram_connect_assured(struct pvmt_datagram_link *l, const struct pvmt_assured_carrier *assured);

/* Something has arrived for an assured link, or there is room again. */
void pvmt_datagram_hear(struct pvmt_datagram_link *l);

/* Packets can be sent from now on: sends the first probe. */
void pvmt_datagram_up(struct pvmt_datagram_link *l);

/* Processes a packet for a link that is up. Like pvmw_reliable_take(). */
int pvmt_datagram_take(struct pvmt_datagram_link *l, const uint8_t *packet, size_t length);

/* The path to the peer is lost: progress() will call down(). */
void pvmt_datagram_lose(struct pvmt_datagram_link *l, int reason);

/* Marks a link for progress() to settle. */
static inline void pvmt_datagram_touch(struct pvmt_datagram_link *l)
{
    struct pvmt_datagram *t = (struct pvmt_datagram *)l->ep.transport;
    if (l->touched)
        return;
    l->touched = true;
    l->next_touched = t->touched;
    t->touched = l;
}

/* Called at the start of a call from the layer above: reads the clock, unless progress() has done so. */
static inline void pvmt_datagram_enter(struct pvmt_datagram *t)
{
    if (!t->in_progress)
        t->now_us = pvmc_clock_us();
}

/* ---- between datagram.c and link.c ---- */

/* Handles what is due: sends, calls back, sets the timer. Returns the number of events. */
int pvmt_datagram_settle(struct pvmt_datagram_link *l);

/* Sets the link's timer to when something is due next. */
void pvmt_datagram_set_timer(struct pvmt_datagram_link *l);

/* Frees the dead links that their owners have disconnected. */
void pvmt_datagram_bury(struct pvmt_datagram *t);

/* Frees all links without telling their owners. The peers are told unless this is a forked child. */
void pvmt_datagram_drop(struct pvmt_datagram *t);

static inline void pvmt_datagram_flush(struct pvmt_datagram *t)
{
    if (t->carrier->flush)
        t->carrier->flush(t);
}

#endif
