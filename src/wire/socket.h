/*
 * socket.h - TCP sockets that are non-blocking from the start: connecting to one address, listening at one. The caller
 * decides on the protocol and on time limits.
 */
#ifndef PVMW_SOCKET_H
#define PVMW_SOCKET_H

#include "address.h"

/* Sizes of the kernel's buffers; 0: the system's default. */
struct pvmw_socket_buffers {
    int send_bytes, receive_bytes;
};

/*
 * Starts to connect to `to`: a descriptor, or a negative errno. `from` is the local address and `buffers` the socket's
 * buffer sizes; both may be NULL.
 */
int pvmw_socket_connect(const union pvmw_address *to, const union pvmw_address *from,
                        const struct pvmw_socket_buffers *buffers);

/* After the descriptor has become writable: 0 if it is connected, else an errno. */
int pvmw_socket_connected(int fd);

/*
 * Whether the connection leads to itself: a connection to a free port of this machine may get that very port as its
 * own.
 */
bool pvmw_socket_is_own_end(int fd, const union pvmw_address *to);

struct pvmw_socket_listen {
    const struct pvmw_socket_buffers *buffers; /* of connections; may be NULL */
    int backlog;
    bool v4_too; /* an IPv6 socket also accepts IPv4 connections */
    /* Ports to try: `count` ports from `low` on, starting at low + first and wrapping around. 0 is any port. */
    unsigned low, count, first;
};

/* Listens at the first free port, which it stores in *a. A descriptor, or a negative errno. */
int pvmw_socket_listen(union pvmw_address *a, const struct pvmw_socket_listen *how);

#endif
