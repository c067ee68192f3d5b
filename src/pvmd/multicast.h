/*
 * multicast.h - one message to many tasks. The sender's daemon sends each frame once to every host that has receivers,
 * and every daemon makes a frame for each of its own tasks, which share the payload.
 */
#ifndef PVMD_MULTICAST_H
#define PVMD_MULTICAST_H

#include "../core/buf.h"
#include "../core/frame.h"
#include "tasks.h"

/* Handles TM_MULTICAST and DM_MULTICAST from now on. */
void pvmd_multicast_start(void);

/* A frame for a multicast tid. Called by relay.c. */
void pvmd_multicast_relay(struct pvmi_frame *f, unsigned from_host);

/* The sender has ended: what it did not finish is void. */
void pvmd_multicast_sender_ended(pvmi_tid src);

/* A host has left: neither receives nor sends any more. */
void pvmd_multicast_host_left(unsigned index);

void pvmd_multicast_stop(void);

#endif
