/*
 * link.h - the authenticated, encrypted stream to another host's daemon (TLS 1.3 with the machine's secret).
 *
 * One link for each pair of hosts. What it carries is neither lost nor reordered while both daemons live: sent frames
 * are kept until the other side has counted them, a torn connection is opened again at once, and two slaves who cannot
 * reach each other send through the master.
 */
#ifndef PVMD_LINK_H
#define PVMD_LINK_H

#include <stddef.h>
#include "../core/frame.h"
#include "hosts.h"

/*
 * Takes a frame for a known host (a reference of it). Opens a link first where there is none: slaves reach each other
 * when they first have something to say. Called by relay.c and rpc.c; senders are held when the line is slow (queue.h).
 */
void pvmd_link_send(struct pvmd_host *host, struct pvmi_frame *f);

#endif
