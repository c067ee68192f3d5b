/*
 * delegate.h - launches that a member runs in the master's place, so that many hosts start in a tree instead of one
 * after the other.
 *
 * The master makes the launcher's command and sends it with the start text (DM_LAUNCH). The member runs it as the
 * master would (delegated.h), and answers with the daemon's line or with the reason why there is none. It holds the
 * channel to the daemon until the master says that the daemon is linked or not wanted (DM_LAUNCH_END).
 */
#ifndef PVMD_DELEGATE_H
#define PVMD_DELEGATE_H

#include <stdint.h>
#include "launch.h"

struct pvmd_delegate;

/* For pvmd_delegate_start(). */
struct pvmd_delegate_order {
    unsigned host_index; /* of the member */
    const char *label;   /* of the launcher */
    const struct pvmd_command *command;
    const char *text; /* the start text with zeros for the secret, which the member knows */
    int64_t limit_us; /* after which the member gives up by itself */
};

/*
 * Asks the member; everything is copied. Events are those of a launch, from the loop. `failed` also tells of a member
 * that refuses, or that has left. NULL: out of memory.
 */
struct pvmd_delegate *pvmd_delegate_start(const struct pvmd_delegate_order *order,
                                          const struct pvmd_launch_events *events, void *owner);

/* As pvmd_launch_release() and pvmd_launch_cancel(). */
void pvmd_delegate_release(struct pvmd_delegate *d);
void pvmd_delegate_cancel(struct pvmd_delegate *d);

/* Forgets all, when the daemon ends. */
void pvmd_delegate_stop(void);

#endif
