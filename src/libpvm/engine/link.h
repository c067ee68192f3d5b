/*
 * link.h - the connections of this task: one to our daemon, and direct ones to other tasks.
 *
 * Incoming frames pass through peer.c, which puts them in order, and then to pvmi_link_deliver(). Control messages go
 * to control.c, messages that the listener wants to the listener, and all others to the arrivals, where calls take them
 * in.
 */
#ifndef PVMI_LINK_H
#define PVMI_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include "core/message/frame.h"
#include "core/message/message.h"
#include "arrivals.h"
#include "carrier.h"
#include "libpvm/base/lock.h"
#include "peer.h"
#include "pvmproto.h"
#include "retransmit.h"

#define PVMI_LINK_SHARE_MAX 64 /* limit of links that get frames of one message at once */

enum pvmi_link_state {
    PVMI_LINK_OFFERED, /* by us; waits for the peer to join */
    PVMI_LINK_JOINED,  /* by us, on the peer's offer; waits for the peer's first frame */
    PVMI_LINK_UP,
};

struct pvmi_link {
    struct pvmt_endpoint *ep; /* NULL: down */
    struct pvmi_carrier *carrier;
    struct pvmi_peer *peer; /* NULL: the daemon's */
    enum pvmi_link_state state;
    bool ours;        /* offered by us */
    uint32_t attempt; /* its number, assigned by the offering side */
    uint32_t frame_max;
    uint32_t stream_bytes;       /* a stream sends when it has packed so many */
    bool early;                  /* attribute of the transport */
    bool takes;                  /* the transport has peek_whole() */
    bool at_once;                /* direct and lossless: what it accepts needs no further care */
    bool lossless, by_reference; /* attributes of the transport */
    bool refused;                /* a frame was refused: tx_ready will come */
    bool ack_due, ack_wanted;    /* a TC_ACK must be sent, and must request one in return */
    uint32_t unheard;            /* bytes sent since we last checked all links */
    uint32_t unacked_frames;     /* frames received since our last acknowledgement */
    uint32_t unacked_bytes;
    int64_t deadline_us; /* time limit for coming up; INT64_MAX: none */
    struct pvmi_arrival arrival;
    struct pvmw_window kept; /* retransmit queue, if not lossless */
    struct pvmi_link *prev, *next;
};

/* The link to our daemon. */
extern struct pvmi_link pvmi_daemon_link;

/* Number of times that all links were closed. A change tells a waiting call that what it waits for will not come. */
extern unsigned pvmi_link_epoch;

/* All direct links in any state. */
extern struct pvmi_link *pvmi_links;
extern unsigned pvmi_link_count;

/*
 * Callbacks of the room above, which makes direct links and asks the daemon. Without them there are no links. Set on
 * enrolment.
 */
struct pvmi_link_listener {
    void (*heard)(struct pvmi_link *l);              /* a link is up now: it delivered a frame, or may send */
    void (*lost)(struct pvmi_link *l, int reason);   /* a direct link is down; frees it */
    void (*unlinked)(pvmc_tid tid);                  /* the last link to that task has been freed */
    void (*forget_links)(struct pvmi_peer *p);       /* closes all links to p */
    void (*forget_abandoned)(struct pvmi_peer *p);   /* p is about to go, with its p->abandoned */
    void (*clear)(void);                             /* closes all direct links */
    void (*crowded)(void);                           /* many peers have come: asks which of them have ended */
    int (*alarm)(void);                              /* an alarm is due; returns the number of events */
    const struct pvmt_transport_ops *(*clock)(void); /* the transport whose network has a clock of its own, or NULL */
    bool (*take)(
        struct pvmc_message *m); /* takes over m (and the reference) if wanted; m is a daemon's or has a reserved tag */
};
extern const struct pvmi_link_listener *pvmi_link_listener;

/*
 * Called inside progress when a link or a receiver has room again; it may send. Set by route/stream.c while a stream
 * waits for room; NULL: none does.
 */
extern void (*pvmi_link_has_room)(void);

/* The next pvmi_link_progress() calls it: there may be room without a tx_ready, as after a change of route. */
void pvmi_link_retry(void);

/* While true, polling must notice the end of a link at once, not only after a while. Set by exit_notice.c. */
extern bool pvmi_link_end_is_due;

/* ---- our daemon ---- */

/* Connects to the daemon that listens on socket `path`. 0, PVMC_EAGAIN (busy, try again), PVMC_EUNREACHABLE, ... */
int pvmi_link_open(const char *path);

/* Closes all connections without notice; the other ends see it. Also for inherited copies in a forked child. */
void pvmi_link_close(void);

static inline bool pvmi_link_is_up(void)
{
    return pvmi_daemon_link.ep;
}

/* ---- direct links, for route.c ---- */

/* Creates a link to p over that transport, without an endpoint yet. NULL when out of memory. */
struct pvmi_link *pvmi_link_new(const struct pvmt_transport_ops *ops, struct pvmi_peer *p, enum pvmi_link_state state);

