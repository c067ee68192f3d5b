/*
 * endpoint.h - the state of an endpoint, which the files of libdp share.
 *
 * The user's descriptor is an epoll set of the socket and a timer, both edge-triggered, and of an eventfd, the bell,
 * for messages that wait in our own memory. The kernel reports the socket's ring as readable until its newest frame is
 * released, read or not. So an edge only means that something has arrived; a function that looks and finds nothing
 * clears it. A stream of messages costs no system calls except for sending.
 */
#ifndef DPI_DP_ENDPOINT_H
#define DPI_DP_ENDPOINT_H

#include "dp.h"
#include "frames/nart.h"
#include "calls/inbox.h"
#include "outbox.h"
#include "peer.h"
#include "session.h"

#define DPI_ENDPOINT_FRAMES 1024 /* of a pool, unless they need more than DPI_ENDPOINT_POOL_BYTES */

struct dpi_endpoint {
    struct dpi_port port;
    int fd;                       /* the user's: an epoll set */
    int listener;                 /* for endpoints of this host; its name reserves this endpoint */
    struct dpi_channel *channels; /* from them */
    int mode;
    bool spins;
    bool in_use;                 /* a target was set or a message read: the mode can no longer change */
    struct dpi_peer *target;     /* NULL: none */
    struct dpi_peer *peers;      /* hash */
    struct dpi_point *strangers; /* a ring of DPI_STRANGERS_MAX; NULL before the first */
    unsigned met;                /* number of strangers so far */
    struct dpi_nart *nart;
    int64_t now_us; /* when the current burst of frames began */
    unsigned held;  /* raw messages that were read and not released, while there is no inbox */
    bool has_inbox; /* messages may be outside the ring */
    struct dpi_inbox inbox;
    struct dpi_outbox outbox;
    unsigned writes;    /* calls of dp_write() in a row */
    int64_t written_us; /* time of the last one */
    struct dpi_sessions sessions;
    int timer, bell;  /* in the epoll set, made when there is an inbox; -1 */
    unsigned tries;   /* unsuccessful dp_try() calls since we last accepted writers */
    int64_t timer_us; /* when it expires */
    bool rings;       /* the bell is rung */
    bool looked;      /* the edges are cleared */
    bool down;        /* the interface was down when a session last sent */
    unsigned until;   /* messages to send before the target's address is checked again */
    uint8_t *frame;   /* of the next message: the target's headers, and room for a whole one */
    dpstats_t counts;
};

/* The endpoint of a descriptor; NULL with errno EBADF. */
struct dpi_endpoint *dpi_endpoint_of(int fd);

/* Sets errno for a PVMC_E code. Returns -1. */
int dpi_endpoint_fail(int code);

/* From now on messages may be outside the ring. 0, PVMC_ELIMIT, PVMC_ENOMEM. */
int dpi_endpoint_make_inbox(struct dpi_endpoint *e);

/* Takes a burst of frames from the ring: messages to the inbox, others to the sessions and the peers' addresses. */
void dpi_endpoint_drain(struct dpi_endpoint *e);

/* Waits until all peers have acknowledged all messages: 0, or -1 with errno ETIMEDOUT, EHOSTDOWN or EINTR. */
int dpi_endpoint_flush(struct dpi_endpoint *e, int64_t until_us);

/* For dpi_port_scan(): takes answers to our address requests, nothing else. */
bool dpi_endpoint_scan(void *arg, const uint8_t *frame, size_t length);

#endif
