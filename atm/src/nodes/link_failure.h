/*
 * link_failure.h - a link that goes down and comes back. While it is down:
 *
 *   cells        that are in flight, or are sent, are lost and counted as `failed`; the sender goes on at its rate
 *   signalling   waits, because the protocol that makes it reliable (SAAL) would send it again
 *   credits      neither arrive nor are lost: those of lost cells come back too, so that both ends agree afterwards
 *
 * Which calls end because of it, and which ways new calls take, is decided in network/outage.c.
 */
#ifndef PVMA_LINK_FAILURE_H
#define PVMA_LINK_FAILURE_H

#include "link.h"

/* Takes one direction of a link down; it must be up. */
void pvma_link_fail(struct pvma_link *link);

/* Brings it back. Signalling that waited is sent before anything else. */
void pvma_link_restore(struct pvma_link *link);

/* Drops the signalling that waits or is sent before the link comes back, because both ends have released all calls over
 * this link. */
void pvma_link_forget_signalling(struct pvma_link *link);

/* Called by link.c for a cell that is sent while the link is down. Takes the cell. */
void pvma_link_lose(struct pvma_link *link, struct pvma_cell *cell);

#endif
