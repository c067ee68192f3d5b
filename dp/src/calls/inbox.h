/*
 * inbox.h - received messages in order: those not read yet, and those that were read and not released. Each arrival
 * records which memory holds it. An endpoint whose messages are all raw and in its ring has no inbox: counting is
 * enough.
 */
#ifndef DPI_DP_INBOX_H
#define DPI_DP_INBOX_H

#include <stdbool.h>
#include "frames/message.h"

struct dpi_endpoint;
struct dpi_channel;

enum dpi_place {
    DPI_IN_RING,    /* the oldest slot of the endpoint's ring that was read and not skipped */
    DPI_IN_HEAP,    /* a copy */
    DPI_IN_CHANNEL, /* a record in a channel from an endpoint of this host */
};

struct dpi_arrival {
    uint8_t *data;
    uint32_t length;
    struct dpi_point from;
    enum dpi_place place;
    void *owner; /* the copy; the channel */
};

struct dpi_inbox {
    struct dpi_arrival *arrivals; /* a ring of `size`, a power of 2: [oldest, unread) are held, [unread, end) wait */
    unsigned size, oldest, unread, end;
};

/* Appends. False: out of memory. */
bool dpi_inbox_add(struct dpi_inbox *i, const struct dpi_arrival *a);

/* The next message to read, which is then held; NULL: none. */
const struct dpi_arrival *dpi_inbox_read(struct dpi_inbox *i);

/* Removes the oldest; the caller releases it. */
struct dpi_arrival dpi_inbox_drop(struct dpi_inbox *i);

/* Frees the inbox and the copies in it. */
void dpi_inbox_close(struct dpi_inbox *i);

static inline unsigned dpi_inbox_waiting(const struct dpi_inbox *i)
{
    return i->end - i->unread;
}

static inline unsigned dpi_inbox_held(const struct dpi_inbox *i)
{
    return i->unread - i->oldest;
}

#endif