/* Closes and frees a direct link. Its unacknowledged frames move to its peer's retransmit queue. */
void pvmi_link_free(struct pvmi_link *l);

/* Sends a TC_ACK, now or as soon as there is room. Both ends greet with it, if the link may break. */
void pvmi_link_acknowledge(struct pvmi_link *l, bool want_one_back);

/* The descriptor that came with the current message, now the caller's; -1: none. */
int pvmi_link_take_descriptor(void);

/* ---- sending ---- */

/*
 * Sends a frame over a link. 0: accepted, and kept if necessary; PVMC_EAGAIN: not accepted, wait for
 * pvmi_link_is_ready(); PVMC_EDOWN.
 */
int pvmi_link_send(struct pvmi_link *l, struct pvmc_frame *f);

/*
 * Whether frames of one message to several tasks may be sent with pvmi_link_send_to_many() over l and, if not NULL,
 * `with`.
 */
bool pvmi_link_can_share(const struct pvmi_link *l, const struct pvmi_link *with);

/* Like send_to_many() of transport.h, for links that can share: 0: all are accepted, and kept; PVMC_EAGAIN: none. */
int pvmi_link_send_to_many(struct pvmi_link **links, struct pvmc_frame **frames, unsigned count);

/*
 * Sends a small message without a frame, by a link with at_once; its body is copied. Codes as for pvmi_link_send();
 * PVMC_EUNSUPPORTED: the transport cannot, the body is empty, or l is down; use pvmi_link_send().
 */
int pvmi_link_send_whole(struct pvmi_link *l, const struct pvmc_message *m, uint32_t seq);

/* Whether a send may succeed again after PVMC_EAGAIN. */
static inline bool pvmi_link_is_ready(const struct pvmi_link *l)
{
    return !l->ep || (!l->refused && !pvmi_retransmit_is_full(&l->kept));
}

/* Whether the transport needs no further progress of ours for what it has accepted, or the link is down. */
bool pvmi_link_is_idle(const struct pvmi_link *l);

/*
 * Whether it is time for pvmi_link_progress() after so much sending, because a sender must notice a TC_HOLD. Progress
 * may free links.
 */
bool pvmi_link_must_listen(const struct pvmi_link *l);

/* ---- all links ---- */

/* Moves data on all links without waiting. Returns the number of events, or PVMC_EDOWN (the daemon). */
int pvmi_link_progress(void);

/*
 * Like pvmi_link_progress(), for direct links only: cheap enough for polling, mostly without a system call. 0 when
 * there are none. Only pvmi_link_progress() listens to the daemon, so call that every few microseconds as well.
 */
int pvmi_link_progress_direct(void);

/* The same for a tight loop: see glance() in transport.h. */
int pvmi_link_glance_direct(void);

/* A descriptor that is readable when progress has something to do. Arm it first, and do not sleep if that returns 1. */
int pvmi_link_fd(void);
int pvmi_link_arm(void);

/* As pvmi_carrier_sleep_on(). */
unsigned pvmi_link_sleep_on(struct pollfd fds[PVMI_CARRIER_FDS]);

/* Like pvmi_virtual_sleep(), for all links. */
int pvmi_link_sleep_virtually(int64_t until_us);

/*
 * The next message from p, if it has come whole by its direct link, is small, and has this tag and context
 * (PVMI_INBOX_ANY leaves them open): the caller's reference. It does not pass the arrivals, which must be empty, nor
 * the handlers. NULL: poll.
 */
struct pvmc_message *pvmi_link_take_from(struct pvmi_peer *p, int tag, int ctx);

/* The task src as a peer, if pvmi_link_take_from() may have a message from it; else NULL. */
static inline struct pvmi_peer *pvmi_link_taker(int src)
{
    struct pvmi_peer *p = src > 0 && pvmi_link_count ? pvmi_peer_find((pvmc_tid)src) : NULL;
    return p && p->link && p->link->takes ? p : NULL;
}

/* Whether messages with these fields are for calls that receive, and for nobody else. */
static inline bool pvmi_link_is_plain(const struct pvmc_envelope *e)
{
    return e->tag > SM_LAST && e->ctx != PVMC_CTX_TC && !pvmc_tid_is_daemon(e->src);
}

/* pvmi_link_deliver() for messages that calls do not simply receive. */
void pvmi_link_deliver_special(struct pvmc_message *m);

/*
 * Delivers a complete message as described above; takes over the reference. Called by peer.c, and for messages to
 * ourselves.
 */
static inline void pvmi_link_deliver(struct pvmc_message *m)
{
    pvmi_lock_news = true;
    if (__builtin_expect(pvmi_link_is_plain(&m->envelope), 1))
        pvmi_arrivals_put(m);
    else
        pvmi_link_deliver_special(m);
}

#endif
