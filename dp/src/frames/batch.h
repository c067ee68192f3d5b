/*
 * batch.h - sends several frames through one port with one system call, because system calls are most of the cost of a
 * burst.
 */
#ifndef DPI_DP_BATCH_H
#define DPI_DP_BATCH_H

#include <sys/socket.h>
#include "port.h"

#define DPI_BATCH_MAX   64  /* frames */
#define DPI_BATCH_FLAT  704 /* copy limit in bytes; of longer frames only the first piece is copied */
#define DPI_BATCH_PARTS 20

struct dpi_batch {
    struct dpi_port *port;
    unsigned count;
    struct mmsghdr messages[DPI_BATCH_MAX];
    struct iovec parts[DPI_BATCH_MAX][DPI_BATCH_PARTS];
    uint8_t flat[DPI_BATCH_MAX][DPI_BATCH_FLAT];
};

/* Whether a frame for that port can be added without a flush. */
static inline bool dpi_batch_has_room(const struct dpi_batch *b, const struct dpi_port *p)
{
    return !b->count || (b->port == p && b->count < DPI_BATCH_MAX);
}

/*
 * Adds a message; there must be room. Copies the first piece, and all of a short frame; other pieces must not change
 * until the flush. 0 or PVMC_ELIMIT (too long).
 */
int dpi_batch_add(struct dpi_batch *b, struct dpi_port *p, const struct dpi_message *m, const uint8_t hardware[6],
                  const struct iovec *pieces, unsigned count);

/*
 * Sends all. Frames for which the kernel has no room after some tries are dropped, as a wire might drop them. 0, or
 * PVMC_EDOWN: the interface is down or gone.
 */
int dpi_batch_flush(struct dpi_batch *b);

#endif
