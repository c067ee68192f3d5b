/*
 * outbox.h - answers that wait until what they say is recorded. The server handles all requests that have arrived,
 * records the changed groups once, and then sends the answers in order.
 */
#ifndef PVMG_OUTBOX_H
#define PVMG_OUTBOX_H

#include <stdbool.h>

/* Sends the active send buffer to n > 0 tasks: at once if nothing waits and no group has changed, else later. */
void pvmg_outbox_send(int context, const int *tids, int n, int tag);

/* Records the changed groups and sends all that waits. The server calls it before it waits for a request. */
void pvmg_outbox_flush(void);

/* Whether there is something to record or to send. */
bool pvmg_outbox_waits(void);

#endif
