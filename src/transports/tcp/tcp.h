/*
 * tcp.h - the parts of the TCP transport and what they share.
 *
 *  tcp.c         the table of functions, progress, the timer
 *  door.c        the offering side: listening sockets and the strangers that connect to them
 *  dial.c        the joining side: attempts at the addresses of an offer
 *  link.c        the data path of a connection that is up
 *  offer.c, candidates.c, address.c, secrecy.c, tls.c   what these are made of
 */
#ifndef PVMI_TCP_H
#define PVMI_TCP_H

#include "../transport.h"
#include "candidates.h"
#include "offer.h"
#include "tls.h"

#define TCP_STRANGERS_MAX  32 /* connections that have not shown a ticket */
#define TCP_STRANGER_US    5000000
#define TCP_REMEMBERED_MAX 64
#define TCP_QUEUE_MAX      32 /* frames behind a full socket */
#define TCP_SCRATCH_BYTES  65536

enum tcp_kind { TCP_LISTENER, TCP_STRANGER, TCP_ATTEMPT, TCP_LINK, TCP_TIMER };

/* First member of all that epoll watches: what its events point to. */
struct tcp_watch {
    enum tcp_kind kind;
    int fd; /* -1: not in use; late events are ignored */
};

struct tcp_settings {
    bool nodelay;
    struct pvmi_tcp_secrecy secrecy;
    int send_bytes, receive_bytes; /* of the sockets' buffers, 0: the system's */
    unsigned port_low, port_high;  /* 0: any */
    char *interfaces;              /* PVM_TCP_IF */
    unsigned silence_ms;           /* in which nothing of what we sent is acknowledged: the link is down */
};

enum tcp_state { TCP_OFFERED, TCP_DIALING, TCP_UP };

struct tcp_link {
    struct pvmi_endpoint base;
    struct tcp_watch watch;
    struct pvmw_tls *tls; /* NULL: plain */
    enum tcp_state state;
    bool dead;       /* disconnected or down; freed when progress() is over */
    bool told;       /* its owner knows */
    bool broken;     /* writing failed */
    bool want_ready; /* tx_ready is due */
    bool polls_out;  /* epoll watches for room */
    bool aside;      /* epoll does not watch it: see pvmi_tcp_link_set_aside() */
    unsigned found;  /* times that data was found without epoll since it was watched */
    bool last_large; /* the last frame's payload was large: expect another */

    struct pvmw_tls_key ticket; /* while offered or dialing */
    struct tcp_dial *dial;      /* while dialing */

    struct pvmi_frame *queue[TCP_QUEUE_MAX]; /* taken, not out; a ring */
    unsigned queue_first, queued;
    size_t queue_bytes;
    size_t tx_done; /* bytes of the queue's first frame that are out, header included */

    uint8_t header_bytes[PVMI_FRAME_HEADER_BYTES];
    size_t header_have;
    struct pvmi_frame_header rx; /* valid while in_payload */
    bool in_payload;
    uint8_t *place; /* NULL: the payload is dropped */
    uint32_t placed;
    struct tcp_link *prev, *next;
};

/* Somebody who connected and has not shown a ticket. */
struct tcp_stranger {
    struct tcp_watch watch;
    int64_t expires_us;
    uint8_t hello[PVMI_TCP_HELLO_BYTES];
    size_t have;
    struct tcp_link *link; /* TLS is being set up for this offer */
    struct pvmw_tls *tls;
};

struct tcp_listener {
    struct tcp_watch watch;
    union pvmi_tcp_address address;
};

/* Open while an offer waits. */
struct tcp_door {
    unsigned offers; /* that wait */
    unsigned listeners;
    struct tcp_listener listener[PVMI_TCP_OFFERED_MAX];
    unsigned strangers;
    struct tcp_stranger stranger[TCP_STRANGERS_MAX];
};

/* Where tasks of a host were reached. */
struct tcp_remembered {
    uint8_t host[PVMI_TCP_HOST_BYTES];
    union pvmi_tcp_address address; /* family 0: free */
};

