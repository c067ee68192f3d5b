/* hold.h - tells senders to hold and to continue (flow control, see queue.h). */
#ifndef PVMD_HOLD_H
#define PVMD_HOLD_H

#include <stdbool.h>
#include "core/message/frame.h"
#include "core/message/proto.h"
#include "core/message/tid.h"

/* Whether a frame says HOLD or RELEASE, which only daemons may. */
static inline bool pvmd_hold_is(const struct pvmc_frame_header *h)
{
    return h->ctx == PVMC_CTX_TC && (h->tag == (int32_t)PVMC_TC_HOLD || h->tag == (int32_t)PVMC_TC_RELEASE) &&
           pvmc_tid_is_daemon(h->src);
}

/* Tells a sender (a task's tid, or a daemon's) to hold, or to continue. */
void pvmd_hold_tell(pvmc_tid sender, pvmc_tid receiver, bool hold);

#endif
