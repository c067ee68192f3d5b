/*
 * port.h - a raw socket with its receive ring: frames out, frames in. The ring is the paper's token buffer pool: the
 * kernel puts frames into it, which are read in place and given back in order.
 */
#ifndef PVMI_DP_PORT_H
#define PVMI_DP_PORT_H

#include <sys/uio.h>
#include "socket.h"

#define PVMI_DP_FRAMES_MAX 65536 /* slots of a ring */

struct pvmi_dp_port {
    int fd;
    struct pvmi_dp_interface interface;
    uint16_t ethertype;
    struct pvmi_dp_point point;
    uint8_t *ring;
    size_t ring_bytes;
    unsigned frames, frame_bytes; /* slots, and the size of each */
    unsigned per_block, block_bytes;
    unsigned next, held; /* slot to be read next; slots that were read and not given back */
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

/* Gives back the oldest n frames that were read. */
void pvmi_dp_port_give_back(struct pvmi_dp_port *p, unsigned n);

/*
 * Sends a message whose bytes are `pieces` to that hardware address. 0; PVMI_EAGAIN: no room now; PVMI_EDOWN: the
 * interface is down or gone; PVMI_ELIMIT: too long; PVMI_ESYSTEM.
 */
int pvmi_dp_port_send(struct pvmi_dp_port *p, const struct pvmi_dp_message *m, const uint8_t hardware[6],
                      const struct iovec *pieces, unsigned count);

/* Frames that the kernel dropped since the last call because the ring was full. */
unsigned pvmi_dp_port_dropped(struct pvmi_dp_port *p);

#endif
