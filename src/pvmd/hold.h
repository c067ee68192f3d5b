/*
 * hold.h - telling senders to hold and to go on (flow control, see queue.h), and hearing it: this daemon is a sender
 * itself, of its tasks' output.
 */
#ifndef PVMD_HOLD_H
#define PVMD_HOLD_H

#include <stdbool.h>
#include "../core/frame.h"
#include "../core/proto.h"
#include "../core/tid.h"

/* Whether a frame says HOLD or RELEASE, which only daemons may. */
static inline bool pvmd_hold_is(const struct pvmi_frame_header *h)
{
    return h->ctx == PVMI_CTX_TC && (h->tag == (int32_t)PVMI_TC_HOLD || h->tag == (int32_t)PVMI_TC_RELEASE) &&
           pvmi_tid_is_daemon(h->src);
}

/* A frame that says so came for this daemon. Called by relay.c. */
void pvmd_hold_receive(const struct pvmi_frame *f);

#endif
