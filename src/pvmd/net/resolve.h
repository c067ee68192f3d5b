/*
 * resolve.h - asks the name service without holding up the loop: each name has a thread of its own for as long as the
 * answer takes.
 */
#ifndef PVMD_RESOLVE_H
#define PVMD_RESOLVE_H

#include <ev.h>
#include "wire/address.h"

struct pvmd_resolve;

/* Called once from the loop. `why` is NULL when there are addresses, else the resolver's words. */
typedef void pvmd_resolved(void *arg, const struct pvmw_addresses *found, const char *why);

/* Starts it: numbers are answered soon, too. NULL when out of memory or threads, logged. The answer frees it. */
struct pvmd_resolve *pvmd_resolve_start(struct ev_loop *loop, const char *name, pvmd_resolved *resolved, void *arg);

/* No answer is wanted any more. The thread ends when the name service lets it. */
void pvmd_resolve_cancel(struct pvmd_resolve *r);

/* The daemon's end: waits a moment for threads that are under way. */
void pvmd_resolve_stop(void);

#endif
