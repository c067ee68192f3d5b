/* multicast.h - a message on its way to many. */
#ifndef PVMI_MULTICAST_H
#define PVMI_MULTICAST_H

#include "../core/message.h"

/*
 * Sends m, addressed to the first of them, to these `count` tasks, each there once and none of them us; their order in
 * tids may change. Returns as pvmi_send_message() does, and gives the same errors.
 */
int pvmi_multicast(struct pvmi_message *m, int *tids, unsigned count);

#endif
