/* resolve.h - asks the name service without blocking the loop: each lookup runs in a thread of its own. */
#ifndef PVMD_RESOLVE_H
#define PVMD_RESOLVE_H

#include <ev.h>
#include "wire/address.h"

struct pvmd_resolve;

/* Called once from the loop. `why` is NULL when there are addresses, else the resolver's error message. */
typedef void pvmd_resolved(void *arg, const struct pvmw_addresses *found, const char *why);

/*
 * Starts a lookup; even a numeric address is answered from the loop. NULL when out of memory or threads, logged. Freed
 * after the answer.
 */
struct pvmd_resolve *pvmd_resolve_start(struct ev_loop *loop, const char *name, pvmd_resolved *resolved, void *arg);

/* Cancels the lookup. Its thread ends when the name service returns. */
void pvmd_resolve_cancel(struct pvmd_resolve *r);

/* Waits briefly for running threads, when the daemon ends. */
void pvmd_resolve_stop(void);

#endif
