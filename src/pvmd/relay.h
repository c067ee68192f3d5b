/*
 * relay.h - where a frame goes: a local task, another host, the receivers of a multicast, or this daemon itself.
 * Looks at the destination only; never puts messages together.
 */
#ifndef PVMD_RELAY_H
#define PVMD_RELAY_H

#include "../core/frame.h"
#include "../core/message.h"

/*
 * Sends a frame on its way. Called for each frame that comes in from a local task, from a host link, and for the
 * daemon's own. The caller keeps its reference. Frames for unknown tasks and lost hosts are dropped and counted.
 * from_host: 0 for frames of local tasks and our own, else the index of the host whose link brought it.
 */
void pvmd_relay(struct pvmi_frame *f, unsigned from_host);

/* Sends a whole message (control, notify): cuts it to frames. The caller keeps its reference. */
void pvmd_relay_message(struct pvmi_message *m);

/* Drops what other daemons have begun to send us. */
void pvmd_relay_stop(void);

#endif
