/*
 * arrivals.h - received messages that no call has taken in yet.
 *
 * In PVM 3.4, what pvm_nrecv() and pvm_probe() see grows by one message with each call that finds nothing: they always
 * see a prefix of the received messages, in order. Programs depend on that. A worker sends RESULT, then READY, to a
 * master that polls for READY, then for RESULT; if one poll took in both, the master would see READY before it knew of
 * RESULT. So messages from links wait here until a call takes them in, that is, gives them to their handler or to the
 * inbox.
 */
#ifndef PVMI_ARRIVALS_H
#define PVMI_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include "core/message/message.h"
#include "handler.h"

extern size_t pvmi_arrivals_count;

/*
 * Adds a received message; takes over the reference. It is taken in at once while a receive waits, and during the call
 * that sends it to ourselves. Out of memory loses it, see pvmi_inbox_lose(). Called by link.c and exit_notice.c.
 */
void pvmi_arrivals_put(struct pvmc_message *m);

/* Removes the oldest message, with its reference, for a receive that needs it; NULL when there is none. */
struct pvmc_message *pvmi_arrivals_pop(void);

/* Removes a message, with its reference, that no call has taken in. False: it is not there. */
bool pvmi_arrivals_remove(const struct pvmc_message *m);

/* Takes in the oldest message: gives it to its handler, which runs later, or to the inbox. False when there is none. */
bool pvmi_arrivals_take_in(void);
void pvmi_arrivals_take_in_all(void);

/* For the end of a call that sends: like PVM's, it takes in one message. Handlers run. */
static inline void pvmi_arrivals_pass(void)
{
    if (__builtin_expect(pvmi_arrivals_count != 0, 0))
        pvmi_arrivals_take_in();
    pvmi_handler_run();
}

/* Drops all. */
void pvmi_arrivals_clear(void);

#endif
