/*
 * endpoint.h - an endpoint, and what the files of libdp share of it.
 *
 * The user's descriptor is an epoll set. In it are the socket and a timer, edge-triggered, and a bell for messages that
 * wait in memory of ours. The socket's ring counts as readable for as long as its newest frame is not released, read or
 * not; an edge says that something came, and is taken back by who looks and finds nothing. So a stream of messages
 * costs no system call but for those that send.
 */
#ifndef PVMI_DP_ENDPOINT_H
#define PVMI_DP_ENDPOINT_H

#include "../../include/dp.h"
#include "../transports/dp/nart.h"
#include "inbox.h"
#include "outbox.h"
#include "peer.h"
#include "session.h"

#define PVMI_ENDPOINT_FRAMES 1024 /* of a pool, unless that is more than PVMI_ENDPOINT_POOL_BYTES */

struct pvmi_endpoint {
    struct pvmi_dp_port port;
    int fd;                        /* the user's: an epoll set */
    int door;                      /* where endpoints of this host knock; its name says that this one is taken */
    struct pvmi_channel *channels; /* from them */
    int mode;
    bool spins;
    bool in_use;                     /* a target was named or something was read: the mode stays */
    struct pvmi_peer *target;        /* NULL: none */
    struct pvmi_peer *peers;         /* hash */
    struct pvmi_dp_point *strangers; /* a ring of PVMI_STRANGERS_MAX; NULL until there is one */
    unsigned met;                    /* strangers so far */
    struct pvmi_nart *nart;
    int64_t now_us; /* while frames are taken: when that began */
    unsigned held;  /* raw messages that were read and not released, while there is no inbox */
    bool has_inbox; /* messages may be elsewhere than in the ring */
    struct pvmi_inbox inbox;
    struct pvmi_outbox outbox;
    unsigned writes;    /* in a row: nothing else was called since */
    int64_t written_us; /* when the last one was */
    struct pvmi_sessions sessions;
    int timer, bell;  /* in the epoll set, made when there is an inbox; -1 */
    unsigned tries;   /* of dp_try() that found nothing, between two looks at the door */
    int64_t timer_us; /* when it will go off */
    bool rings;       /* the bell does */
    bool looked;      /* the edges were taken back */
    bool down;        /* the interface, as the last packet of a session showed */
    unsigned until;   /* messages to be sent before the target's address is looked after */
    uint8_t *frame;   /* of the next message: the target's headers, and room for a whole one */
    dpstats_t counts;
};

/* Of a descriptor; NULL with errno EBADF. */
struct pvmi_endpoint *pvmi_endpoint_of(int fd);

/* errno for a code of dpvm's own. Returns -1. */
int pvmi_endpoint_fail(int code);

/* Messages may from now on be elsewhere than in the ring. 0, PVMI_ELIMIT, PVMI_ENOMEM. */
int pvmi_endpoint_make_inbox(struct pvmi_endpoint *e);

/* Takes frames out of the ring, into the inbox, for the sessions or for the peers' addresses; a burst of them. */
void pvmi_endpoint_drain(struct pvmi_endpoint *e);

/* Waits until all peers have everything: 0, or -1 with errno ETIMEDOUT, EHOSTDOWN or EINTR. */
int pvmi_endpoint_flush(struct pvmi_endpoint *e, int64_t until_us);

/* For pvmi_dp_port_peruse(): takes answers to our questions for addresses, nothing else. */
bool pvmi_endpoint_peruse(void *arg, const uint8_t *frame, size_t length);

#endif
