/*
 * socket.h - TCP sockets that are non-blocking from their first moment: connecting to one address, listening at one.
 * What is said over the connection, and how long to wait for it, is the caller's.
 */
#ifndef PVMW_SOCKET_H
#define PVMW_SOCKET_H

#include "address.h"

/* The sizes of the kernel's buffers; 0: the system's. */
struct pvmw_socket_buffers {
    int send_bytes, receive_bytes;
};

/*
 * Begins to connect to `to`: a descriptor, or a negative errno. `from` is the address to leave from, and `buffers` the
 * sizes that the socket gets; both may be NULL.
 */
int pvmw_socket_connect(const union pvmw_address *to, const union pvmw_address *from,
                        const struct pvmw_socket_buffers *buffers);

/* The descriptor has become writable: 0, it is connected, or why not as an errno. */
int pvmw_socket_connected(int fd);

/*
 * Whether the connection leads to itself: a call to a free port of this machine may by chance come from that very port.
 */
bool pvmw_socket_is_own_end(int fd, const union pvmw_address *to);

struct pvmw_socket_listen {
    const struct pvmw_socket_buffers *buffers; /* of connections; may be NULL */
    int backlog;
    bool v4_too; /* an IPv6 socket takes IPv4 connections as well */
    /* Ports to try: `count` from `low` on, beginning `first` behind it and starting over at the end. 0 is any port. */
    unsigned low, count, first;
};

/* Listens at the first of these ports of *a that is free, which it fills in. A descriptor, or a negative errno. */
int pvmw_socket_listen(union pvmw_address *a, const struct pvmw_socket_listen *how);

#endif
