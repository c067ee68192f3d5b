/*
 * port.h - a raw socket with its receive ring. The ring is the paper's token buffer pool: the kernel puts frames into
 * it, which are read in place and given back in order.
 */
#ifndef DPI_DP_PORT_H
#define DPI_DP_PORT_H

#include <stdbool.h>
#include <sys/uio.h>
#include "socket.h"

#define DPI_FRAMES_MAX 65536 /* slots of a ring */

/* A position in the ring, which advances slot by slot. */
struct dpi_cursor {
    uint8_t *slot;
    unsigned block, left; /* its block, and the slots left in it */
};

struct dpi_port {
    int fd;
    struct dpi_interface interface;
    uint16_t ethertype;
    struct dpi_point point;
    uint8_t *ring;
    size_t ring_bytes;
    unsigned frames, frame_bytes; /* slots, and the size of each */
    unsigned per_block, block_bytes;
    struct dpi_cursor next, oldest; /* slot to read next; the oldest that was read and not given back */
    uint8_t *last;                  /* slot that was read last */
    unsigned held;                  /* slots from oldest to next */
};

/*
 * Opens a port over a socket of dpi_socket_open(), which it owns from then on in any case, with room for `frames`
 * frames (rounded up). 0, PVMC_ENOMEM: not enough memory, or PVMC_ESYSTEM.
 */
int dpi_port_open(struct dpi_port *p, int fd, const struct dpi_interface *interface, uint16_t ethertype,
                  struct dpi_point point, unsigned frames);
void dpi_port_close(struct dpi_port *p);

/* The longest message, in bytes after the message header. */
static inline int dpi_port_room(const struct dpi_port *p)
{
    int bytes = p->interface.mtu - DPI_MESSAGE_BYTES;
    return bytes < UINT16_MAX ? bytes : UINT16_MAX;
}

/*
 * Returns the next received frame, or NULL, without a system call. The frame stays in place until
 * dpi_port_give_back(). *length is 0 for malformed frames.
 */
const uint8_t *dpi_port_next(struct dpi_port *p, size_t *length);

/* Whether dpi_port_next() would return a frame. */
bool dpi_port_has_next(struct dpi_port *p);

/* Releases the frame that was read last: it needs no give_back(). */
void dpi_port_skip(struct dpi_port *p);

/*
 * Passes each frame that has arrived and was not read to take(), without reading it. A frame for which take() returns
 * true is released, and dpi_port_next() leaves it out.
 */
void dpi_port_scan(struct dpi_port *p, bool (*take)(void *arg, const uint8_t *frame, size_t length), void *arg);

/* Gives back the oldest n frames that were read and not skipped. */
void dpi_port_give_back(struct dpi_port *p, unsigned n);

/*
 * Sends a message that consists of `pieces` to a hardware address. Returns 0; PVMC_EAGAIN: no room now; PVMC_EDOWN: the
 * interface is down or gone; PVMC_ELIMIT: too long; PVMC_ESYSTEM.
 */
int dpi_port_send(struct dpi_port *p, const struct dpi_message *m, const uint8_t hardware[6],
                  const struct iovec *pieces, unsigned count);

/* Sends a frame, whole or in pieces, headers included. Errors as above, without PVMC_ELIMIT. */
int dpi_port_put(struct dpi_port *p, const uint8_t *frame, size_t length);
int dpi_port_gather(struct dpi_port *p, const struct iovec *pieces, unsigned count);

/* Sends as many whole frames as there is room for with one system call. Returns their number, or an error if it is 0.
 */
int dpi_port_put_many(struct dpi_port *p, const struct iovec *frames, unsigned count);

/* Replaces the ring by one of `frames` slots, losing its contents. Returns 0, PVMC_ENOMEM or PVMC_ESYSTEM. */
int dpi_port_resize(struct dpi_port *p, unsigned frames);

/* Frames that the kernel dropped because the ring was full, since the last call. */
unsigned dpi_port_dropped(struct dpi_port *p);

#endif
