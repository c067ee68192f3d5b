/*
 * session.h - a reliable channel to one peer: from the first hello over the connection of the reliability layer to its
 * end; and all sessions of an endpoint together.
 *
 * A peer that was opened anew says hello with a new number. Its old connection stays until a packet shows that the new
 * one is real, since hellos can be late or forged. For strangers who only say hello no more is kept than their numbers.
 */
#ifndef PVMI_DP_SESSION_H
#define PVMI_DP_SESSION_H

#include "../transports/reliable/reliable.h"
#include "../../include/dp.h"
#include "peer.h"

/* A message on its way, with room for all headers before it. */
struct pvmi_parcel {
    struct pvmi_parcel *next;
    uint32_t length;
    unsigned waiting; /* times that it is in the outbox */
    uint8_t frame[];
};

#define PVMI_PARCEL_HEADERS (PVMI_DP_HEADERS_BYTES + PVMI_RELIABLE_HEADER_BYTES)

struct pvmi_session {
    struct pvmi_endpoint *e;
    struct pvmi_peer *peer;
    struct pvmi_reliable *r;       /* the connection; NULL: none */
    uint32_t own, other;           /* its incarnations */
    uint32_t next_own, next_other; /* of the connection to be; 0: not known */
    bool asks;                     /* we say hello until we are answered */
    bool dead, reset;              /* to be told to who writes */
    bool leaves;                   /* the peer said bye */
    bool parted;                   /* it answered our bye */
    int64_t ask_us, pause_us;      /* when to say hello again */
    int64_t give_up_us;
    struct pvmi_parcel *first, *last; /* written and not acknowledged */
    unsigned queued;
    struct pvmi_parcel *sending;      /* of which emit() is given the bytes */
    struct pvmi_session *after, **at; /* in the endpoint's list of sessions with a connection or a question */
};

/* What all sessions of an endpoint share. */
struct pvmi_sessions {
    struct pvmi_session *active;
    unsigned count;               /* of active ones */
    int64_t due_us;               /* not before this time has any of them work to do */
    struct pvmi_session *touched; /* got packets and was not yet let do what follows from them */
    struct pvmi_parcel *spare;
    unsigned spares;
    const uint8_t *taking; /* the packet that is being taken, in the ring */
    bool kept;             /* it has become a message */
    bool died;             /* a session has; until somebody was told */
    bool starved;          /* peers have less credit than they might because messages are not read */
};

/* The longest message of a reliable endpoint. */
int pvmi_session_room(const struct pvmi_endpoint *e);

/*
 * Sends: 0; PVMI_EAGAIN: too much is on its way; PVMI_EUNREACHABLE: the peer is dead; PVMI_ESHORT: it was opened anew,
 * and what it had not acknowledged is lost; PVMI_ENOMEM. Death and new life are told once.
 */
int pvmi_session_write(struct pvmi_endpoint *e, struct pvmi_peer *p, const void *data, uint32_t length, int64_t now_us);

/* A frame of kind RELIABLE or HELLO came. False: refused. */
bool pvmi_session_take(struct pvmi_endpoint *e, const uint8_t *frame, const struct pvmi_dp_message *m, int64_t now_us);

/* What follows from the packets that were taken: acknowledgements, packets that there is room for. */
void pvmi_session_settle(struct pvmi_endpoint *e, int64_t now_us);

/* What time asks for. */
void pvmi_session_tick(struct pvmi_endpoint *e, int64_t now_us);

/* Acknowledges what is owed, before the owner sleeps for who knows how long. */
void pvmi_session_acknowledge(struct pvmi_endpoint *e, int64_t now_us);

/* Messages were released: peers that were short of credit get more. */
void pvmi_session_feed(struct pvmi_endpoint *e);

/* Messages that are not acknowledged, of all peers. */
unsigned pvmi_session_pending(const struct pvmi_endpoint *e);

/* Says bye to all peers that have not parted. False: there are none. */
bool pvmi_session_part(struct pvmi_endpoint *e, int64_t now_us);

/* Adds what its connection, which it has, has counted. */
void pvmi_session_count(const struct pvmi_session *s, dpstats_t *all);

/* Ends a session without a word. NULL is allowed. */
void pvmi_session_free(struct pvmi_session *s);
void pvmi_session_free_spares(struct pvmi_endpoint *e);

/* ---- between session.c and flow.c ---- */

/* A connection of the session's next incarnations. NULL: out of memory. */
struct pvmi_reliable *pvmi_flow_new(struct pvmi_session *s);

/* Hands a parcel to the connection. 0 or as pvmi_reliable_send(). */
int pvmi_flow_send(struct pvmi_session *s, struct pvmi_parcel *parcel, int64_t now_us);

/* A packet for connection r of this session. False: refused. */
bool pvmi_flow_take(struct pvmi_session *s, struct pvmi_reliable *r, const uint8_t *packet, size_t length,
                    int64_t now_us);

/* Messages that may be unacknowledged by one peer. */
unsigned pvmi_flow_window(const struct pvmi_endpoint *e);

/* Lets the connection do what is due. False: the peer is dead. */
bool pvmi_flow_work(struct pvmi_session *s, int64_t now_us);

struct pvmi_parcel *pvmi_parcel_new(struct pvmi_endpoint *e, const void *data, uint32_t length);
void pvmi_parcel_free(struct pvmi_endpoint *e, struct pvmi_parcel *parcel);
void pvmi_parcel_push(struct pvmi_session *s, struct pvmi_parcel *parcel);
struct pvmi_parcel *pvmi_parcel_pop(struct pvmi_session *s);

#endif
