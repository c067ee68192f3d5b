/* send.h - sends messages to one receiver. */
#ifndef PVMI_SEND_H
#define PVMI_SEND_H

#include "core/message/message.h"

/* Both ways are one function, so that the short one, which inlines all it needs, is there once. */
enum pvmi_send_how {
    PVMI_SEND_WAITS,
    PVMI_SEND_AT_ONCE, /* only over a direct link that takes all of it now, else PVMC_EAGAIN; no handler runs */
};

/*
 * Sends m to m->dst with the tag, context and source set in it. Returns when the kernel has all of it: the caller may
 * then change and free it, in-place data included. Receives messages while the receiver is held or the socket is full.
 * A message to ourselves is delivered at once. 0, PVMC_ENOMEM or PVMC_EDOWN.
 */
int pvmi_send(struct pvmc_message *m, enum pvmi_send_how how);

static inline int pvmi_send_message(struct pvmc_message *m)
{
    return pvmi_send(m, PVMI_SEND_WAITS);
}

/* A copy of a short message that is in place, if copying costs less than sending it so; else NULL. */
struct pvmc_message *pvmi_send_packed(const struct pvmc_message *m);

#endif
