/*
 * batch.h - frames that leave by one port with one system call: what a burst costs is mostly the way into the kernel.
 */
#ifndef PVMI_DP_BATCH_H
#define PVMI_DP_BATCH_H

#include <sys/socket.h>
#include "port.h"

#define PVMI_DP_BATCH_MAX   64  /* frames */
#define PVMI_DP_BATCH_FLAT  704 /* bytes of a frame that are copied; of longer ones, the first piece */
#define PVMI_DP_BATCH_PARTS 20

struct pvmi_dp_batch {
    struct pvmi_dp_port *port;
    unsigned count;
    struct mmsghdr messages[PVMI_DP_BATCH_MAX];
    struct iovec parts[PVMI_DP_BATCH_MAX][PVMI_DP_BATCH_PARTS];
    uint8_t flat[PVMI_DP_BATCH_MAX][PVMI_DP_BATCH_FLAT];
};

/* Whether frames for that port can be added without flushing before. */
static inline bool pvmi_dp_batch_has_room(const struct pvmi_dp_batch *b, const struct pvmi_dp_port *p)
{
    return !b->count || (b->port == p && b->count < PVMI_DP_BATCH_MAX);
}

/*
 * Adds a message; there must be room. The first piece is copied, as is all of a short frame; the others stay where they
 * are until it is flushed. 0 or PVMI_ELIMIT (too long).
 */
int pvmi_dp_batch_add(struct pvmi_dp_batch *b, struct pvmi_dp_port *p, const struct pvmi_dp_message *m,
                      const uint8_t hardware[6], const struct iovec *pieces, unsigned count);

/*
 * Sends all. What the kernel has no room for after some tries is dropped, as a wire might. 0, or PVMI_EDOWN: the
 * interface is down or gone.
 */
int pvmi_dp_batch_flush(struct pvmi_dp_batch *b);

#endif
