/*
 * link.h - the authenticated, encrypted stream to another host's daemon (TLS 1.3 with the machine's secret).
 */
#ifndef PVMD_LINK_H
#define PVMD_LINK_H

#include "../core/frame.h"
#include "hosts.h"

/*
 * Takes a frame for a member host (a reference of it). Opens a link first where there is none: slaves reach each other
 * when they first have something to say. Called by relay.c; senders are held when the line is slow (queue.h).
 */
void pvmd_link_send(struct pvmd_host *host, struct pvmi_frame *f);

#endif
