/*
 * shadow.h - what the daemons' route costs in the virtual time of a simulated network.
 *
 * A message's frames reach the receiver by the daemons in no virtual time, and its shadow crosses the network as the
 * message would have. The sender's call ends when the network says that the message has been handed to the daemon. The
 * receiver keeps a frame in its reorder queue until the network says that its shadow has arrived: so later frames of
 * the same sender wait for it, whatever their route. Control messages have no shadow, nor have messages to or from
 * tasks outside of virtual time.
 */
#ifndef PVMI_SHADOW_H
#define PVMI_SHADOW_H

#include <stdbool.h>
#include "core/clock.h"

extern bool pvmi_shadow_handing; /* this task is handing a message to its daemon: no other may go there */
extern bool pvmi_shadow_due;     /* pvmi_shadow_ask() may have news: that, or frames wait for their shadows */

/* The network is told which task this is. */
void pvmi_shadow_enrolled(uint32_t tid);

/*
 * Begins the shadow of a frame with so many bytes, in virtual time and while nothing is handed over. to[i].number is
 * that of the frame for task to[i].task. True: the frame gets PVMC_FRAME_SHADOW. False: nobody is there for it.
 */
bool pvmi_shadow_begin(const struct pvmc_shadow *to, unsigned count, uint64_t bytes);

/*
 * Asks the network which shadows are on their way to this task, by sender, and updates pvmi_shadow_handing and
 * pvmi_shadow_due. Returns their number, and the list, which is valid until the next call; -1: the network is gone,
 * or there is no memory.
 */
int pvmi_shadow_ask(const struct pvmc_shadow **list);

/* Nothing is under way any more. */
void pvmi_shadow_clear(void);

#endif
