/*
 * farewell.h - the news that a task has ended waits for the last frames on the direct links to it: what the task sent
 * before its end is received before.
 */
#ifndef PVMI_FAREWELL_H
#define PVMI_FAREWELL_H

#include <stdbool.h>
#include <stdint.h>
#include "../core/message.h"
#include "peer.h"

/* Takes m of a daemon (and the reference) if it is news, or the trace event, of the end of a task that there still is a
 * link to. Called by link.c. */
bool pvmi_farewell_take(struct pvmi_message *m);

/*
 * A daemon tells that p has ended, which its links may not see: they are closed, as soon as what it has sent before had
 * time to be taken in. Called by control.c.
 */
void pvmi_farewell_note(struct pvmi_peer *p);

/* Whether any news waits. */
bool pvmi_farewell_waits(void);

/* While on, nothing waits: pvm_notify() cancels requests, and what comes then tells of no end. */
void pvmi_farewell_bypass(bool on);

/* The links to this task are down: delivers the news of it. */
void pvmi_farewell_deliver(pvmi_tid tid);

/* Delivers what has waited too long: a host may be out of reach for a link and not for its daemon. How many. */
int pvmi_farewell_expire(int64_t now_us);

/* Drops all. */
void pvmi_farewell_clear(void);

#endif
