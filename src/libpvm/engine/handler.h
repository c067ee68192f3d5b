/*
 * handler.h - messages that wait for their handlers (pvm_addmhf). Handlers run in the calls that take in their
 * messages, never inside one another and never while a message is half sent. The handlers themselves are in
 * messages/handler.c.
 */
#ifndef PVMI_HANDLER_H
#define PVMI_HANDLER_H

#include <stdbool.h>
#include "core/message/message.h"
#include "libpvm/base/active.h"

/* The program's handlers. */
struct pvmi_handler_table {
    bool (*covers)(int src, int tag, int ctx); /* whether there is one for a message with these fields */
    void (*run)(struct pvmc_message *m);       /* runs the handler, if it still exists; takes over the reference */
    void (*undo)(void);                        /* the program has jumped out of the running handler, if any */
};

extern int pvmi_handler_count;                              /* number of handlers */
extern const struct pvmi_handler_table *pvmi_handler_table; /* set before the first is counted */

/* pvmi_handler_take() for the case that there are handlers. */
bool pvmi_handler_queue(struct pvmc_message *m);

/* Takes over m (and the reference) if there is a handler for it, which runs later. */
static inline bool pvmi_handler_take(struct pvmc_message *m)
{
    return __builtin_expect(pvmi_handler_count != 0, 0) && pvmi_handler_queue(m);
}

/* Calls a function of the library with m as if it were a handler; takes a reference. */
void pvmi_handler_later(struct pvmc_message *m, void (*call)(struct pvmc_message *m));

/* Whether there is a handler for a message with these fields. */
bool pvmi_handler_covers(int src, int tag, int ctx);

/* Whether a message with these fields might go to a handler, or one that waits for a handler might come before it. */
bool pvmi_handler_concerns(int src, int tag, int ctx);

extern unsigned pvmi_handler_queued; /* number of messages that wait for their handlers */

/* pvmi_handler_run() for the case that something is queued. */
bool pvmi_handler_run_queued(void);

/* Runs the handlers of the queued messages, unless handlers are deferred. Returns whether any did run. */
static inline bool pvmi_handler_run(void)
{
    return __builtin_expect(pvmi_handler_queued != 0, 0) && pvmi_handler_run_queued();
}

/* Whether messages wait for handlers that no thread is running yet. */
bool pvmi_handler_is_due(void);

/* Brackets code of this thread that handlers must not interrupt; nests. */
void pvmi_handler_defer(void);
void pvmi_handler_allow(void);

/* This thread has jumped out of calls of that level and above, and of a handler in them. */
void pvmi_handler_undo(unsigned level);

/* Drops messages that wait for handlers. */
void pvmi_handler_clear(void);

#endif
