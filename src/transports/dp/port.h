/*
 * port.h - a raw socket with its receive ring: frames out, frames in. The ring is the paper's token buffer pool: the
 * kernel puts frames into it, which are read in place and given back in order.
 */
#ifndef PVMI_DP_PORT_H
#define PVMI_DP_PORT_H

#include <stdbool.h>
#include <sys/uio.h>
#include "socket.h"

#define PVMI_DP_FRAMES_MAX 65536 /* slots of a ring */

/* A place in the ring, moved from slot to slot. */
struct pvmi_dp_cursor {
    uint8_t *slot;
    unsigned block, left; /* its block, and the slots from here to the end of that */
};

struct pvmi_dp_port {
    int fd;
    struct pvmi_dp_interface interface;
    uint16_t ethertype;
    struct pvmi_dp_point point;
    uint8_t *ring;
    size_t ring_bytes;
    unsigned frames, frame_bytes; /* slots, and the size of each */
    unsigned per_block, block_bytes;
    struct pvmi_dp_cursor next, oldest; /* slot to be read next; the oldest that was read and not given back */
    uint8_t *last;                      /* slot that was read last */
    unsigned held;                      /* slots from oldest to next */
};

/*
 * Opens a port over a socket of pvmi_dp_socket_open(), which it takes over in any case, with room for `frames` frames
 * (rounded up). 0, PVMI_ENOMEM: not so much memory, or PVMI_ESYSTEM.
 */
int pvmi_dp_port_open(struct pvmi_dp_port *p, int fd, const struct pvmi_dp_interface *interface, uint16_t ethertype,
                      struct pvmi_dp_point point, unsigned frames);
void pvmi_dp_port_close(struct pvmi_dp_port *p);

/* The longest message, in bytes behind the message header. */
static inline int pvmi_dp_port_room(const struct pvmi_dp_port *p)
{
    int bytes = p->interface.mtu - PVMI_DP_MESSAGE_BYTES;
    return bytes < UINT16_MAX ? bytes : UINT16_MAX;
}

/*
 * The next frame that has come, or NULL. No system call. It stays in place until pvmi_dp_port_give_back(). Malformed
 * frames are given with *length 0.
 */
const uint8_t *pvmi_dp_port_next(struct pvmi_dp_port *p, size_t *length);

/* Whether next() would give one. */
bool pvmi_dp_port_has_next(struct pvmi_dp_port *p);

/* The frame that was read last is done with: it needs no give_back(). */
void pvmi_dp_port_skip(struct pvmi_dp_port *p);

/*
 * Shows the frames that have come and were not read, without reading them; what take() says true to is done with, and
 * next() will not give it.
 */
void pvmi_dp_port_peruse(struct pvmi_dp_port *p, bool (*take)(void *arg, const uint8_t *frame, size_t length),
                         void *arg);

/* Gives back the oldest n frames that were read and not skipped. */
void pvmi_dp_port_give_back(struct pvmi_dp_port *p, unsigned n);

/*
 * Sends a message whose bytes are `pieces` to that hardware address. 0; PVMI_EAGAIN: no room now; PVMI_EDOWN: the
 * interface is down or gone; PVMI_ELIMIT: too long; PVMI_ESYSTEM.
 */
int pvmi_dp_port_send(struct pvmi_dp_port *p, const struct pvmi_dp_message *m, const uint8_t hardware[6],
                      const struct iovec *pieces, unsigned count);

/* Sends a whole frame, or one in pieces, headers included. As above, without PVMI_ELIMIT. */
int pvmi_dp_port_put(struct pvmi_dp_port *p, const uint8_t *frame, size_t length);
int pvmi_dp_port_gather(struct pvmi_dp_port *p, const struct iovec *pieces, unsigned count);

/* Sends whole frames with one system call, as many as there is room for: how many, or, if it is none, as above. */
int pvmi_dp_port_put_many(struct pvmi_dp_port *p, const struct iovec *frames, unsigned count);

/* Gives the port a ring of `frames` slots. What was in the old one is lost. 0, PVMI_ENOMEM, PVMI_ESYSTEM. */
int pvmi_dp_port_resize(struct pvmi_dp_port *p, unsigned frames);

/* Frames that the kernel dropped since the last call because the ring was full. */
unsigned pvmi_dp_port_dropped(struct pvmi_dp_port *p);

#endif
