/*
 * unix.h - the parts of the transport unix and what they share.
 *
 * unix.c      the table of functions, progress
 *   endpoint.c  a connection: frames over wire/stream.h, pausing
 *   path.c      socket paths: listening, connecting
 */
#ifndef PVMT_UNIX_H
#define PVMT_UNIX_H

#include <sys/epoll.h>
#include "transports/transport.h"
#include "wire/stream.h"

#define UNIX_SCRATCH_BYTES 16384
#define UNIX_EVENTS_MAX    64

struct unix_endpoint {
    struct pvmt_endpoint base;
    struct pvmw_stream stream;
    pid_t pid;       /* of the peer */
    bool told;       /* its owner knows that it is down; freed after progress() */
    bool want_ready; /* a frame was refused: tx_ready is due */
    bool polls_out;  /* epoll watches for room */
    bool paused;     /* nothing is read */
    bool yielded;    /* nothing is read in this round of progress() */
    bool hung_up;    /* the peer is gone: its remaining data is read in any case */
    struct unix_endpoint *prev, *next;
};

struct unix_transport {
    struct pvmt_transport base;
    int epoll_fd;
    int listen_fd;
    int spare_fd; /* freed briefly to refuse a connection when descriptors have run out */
    char *path;   /* of the listening socket */
    pid_t pid;    /* the owner: a forked child leaves the socket in place */
    struct unix_endpoint *endpoints;
    struct unix_endpoint *graveyard; /* ended, to be freed */
    unsigned count;
    unsigned unread; /* number of endpoints with unread data */
    bool yielded;    /* some endpoint has */
    bool in_progress;
    struct epoll_event events[UNIX_EVENTS_MAX]; /* of this progress(); here, because a stack frame costs more */
    uint8_t scratch[UNIX_SCRATCH_BYTES];
};

/* epoll_ctl(): 0 or PVMC_ESYSTEM. */
int pvmt_unix_watch(struct unix_transport *t, int op, int fd, uint32_t events, void *who);

/* ---- endpoint.c ---- */

/* Takes ownership of the connected socket, and closes it on failure. 0 or a PVMC_E code. */
int pvmt_unix_endpoint_new(struct unix_transport *t, int fd, struct unix_endpoint **out);

/* Takes the endpoint out of service; its memory stays until nobody on the stack can be using it. */
void pvmt_unix_endpoint_bury(struct unix_endpoint *e);
void pvmt_unix_endpoint_free(struct unix_endpoint *e);

int pvmt_unix_endpoint_send(struct pvmt_endpoint *base, struct pvmc_frame *f);
int pvmt_unix_endpoint_send_wire(struct pvmt_endpoint *base, const uint8_t *wire, size_t length);

/* The socket has room again: finishes the current frame, then reports it. */
void pvmt_unix_endpoint_writable(struct unix_endpoint *e);

/* Reads available data; returns the number of reads. */
int pvmt_unix_endpoint_readable(struct unix_endpoint *e);

/* Processes what was read before a pause. True when there was something. */
bool pvmt_unix_endpoint_resume(struct unix_endpoint *e);

/* The peer is gone: reads its remaining data, because epoll would report it for ever. */
void pvmt_unix_endpoint_hung_up(struct unix_endpoint *e);

void pvmt_unix_endpoint_pause(struct pvmt_endpoint *base, bool on);
void pvmt_unix_endpoint_yield(struct pvmt_endpoint *base);
void pvmt_unix_endpoint_unyield(struct unix_endpoint *e);

/* ---- path.c ---- */

/* Listens at this path, accessible to this user only. A descriptor, or a PVMC_E code, logged. */
int pvmt_unix_path_listen(const char *path);

/* A descriptor, or a PVMC_E code: PVMC_EAGAIN: the listener's backlog is full; PVMC_EUNREACHABLE: nobody listens. */
int pvmt_unix_path_connect(const char *path);

/* The PVMC_E code for a failed system call that creates a descriptor. */
int pvmt_unix_system_error(void);

#endif
