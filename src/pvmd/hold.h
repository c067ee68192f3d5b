/*
 * hold.h - telling senders to hold and to go on (flow control, see queue.h), and hearing it: this daemon is a sender
 * itself, of its tasks' output.
 */
#ifndef PVMD_HOLD_H
#define PVMD_HOLD_H

#include "../core/frame.h"

/* Whether a frame says HOLD or RELEASE. */
bool pvmd_hold_is(const struct pvmi_frame_header *h);

/* A frame that says so came for this daemon. Called by relay.c. */
void pvmd_hold_receive(const struct pvmi_frame *f);

#endif
