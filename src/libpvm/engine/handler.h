/*
 * handler.h - messages that wait for their handlers (pvm_addmhf). Handlers run in the calls that take their messages
 * in, never inside one another and never while a message is half sent. Which handlers there are, messages/handler.c
 * knows.
 */
#ifndef PVMI_HANDLER_H
#define PVMI_HANDLER_H

#include <stdbool.h>
#include "core/message/message.h"
#include "libpvm/base/active.h"

/* The program's handlers. */
struct pvmi_handler_table {
    bool (*covers)(int src, int tag, int ctx); /* whether there is one for a message with these fields */
    void (*run)(struct pvmc_message *m);       /* runs it, if there still is one; takes over the reference */
    void (*undo)(void);                        /* the program has jumped out of the one that runs, if one does */
};

extern int pvmi_handler_count;                              /* handlers there are */
extern const struct pvmi_handler_table *pvmi_handler_table; /* set before the first is counted */

/* pvmi_handler_take() when there are handlers. */
bool pvmi_handler_queue(struct pvmc_message *m);

/* Takes m (and the reference) if there is a handler for it, which then runs later. */
static inline bool pvmi_handler_take(struct pvmc_message *m)
{
    return __builtin_expect(pvmi_handler_count != 0, 0) && pvmi_handler_queue(m);
}

/* Calls a function of the library with m as if it were a handler; takes a reference. */
void pvmi_handler_later(struct pvmc_message *m, void (*call)(struct pvmc_message *m));

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

/* Brackets what handlers must not interrupt in this thread; counts. */
void pvmi_handler_defer(void);
void pvmi_handler_allow(void);

/* This thread has jumped out of calls of that level and above, and of a handler in them. */
void pvmi_handler_undo(unsigned level);

/* Drops messages that wait for handlers. */
void pvmi_handler_clear(void);

#endif
