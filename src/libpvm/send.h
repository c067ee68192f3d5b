/* send.h - messages on their way out. */
#ifndef PVMI_SEND_H
#define PVMI_SEND_H

#include "../core/message.h"

/*
 * Sends m to m->dst with the tag, context and source set in it, and returns when all of it is with the kernel: the
 * caller may change and free it, in-place data included. While the receiver is held or the socket is full it receives.
 * Messages to ourselves go straight to the inbox. 0, PVMI_ENOMEM or PVMI_EDOWN.
 */
int pvmi_send_message(struct pvmi_message *m);

#endif
