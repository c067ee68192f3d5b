/*
 * limits.h - what one program may take of the network process. A program that wants more is refused or disconnected,
 * and the log says so; the others are not affected. PVM's tasks and daemons stay far below.
 */
#ifndef PVMA_LIMITS_H
#define PVMA_LIMITS_H

/*
 * Assured endpoints of one program; a further one fails with ENOBUFS. The first ones have a window of PVM_ATM_WINDOW,
 * which fills a link for as long as acknowledgements take, the others a small one. Each keeps one window of bytes that
 * are not acknowledged and at most two of bytes that are not read. Within a host nothing is acknowledged.
 *
 * Windows count octets, and 32 at least for a frame. Memory is more: a cell's frame takes about 96 octets at its sender
 * and 64 at its receiver, and their tables up to half a window each, so a connection that is full of cells takes eight
 * windows. Within a host a write counts as a frame, and takes about 100 octets more than it has.
 */
#define PVMA_ASSURED_MAX          1024
#define PVMA_ASSURED_LARGE        32
#define PVMA_ASSURED_WINDOW_SMALL (64u << 10)
#define PVMA_INSIDE_WINDOW        (256u << 10)

/* Assured endpoints that are closed and whose last bytes are not acknowledged yet: of one program, and of all. */
#define PVMA_ASSURED_CLOSING_MAX     64
#define PVMA_ASSURED_CLOSING_ALL_MAX 1024

/* Of one process. A program has one, and another while it looks at the clock's kind. */
#define PVMA_CONNECTIONS_MAX 16

#define PVMA_ENDPOINTS_MAX 4096 /* of one program; a further OPEN fails with ENOBUFS */

/* Descriptors that endpoints leave for connections: beyond them OPEN fails with EMFILE. */
#define PVMA_DESCRIPTORS_SPARED 64

/* Bytes that have arrived for one program and that it has not read: further packets are lost, as with a slow reader. */
#define PVMA_UNREAD_BYTES (256u << 20)

/*
 * Virtual time: bytes of packets that a program sends ahead of the network's time. Beyond them its socket is not read
 * until the network has sent half of them.
 */
#define PVMA_AHEAD_BYTES (4u << 20)

/* Bytes and programs, all together, that have left and whose last packets are still to be sent. */
#define PVMA_LEFT_BYTES (64u << 20)
#define PVMA_LEFT_MAX   4096

/* Shadows that one program hands over at once: PVM hands over one message, in pieces of 8,000 receivers. */
#define PVMA_HANDING_MAX 64

/*
 * What time may wait for on account of one process: two channels for each other process with which it has exchanged
 * bytes outside the network, and the processes that it has announced. A daemon (an observer) has many tasks.
 */
#define PVMA_LOCAL_MAX          256
#define PVMA_LOCAL_OBSERVER_MAX 131072

/* Virtual time: messages that are handled in a row although all programs wait, before time goes on all the same. */
#define PVMA_FLOOD_MAX 10000

#endif
