/*
 * handler.h - message handlers (pvm_addmhf). They run in the calls that take their messages in, never inside one
 * another and never while a message is half sent.
 */
#ifndef PVMI_HANDLER_H
#define PVMI_HANDLER_H

#include <stdbool.h>
#include "../core/message.h"

extern int pvmi_handler_count; /* handlers there are */

/* pvmi_handler_take() when there are handlers. */
bool pvmi_handler_queue(struct pvmi_message *m);

/* Takes m (and the reference) if a handler wants it; it then runs later. Called by link.c. */
static inline bool pvmi_handler_take(struct pvmi_message *m)
{
    return __builtin_expect(pvmi_handler_count != 0, 0) && pvmi_handler_queue(m);
}

/* Calls a function of the library with m as if it were a handler's; takes a reference. */
void pvmi_handler_later(struct pvmi_message *m, void (*call)(struct pvmi_message *m));

/* Whether a message with these fields might go to a handler, or one that waits for a handler might come before it. */
bool pvmi_handler_concerns(int src, int tag, int ctx);

extern unsigned pvmi_handler_queued; /* messages taken that still wait for their handlers */

/* pvmi_handler_run() when there is something queued. */
bool pvmi_handler_run_queued(void);

/* Runs the handlers of the messages taken so far, unless they are deferred now. Whether any did run. */
static inline bool pvmi_handler_run(void)
{
    return __builtin_expect(pvmi_handler_queued != 0, 0) && pvmi_handler_run_queued();
}

/* Whether there are messages whose handlers nobody runs yet. */
bool pvmi_handler_is_due(void);

extern unsigned pvmi_handler_deferred; /* by this thread, how often; kept for each by lock.c */

/* Brackets what handlers must not interrupt in this thread; counts. */
void pvmi_handler_defer(void);
void pvmi_handler_allow(void);

/* This thread has jumped out of calls of that level and above, and of a handler in them. Called by jump.c. */
void pvmi_handler_left(unsigned level);

/* Drops messages that wait for handlers. */
void pvmi_handler_clear(void);

#endif