struct tcp_transport {
    struct pvmi_transport base;
    struct tcp_settings settings;
    const struct pvmi_tcp_tls_ops *tls; /* NULL: not loaded, see pvmi_tcp_need_tls() */
    uint8_t host[PVMI_TCP_HOST_BYTES];
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

/* epoll_ctl for w->fd: 0, or PVMI_ELIMIT or PVMI_ESYSTEM. */
int pvmi_tcp_watch(struct tcp_transport *t, int op, struct tcp_watch *w, uint32_t events);

/* Ends the watch and closes the descriptor, if there is one. */
void pvmi_tcp_unwatch(struct tcp_transport *t, struct tcp_watch *w);

/* A non-blocking socket of this family with the user's buffer sizes; -1 and errno. */
int pvmi_tcp_socket(const struct tcp_transport *t, int family);

/* Loads what encrypts, before the first link that must be: false if it cannot be, logged. */
bool pvmi_tcp_need_tls(struct tcp_transport *t);

/* Takes what is to be told of an errno of socket, connect ... : PVMI_ELIMIT for a lack of descriptors or ports. */
int pvmi_tcp_error(int number);

/* Says why pvmi_tcp_locals() gave `rc`; returns a PVMI_E code. */
int pvmi_tcp_say_no_address(struct tcp_transport *t, int rc);

/* ---- door.c ---- */

/* One offer more waits: opens the door for the first. Fills in where it listens. 0 or a PVMI_E code, logged. */
int pvmi_tcp_door_enter(struct tcp_transport *t, struct pvmi_tcp_offer *offer);

/* The offer of this link no longer waits: forgets who came for it, closes the door behind the last. */
void pvmi_tcp_door_leave(struct tcp_transport *t, struct tcp_link *e);

void pvmi_tcp_door_accept(struct tcp_transport *t, struct tcp_listener *l);
void pvmi_tcp_door_hear(struct tcp_transport *t, struct tcp_stranger *s);

/* Sends strangers away whose time is over. */
void pvmi_tcp_door_expire(struct tcp_transport *t, int64_t now_us);

/* When the next stranger's time is over; INT64_MAX: there is none. */
int64_t pvmi_tcp_door_due(const struct tcp_transport *t);

/* ---- dial.c ---- */

/* Starts to connect the link. 0 or a PVMI_E code when none of the addresses can be tried, logged. */
int pvmi_tcp_dial_start(struct tcp_link *e, const struct pvmi_tcp_offer *offer);
void pvmi_tcp_dial_continue(struct tcp_watch *attempt);

/* Tries the next address where it is time to. */
void pvmi_tcp_dial_expire(struct tcp_transport *t, int64_t now_us);
int64_t pvmi_tcp_dial_due(const struct tcp_transport *t);

/* The owner gives up; said in the log with the addresses tried. */
void pvmi_tcp_dial_cancel(struct tcp_link *e);

/* Ends the dial without a word. */
void pvmi_tcp_dial_drop(struct tcp_link *e);
void pvmi_tcp_dial_free_spent(struct tcp_transport *t);

/* ---- link.c ---- */

int pvmi_tcp_link_new(struct tcp_transport *t, void *owner, enum tcp_state state, struct tcp_link **out);

/* The connection stands: takes over descriptor (which epoll watches already) and tls, and tells the owner. */
void pvmi_tcp_link_up(struct tcp_link *e, struct tcp_watch *from, struct pvmw_tls *tls);

/*
 * A socket that epoll watches costs each sender's write some 0.2 us more. A link that is read directly, and gives data
 * again and again while nobody sleeps, is therefore taken out of epoll, until somebody arms the transport.
 */
void pvmi_tcp_link_set_aside(struct tcp_link *e);
void pvmi_tcp_links_watch_all(struct tcp_transport *t);

/* Takes the link out of service; its memory stays until nobody on the stack can be using it. */
void pvmi_tcp_link_bury(struct tcp_link *e);

/* The connection is lost. The owner hears it once and then calls disconnect. */
void pvmi_tcp_link_down(struct tcp_link *e, int reason);
void pvmi_tcp_link_free(struct tcp_link *e);
int pvmi_tcp_link_send(struct pvmi_endpoint *base, struct pvmi_frame *f);

/* Writes on what is queued. */
void pvmi_tcp_link_writable(struct tcp_link *e);

/* Reads what is there; returns how often. */
int pvmi_tcp_link_readable(struct tcp_link *e);

#endif
