/*
 * endpoint.h - an endpoint, and what the files of libdp share of it.
 *
 * The user's descriptor is an epoll set. In it is the socket, edge-triggered: its ring counts as readable for as long
 * as the newest message is not released, read or not; so it stops being readable when somebody has looked and found
 * nothing. A stream of messages costs no system call but for those that send.
 */
#ifndef PVMI_DP_ENDPOINT_H
#define PVMI_DP_ENDPOINT_H

#include "../../include/dp.h"
#include "../transports/dp/nart.h"
#include "peer.h"

#define PVMI_ENDPOINT_FRAMES 1024 /* of a pool, unless that is more than PVMI_ENDPOINT_POOL_BYTES */

struct pvmi_endpoint {
    struct pvmi_dp_port port;
    int fd;   /* the user's: an epoll set */
    int door; /* a socket whose name says that this endpoint is taken */
    int mode;
    bool spins;
    bool in_use;              /* a target was named or something was read: the mode stays */
    struct pvmi_peer *target; /* NULL: none */
    struct pvmi_peer *peers;  /* hash */
    struct pvmi_nart *nart;
    unsigned held;  /* messages that were read and not released */
    unsigned until; /* messages to be sent before the target's address is looked after */
    uint8_t *frame; /* of the next message: the target's headers, and room for a whole one */
    dpstats_t counts;
};

/* Of a descriptor; NULL with errno EBADF. */
struct pvmi_endpoint *pvmi_endpoint_of(int fd);

/* errno for a code of dpvm's own. Returns -1. */
int pvmi_endpoint_fail(int code);

/* Sleeps until the descriptor is readable: 0, or -1 with errno (EINTR). timeout_ms as of poll(). */
int pvmi_endpoint_sleep(struct pvmi_endpoint *e, int timeout_ms);

/* Whether the user set O_NONBLOCK. */
bool pvmi_endpoint_is_nonblocking(const struct pvmi_endpoint *e);

/*
 * The next message of the ring, or NULL; what is not a message for the user is dealt with on the way.
 */
const uint8_t *pvmi_endpoint_take(struct pvmi_endpoint *e, struct pvmi_dp_message *m);

/* For pvmi_dp_port_peruse(): takes answers to our questions for addresses, nothing else. */
bool pvmi_endpoint_peruse(void *arg, const uint8_t *frame, size_t length);

#endif
