/*
 * relay.h - forwards each frame to a local task, another host, the receivers of a multicast, or this daemon itself. The
 * relay looks at the destination only, never reassembles messages, and does not know its users.
 */
#ifndef PVMD_RELAY_H
#define PVMD_RELAY_H

#include "core/message/frame.h"
#include "core/message/message.h"

/* The exits of the relay. An exit that keeps the frame takes a reference. */
struct pvmd_exits {
    void (*to_task)(struct pvmc_frame *f, unsigned from_host); /* of this host; the task may not exist */
    void (*to_host)(struct pvmc_frame *f, unsigned index);
    void (*to_many)(struct pvmc_frame *f, unsigned from_host);
    void (*to_self)(const struct pvmc_frame *f, unsigned from_host);
    void (*lost)(pvmc_tid dst); /* a message for dst was lost because memory ran out */
};

/* Call this before the first frame arrives. */
void pvmd_relay_start(const struct pvmd_exits *exits);

/*
 * Forwards a frame: any frame from a local task or from a link, and any of the daemon's own. The caller keeps its
 * reference. Frames for unknown tasks and lost hosts are dropped and counted. from_host is the index of the host whose
 * link delivered the frame, or 0 for frames of local tasks and our own.
 */
void pvmd_relay(struct pvmc_frame *f, unsigned from_host);

/* Cuts a whole message of this daemon into frames and sends them. The caller keeps its reference. */
void pvmd_relay_message(struct pvmc_message *m);

#endif
