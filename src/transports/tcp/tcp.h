/*
 * tcp.h - the parts of the TCP transport and what they share.
 *
 *  tcp.c         the table of functions, progress, the timer
 *  door.c        the offering side: listening sockets and the strangers that connect to them
 *  dial.c        the joining side: attempts at the addresses of an offer
 *  link.c        a connection that is up
 *  offer.c, candidates.c, secrecy.c, tls.c   what these are made of
 */
#ifndef PVMT_TCP_H
#define PVMT_TCP_H

#include "transports/transport.h"
#include "wire/congestion.h"
#include "wire/interfaces.h"
#include "wire/socket.h"
#include "wire/stream.h"
#include "candidates.h"
#include "offer.h"
#include "tls.h"

#define TCP_STRANGERS_MAX  32 /* connections that have not shown a ticket */
#define TCP_STRANGER_US    5000000
#define TCP_REMEMBERED_MAX 64
#define TCP_SCRATCH_BYTES  65536

enum tcp_kind { TCP_LISTENER, TCP_STRANGER, TCP_ATTEMPT, TCP_LINK, TCP_TIMER };

/* First member of everything that epoll watches: its events point here. */
struct tcp_watch {
    enum tcp_kind kind;
    int fd; /* -1: unused; late events are ignored */
};

struct tcp_settings {
    bool nodelay;
    struct pvmt_tcp_secrecy secrecy;
    struct pvmw_socket_buffers buffers;
    char congestion[PVMW_CONGESTION_NAME_BYTES];
    unsigned port_low, port_high; /* 0: any */
    char *interfaces;             /* PVM_TCP_IF */
    unsigned silence_ms;          /* limit of time without acknowledgement of sent data; after that the link is down */
};

enum tcp_state { TCP_OFFERED, TCP_DIALING, TCP_UP };

struct tcp_link {
    struct pvmt_endpoint base;
    struct tcp_watch watch;
    struct pvmw_stream stream; /* ended: disconnected or down; freed when progress() is over */
    enum tcp_state state;
    bool told;       /* its owner has been told */
    bool want_ready; /* tx_ready is due */
    bool polls_out;  /* epoll watches for room */
    bool aside;      /* epoll does not watch it, see pvmt_tcp_link_set_aside() */
    unsigned found;  /* times that data was found without epoll since epoll began to watch it */

    struct pvmw_tls_key ticket; /* while offered or dialing */
    struct tcp_dial *dial;      /* while dialing */
    struct tcp_link *prev, *next;
};

/* A connection that has not shown a ticket. */
struct tcp_stranger {
    struct tcp_watch watch;
    int64_t expires_us;
    uint8_t hello[PVMT_TCP_HELLO_BYTES];
    size_t have;
    struct tcp_link *link; /* the offer for which TLS is being set up */
    struct pvmw_tls *tls;
};

struct tcp_listener {
    struct tcp_watch watch;
    union pvmw_address address;
};

/* Open while an offer waits. */
struct tcp_door {
    unsigned offers; /* number of waiting offers */
    unsigned listeners;
    struct tcp_listener listener[PVMT_TCP_OFFERED_MAX];
    unsigned strangers;
    struct tcp_stranger stranger[TCP_STRANGERS_MAX];
};

/* The address at which tasks of a host were reached. */
struct tcp_remembered {
    uint8_t host[PVMT_TCP_HOST_BYTES];
    union pvmw_address address; /* family 0: free */
};

struct tcp_transport {
    struct pvmt_transport base;
    struct tcp_settings settings;
    const struct pvmw_tls_ops *tls; /* NULL: not loaded, see pvmt_tcp_need_tls() */
    uint8_t host[PVMT_TCP_HOST_BYTES];
    pid_t pid; /* the owner: a forked child has only a copy */
    int epoll_fd;
    struct tcp_watch timer;
    int64_t timer_us; /* expiry; 0: not set */
    struct tcp_door door;
    struct tcp_remembered remembered[TCP_REMEMBERED_MAX];
    unsigned remembered_next;
    struct tcp_link *links;
    struct tcp_link *graveyard;           /* dead links to be freed */
    struct tcp_dial *spent;               /* finished dials to be freed */
    unsigned up, dialing, waiting, aside; /* numbers of links; waiting: for room in the socket */
    unsigned turn;
    bool unread;     /* a link has data that epoll does not know of */
    bool complained; /* a failure to join an offer was logged */
    bool in_progress;
    uint8_t scratch[TCP_SCRATCH_BYTES];
};

