/*
 * inbox.h - messages that have come, in order: those that wait to be read, and those that were read and not released.
 * Each tells whose memory it is in. An endpoint that has nothing but raw messages in its ring needs none of this: it
 * counts.
 */
#ifndef PVMI_DP_INBOX_H
#define PVMI_DP_INBOX_H

#include <stdbool.h>
#include "../transports/dp/message.h"

struct pvmi_endpoint;
struct pvmi_channel;

enum pvmi_place {
    PVMI_IN_RING,    /* the oldest slot of the endpoint's ring that was read and not skipped */
    PVMI_IN_HEAP,    /* a copy */
    PVMI_IN_CHANNEL, /* a record of a channel of this host */
};

struct pvmi_arrival {
    uint8_t *data;
    uint32_t length;
    struct pvmi_dp_point from;
    enum pvmi_place place;
    void *owner; /* the copy; the channel */
};

struct pvmi_inbox {
    struct pvmi_arrival *arrivals; /* a ring of `size`, a power of 2: [oldest, unread) are held, [unread, end) wait */
    unsigned size, oldest, unread, end;
};

/* Appends. False: out of memory. */
bool pvmi_inbox_add(struct pvmi_inbox *i, const struct pvmi_arrival *a);

/* The next to be read, NULL: none waits. It is then held. */
const struct pvmi_arrival *pvmi_inbox_read(struct pvmi_inbox *i);

/* Takes the oldest out, which is then to be released. */
struct pvmi_arrival pvmi_inbox_drop(struct pvmi_inbox *i);

/* Frees it and the copies in it. */
void pvmi_inbox_close(struct pvmi_inbox *i);

static inline unsigned pvmi_inbox_waiting(const struct pvmi_inbox *i)
{
    return i->end - i->unread;
}

static inline unsigned pvmi_inbox_held(const struct pvmi_inbox *i)
{
    return i->unread - i->oldest;
}

#endif
