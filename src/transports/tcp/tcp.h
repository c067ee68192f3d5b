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

/* First member of all that epoll watches: what its events point to. */
struct tcp_watch {
    enum tcp_kind kind;
    int fd; /* -1: not in use; late events are ignored */
};

struct tcp_settings {
    bool nodelay;
    struct pvmt_tcp_secrecy secrecy;
    struct pvmw_socket_buffers buffers;
    unsigned port_low, port_high; /* 0: any */
    char *interfaces;             /* PVM_TCP_IF */
    unsigned silence_ms;          /* in which nothing of what we sent is acknowledged: the link is down */
};

enum tcp_state { TCP_OFFERED, TCP_DIALING, TCP_UP };

struct tcp_link {
    struct pvmt_endpoint base;
    struct tcp_watch watch;
    struct pvmw_stream stream; /* ended: disconnected or down; freed when progress() is over */
    enum tcp_state state;
    bool told;       /* its owner knows */
    bool want_ready; /* tx_ready is due */
    bool polls_out;  /* epoll watches for room */
    bool aside;      /* epoll does not watch it: see pvmt_tcp_link_set_aside() */
    unsigned found;  /* times that data was found without epoll since it was watched */

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
    struct tcp_link *link; /* TLS is being set up for this offer */
    struct pvmw_tls *tls;
};

struct tcp_listener {
    struct tcp_watch watch;
    union pvmw_address address;
};

/* Open while an offer waits. */
struct tcp_door {
    unsigned offers; /* that wait */
    unsigned listeners;
    struct tcp_listener listener[PVMT_TCP_OFFERED_MAX];
    unsigned strangers;
    struct tcp_stranger stranger[TCP_STRANGERS_MAX];
};

/* Where tasks of a host were reached. */
struct tcp_remembered {
    uint8_t host[PVMT_TCP_HOST_BYTES];
    union pvmw_address address; /* family 0: free */
};

struct tcp_transport {
    struct pvmt_transport base;
    struct tcp_settings settings;
    const struct pvmw_tls_ops *tls; /* NULL: not loaded, see pvmt_tcp_need_tls() */
    uint8_t host[PVMT_TCP_HOST_BYTES];
    pid_t pid; /* whose it is: a forked child has only a copy */
    int epoll_fd;
    struct tcp_watch timer;
    int64_t timer_us; /* when it goes off; 0: not set */
    struct tcp_door door;
    struct tcp_remembered remembered[TCP_REMEMBERED_MAX];
    unsigned remembered_next;
    struct tcp_link *links;
    struct tcp_link *graveyard;           /* dead, to be freed */
    struct tcp_dial *spent;               /* over, to be freed */
    unsigned up, dialing, waiting, aside; /* links; waiting: for room */
    unsigned turn;
    bool unread;     /* a link was left with data that epoll does not know of */
    bool complained; /* that an offer could not be joined */
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

/* Says why pvmw_interfaces() gave `rc`; returns a PVMC_E code. */
int pvmt_tcp_say_no_address(struct tcp_transport *t, int rc);

/* ---- door.c ---- */

/* One offer more waits: opens the door for the first. Fills in where it listens. 0 or a PVMC_E code, logged. */
int pvmt_tcp_door_enter(struct tcp_transport *t, struct pvmt_tcp_offer *offer);

/* The offer of this link no longer waits: closes the strangers that came for it and, behind the last offer, the door.
 */
void pvmt_tcp_door_leave(struct tcp_transport *t, struct tcp_link *e);

void pvmt_tcp_door_accept(struct tcp_transport *t, struct tcp_listener *l);
void pvmt_tcp_door_hear(struct tcp_transport *t, struct tcp_stranger *s);

/* Sends strangers away whose time is over. */
void pvmt_tcp_door_expire(struct tcp_transport *t, int64_t now_us);

/* When the next stranger's time is over; INT64_MAX: there is none. */
int64_t pvmt_tcp_door_due(const struct tcp_transport *t);

/* ---- dial.c ---- */

/* Starts to connect the link. 0 or a PVMC_E code when none of the addresses can be tried, logged. */
int pvmt_tcp_dial_start(struct tcp_link *e, const struct pvmt_tcp_offer *offer);
void pvmt_tcp_dial_continue(struct tcp_watch *attempt);

/* Tries the next address where it is time to. */
void pvmt_tcp_dial_expire(struct tcp_transport *t, int64_t now_us);
int64_t pvmt_tcp_dial_due(const struct tcp_transport *t);

/* The owner gives up; said in the log with the addresses tried. */
void pvmt_tcp_dial_cancel(struct tcp_link *e);

/* Ends the dial without a word. */
void pvmt_tcp_dial_drop(struct tcp_link *e);
void pvmt_tcp_dial_free_spent(struct tcp_transport *t);

/* ---- link.c ---- */

int pvmt_tcp_link_new(struct tcp_transport *t, void *owner, enum tcp_state state, struct tcp_link **out);

/* The connection stands: takes over descriptor (which epoll watches already) and tls, and tells the owner. */
void pvmt_tcp_link_up(struct tcp_link *e, struct tcp_watch *from, struct pvmw_tls *tls);

/*
 * A socket that epoll watches costs each sender's write some 0.2 us more. A link that is read directly, and gives data
 * again and again while nobody sleeps, is therefore taken out of epoll, until somebody arms the transport.
 */
void pvmt_tcp_link_set_aside(struct tcp_link *e);
void pvmt_tcp_links_watch_all(struct tcp_transport *t);

/* Takes the link out of service; its memory stays until nobody on the stack can be using it. */
void pvmt_tcp_link_bury(struct tcp_link *e);

/* The connection is lost. The owner hears it once and then calls disconnect. */
void pvmt_tcp_link_down(struct tcp_link *e, int reason);
void pvmt_tcp_link_free(struct tcp_link *e);
int pvmt_tcp_link_send(struct pvmt_endpoint *base, struct pvmc_frame *f);

/* Writes on what is queued. */
void pvmt_tcp_link_writable(struct tcp_link *e);

/* Reads what is there; returns how often. */
int pvmt_tcp_link_readable(struct tcp_link *e);

#endif
