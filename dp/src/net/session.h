/*
 * session.h - a reliable channel to one peer, from the first hello through the connection of the reliability layer to
 * its end; and all sessions of an endpoint.
 *
 * A peer that was closed and opened again says hello with a new incarnation. The old connection stays until a packet
 * proves the new one, since a hello can be late or forged. A stranger that has only said hello gets no connection: only
 * the incarnations are stored.
 */
#ifndef DPI_DP_SESSION_H
#define DPI_DP_SESSION_H

#include "wire/reliable/reliable.h"
#include "dp.h"
#include "peer.h"

/* A send buffer: a message that is not acknowledged yet, with room for all headers before it. */
struct dpi_sendbuf {
    struct dpi_sendbuf *next;
    uint32_t length;
    unsigned waiting; /* number of its frames in the outbox */
    uint8_t frame[];
};

#define DPI_SENDBUF_HEADERS (DPI_HEADERS_BYTES + PVMW_RELIABLE_HEADER_BYTES)

struct dpi_session {
    struct dpi_endpoint *e;
    struct dpi_peer *peer;
    struct pvmw_reliable *r;       /* the connection; NULL: none */
    uint32_t own, other;           /* its incarnations */
    uint32_t next_own, next_other; /* of the next connection; 0: not known */
    bool asks;                     /* we repeat our hello until it is answered */
    bool dead, reset;              /* the next write reports it */
    bool leaves;                   /* the peer said bye */
    bool parted;                   /* the peer answered our bye */
    int64_t ask_us, pause_us;      /* when to say hello again */
    int64_t give_up_us;
    struct dpi_sendbuf *first, *last; /* written and not acknowledged */
    unsigned queued;
    struct dpi_sendbuf *sending;     /* its bytes are given to emit() */
    struct dpi_session *after, **at; /* in the endpoint's list of sessions with a connection or an unanswered hello */
};

/* All sessions of an endpoint. */
struct dpi_sessions {
    struct dpi_session *active;
    unsigned count;              /* of active ones */
    int64_t due_us;              /* no session has work to do before this time */
    struct dpi_session *touched; /* sessions with packets not yet acted on */
    struct dpi_sendbuf *spare;
    unsigned spares;
    const uint8_t *taking; /* the packet that is being taken, in the ring */
    bool kept;             /* it is in the inbox, so its slot stays */
    bool died;             /* a session died, and no call has reported it yet */
    bool starved;          /* unread messages withhold credit from peers */
};

/* The longest message of a reliable endpoint. */
int dpi_session_room(const struct dpi_endpoint *e);

/*
 * Sends: 0; PVMC_EAGAIN: too many messages are not acknowledged; PVMC_EUNREACHABLE: the peer is dead; PVMC_ESHORT: the
 * peer was opened again, and messages that it had not acknowledged are lost; PVMC_ENOMEM. Both are reported once.
 */
int dpi_session_write(struct dpi_endpoint *e, struct dpi_peer *p, const void *data, uint32_t length, int64_t now_us);

/* Takes a frame of kind RELIABLE or HELLO. False: refused. */
bool dpi_session_take(struct dpi_endpoint *e, const uint8_t *frame, const struct dpi_message *m, int64_t now_us);

/* Acts on the packets that were taken: sends acknowledgements, and packets for which there is room now. */
void dpi_session_settle(struct dpi_endpoint *e, int64_t now_us);

/* Runs what is due by time: retransmissions, hellos, the end of silent peers. */
void dpi_session_tick(struct dpi_endpoint *e, int64_t now_us);

/* Sends delayed acknowledgements now, since the owner may sleep long. */
void dpi_session_acknowledge(struct dpi_endpoint *e, int64_t now_us);

/* Messages were released: grants the credit that was withheld from peers. */
void dpi_session_feed(struct dpi_endpoint *e);

/* Number of unacknowledged messages to all peers. */
unsigned dpi_session_pending(const struct dpi_endpoint *e);

/* Says bye to all peers that have not answered one. False: there are none. */
bool dpi_session_say_bye(struct dpi_endpoint *e, int64_t now_us);

/* Adds the counters of the connection, which must exist. */
void dpi_session_count(const struct dpi_session *s, dpstats_t *all);

/* Ends a session without telling the peer. NULL is allowed. */
void dpi_session_free(struct dpi_session *s);
void dpi_session_free_spares(struct dpi_endpoint *e);

/* ---- between session.c and flow.c ---- */

/* Creates a connection with the session's next incarnations. NULL: out of memory. */
struct pvmw_reliable *dpi_flow_new(struct dpi_session *s);

/* Hands a buffer to the connection. 0 or as pvmw_reliable_send(). */
int dpi_flow_send(struct dpi_session *s, struct dpi_sendbuf *buf, int64_t now_us);

/* Takes a packet for connection r of this session. False: refused. */
bool dpi_flow_take(struct dpi_session *s, struct pvmw_reliable *r, const uint8_t *packet, size_t length,
                   int64_t now_us);

/* Limit of unacknowledged messages to one peer. */
unsigned dpi_flow_window(const struct dpi_endpoint *e);

/* Does the connection's due work. False: the peer is dead. */
bool dpi_flow_work(struct dpi_session *s, int64_t now_us);

struct dpi_sendbuf *dpi_sendbuf_new(struct dpi_endpoint *e, const void *data, uint32_t length);
void dpi_sendbuf_free(struct dpi_endpoint *e, struct dpi_sendbuf *buf);
void dpi_sendbuf_push(struct dpi_session *s, struct dpi_sendbuf *buf);
struct dpi_sendbuf *dpi_sendbuf_pop(struct dpi_session *s);

#endif
