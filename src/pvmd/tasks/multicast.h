/*
 * multicast.h - one message to many tasks. The sender's daemon sends each frame once to every host with receivers. Each
 * daemon makes a frame for each of its own receivers; these frames share the payload.
 */
#ifndef PVMD_MULTICAST_H
#define PVMD_MULTICAST_H

#include "core/buf.h"
#include "core/message/frame.h"
#include "tasks.h"

/* Starts to handle TM_MULTICAST and DM_MULTICAST. */
void pvmd_multicast_start(void);

/* Forwards a frame for a multicast tid: an exit of the relay. */
void pvmd_multicast_relay(struct pvmc_frame *f, unsigned from_host);

/* The sender has ended: aborts its unfinished multicasts. */
void pvmd_multicast_sender_ended(pvmc_tid src);

/* A host has left: forgets multicasts that came from it. */
void pvmd_multicast_host_left(unsigned index);

void pvmd_multicast_stop(void);

#endif
