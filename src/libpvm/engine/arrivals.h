/*
 * arrivals.h - messages that have come and that no call has taken in yet.
 *
 * What pvm_nrecv() and pvm_probe() see of PVM 3.4 grows by one message with each call that finds nothing: it is always
 * a first part of what has come, in its order. Programs depend on that. A worker sends RESULT, then READY, to a master
 * that polls for READY, then for RESULT; if one poll took in both, the master would see READY before it knew of RESULT.
 * So what links bring waits here until a call takes it in, which gives it to its handler or to the inbox.
 */
#ifndef PVMI_ARRIVALS_H
#define PVMI_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include "core/message/message.h"
#include "handler.h"

extern size_t pvmi_arrivals_count;

/*
 * A message for the program has come; takes over the reference. It is taken in at once while a receive waits, and by
 * the call with which we send to ourselves. Out of memory loses it, see pvmi_inbox_lose(). Called by link.c and
 * exit_notice.c.
 */
void pvmi_arrivals_put(struct pvmc_message *m);

/* The oldest, with its reference, for a receive that knows what to do with it; NULL when there is none. */
struct pvmc_message *pvmi_arrivals_pop(void);

/* Takes the oldest in: it goes to its handler, which runs later, or to the inbox. False when there is none. */
bool pvmi_arrivals_take_in(void);
void pvmi_arrivals_take_in_all(void);

/* The end of a call that sends: as PVM's it takes in one message in passing. Handlers run. */
static inline void pvmi_arrivals_pass(void)
{
    if (__builtin_expect(pvmi_arrivals_count != 0, 0))
        pvmi_arrivals_take_in();
    pvmi_handler_run();
}

/* Drops all. */
void pvmi_arrivals_clear(void);

#endif
