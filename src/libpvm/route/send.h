/* send.h - sends messages to one receiver. */
#ifndef PVMI_SEND_H
#define PVMI_SEND_H

#include "core/message/message.h"

/*
 * Sends m to m->dst with the tag, context and source set in it. Returns when the kernel has all of it: the caller may
 * then change and free it, in-place data included. Receives messages while the receiver is held or the socket is full.
 * A message to ourselves is delivered at once. 0, PVMC_ENOMEM or PVMC_EDOWN.
 */
int pvmi_send_message(struct pvmc_message *m);

#endif
