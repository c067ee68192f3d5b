/*
 * fddi.h - FDDI: a ring of 100 Mbit/s on which a token grants the right to send (ANSI X3T9.5). A station with the token
 * sends until its holding time ends. Synchronous traffic is not modelled, so the holding time is the time by which the
 * token is early, by the timed token rule.
 */
#ifndef PVMA_FDDI_H
#define PVMA_FDDI_H

#include "station.h"

enum { PVMA_FDDI_MTU = 4352, PVMA_FDDI_STATIONS_MAX = 64, PVMA_FDDI_QUEUE = 50 };

struct pvma_fddi;

struct pvma_fddi_counters {
    uint64_t frames, queue_drops, rotations;
    pvma_ps longest_rotation; /* of the token */
};

/*
 * Creates a ring; `target` is the target token rotation time, `hop` the latency of a station and its fibre. Frames and
 * hops take that time divided by `speed`: 1 is an FDDI of 100 Mbit/s.
 */
struct pvma_fddi *pvma_fddi_new(struct pvma_sim *sim, pvma_ps target, pvma_ps hop, unsigned speed);
void pvma_fddi_free(struct pvma_fddi *net);

/* Adds a station in ring order and returns its interface, which the network owns. Numbers start at 1. */
struct pvma_interface *pvma_fddi_join(struct pvma_fddi *net);

const struct pvma_fddi_counters *pvma_fddi_counters(const struct pvma_fddi *net);

#endif