/* ---- tcp.c ---- */

/* epoll_ctl for w->fd: 0, or PVMC_ELIMIT or PVMC_ESYSTEM. */
int pvmt_tcp_watch(struct tcp_transport *t, int op, struct tcp_watch *w, uint32_t events);

/* Ends the watch and closes the descriptor, if there is one. */
void pvmt_tcp_unwatch(struct tcp_transport *t, struct tcp_watch *w);

/* Loads TLS before the first link that needs it: false if it cannot be loaded, logged. */
bool pvmt_tcp_need_tls(struct tcp_transport *t);

/* The PVMC_E code for an errno of socket(), connect() and the like: PVMC_ELIMIT when descriptors or ports are used up.
 */
int pvmt_tcp_error(int number);

/* Logs why pvmw_interfaces() returned `rc`; returns a PVMC_E code. */
int pvmt_tcp_say_no_address(struct tcp_transport *t, int rc);

/* ---- door.c ---- */

/* Adds a waiting offer and opens the door for the first one. Fills in where it listens. 0 or a PVMC_E code, logged. */
int pvmt_tcp_door_enter(struct tcp_transport *t, struct pvmt_tcp_offer *offer);

/* The offer of this link no longer waits: closes the strangers that came for it and, after the last offer, the door. */
void pvmt_tcp_door_leave(struct tcp_transport *t, struct tcp_link *e);

void pvmt_tcp_door_accept(struct tcp_transport *t, struct tcp_listener *l);
void pvmt_tcp_door_hear(struct tcp_transport *t, struct tcp_stranger *s);

/* Closes strangers whose time is up. */
void pvmt_tcp_door_expire(struct tcp_transport *t, int64_t now_us);

/* When the next stranger's time is up; INT64_MAX: there is none. */
int64_t pvmt_tcp_door_due(const struct tcp_transport *t);

/* ---- dial.c ---- */

/* Starts to connect the link. 0, or a PVMC_E code, logged, when none of the addresses can be tried. */
int pvmt_tcp_dial_start(struct tcp_link *e, const struct pvmt_tcp_offer *offer);
void pvmt_tcp_dial_continue(struct tcp_watch *attempt);

/* Tries the next addresses that are due. */
void pvmt_tcp_dial_expire(struct tcp_transport *t, int64_t now_us);
int64_t pvmt_tcp_dial_due(const struct tcp_transport *t);

/* Cancels the dial for the owner; logs the addresses tried. */
void pvmt_tcp_dial_cancel(struct tcp_link *e);

/* Ends the dial silently. */
void pvmt_tcp_dial_drop(struct tcp_link *e);
void pvmt_tcp_dial_free_spent(struct tcp_transport *t);

/* ---- link.c ---- */

int pvmt_tcp_link_new(struct tcp_transport *t, void *owner, enum tcp_state state, struct tcp_link **out);

/*
 * The connection is up: takes ownership of the descriptor (which epoll already watches) and tls, and tells the owner.
 */
void pvmt_tcp_link_up(struct tcp_link *e, struct tcp_watch *from, struct pvmw_tls *tls);

/*
 * A socket watched by epoll makes each send about 0.2 us slower. A link that is read directly, and has data again and
 * again, is therefore removed from epoll until the transport is armed. Who sleeps on the sockets themselves need not
 * arm it.
 */
void pvmt_tcp_link_set_aside(struct tcp_link *e);
void pvmt_tcp_links_watch_all(struct tcp_transport *t);

/* Takes the link out of service; its memory stays until nobody on the stack can be using it. */
void pvmt_tcp_link_bury(struct tcp_link *e);

/* The connection is lost. The owner is told once and then calls disconnect. */
void pvmt_tcp_link_down(struct tcp_link *e, int reason);
void pvmt_tcp_link_free(struct tcp_link *e);
int pvmt_tcp_link_send(struct pvmt_endpoint *base, struct pvmc_frame *f);

/* Continues to write queued data. */
void pvmt_tcp_link_writable(struct tcp_link *e);

/* Reads available data; returns the number of reads. */
int pvmt_tcp_link_readable(struct tcp_link *e);

#endif
