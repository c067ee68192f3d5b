/* multicast.h - sends one message to many receivers. */
#ifndef PVMI_MULTICAST_H
#define PVMI_MULTICAST_H

#include "core/message/message.h"

/*
 * Sends m, addressed to the first of these `count` tasks, to all of them. The tids are distinct and none is ours; their
 * order may change. Returns as pvmi_send_message() does.
 */
int pvmi_multicast(struct pvmc_message *m, int *tids, unsigned count);

/*
 * Sends m at once to those of the tasks whose direct links take it, and removes these from tids, and all tids that are
 * there twice. Returns the number of those left.
 */
unsigned pvmi_multicast_at_once(struct pvmc_message *m, int *tids, unsigned count);

#endif
