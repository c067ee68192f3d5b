/*
 * ethernet.h - 10 Mbit/s Ethernet on one cable: carrier sense, collisions, binary exponential back-off (IEEE 802.3).
 *
 * A station begins to send when the cable has been silent for 9.6 us. If another's first bits have not reached it by
 * then, the two collide: both jam, wait a random number of slots of 51.2 us, and try again, up to 16 times.
 */
#ifndef PVMA_ETHERNET_H
#define PVMA_ETHERNET_H

#include "base/random.h"
#include "station.h"

enum {
    PVMA_ETHERNET_MTU = 1500,
    PVMA_ETHERNET_STATIONS_MAX = 64,
    PVMA_ETHERNET_QUEUE = 50, /* packets in a station's driver */
};

struct pvma_ethernet;

struct pvma_ethernet_counters {
    uint64_t frames, collisions, given_up, queue_drops, lost;
    pvma_ps busy; /* time spent on frames that arrived */
};

/*
 * Creates a cable; `propagation` is its length in time from end to end (100 m: 0.5 us). All its times are divided by
 * `speed`: 1 is an Ethernet of 10 Mbit/s.
 */
struct pvma_ethernet *pvma_ethernet_new(struct pvma_sim *sim, pvma_ps propagation, unsigned speed);
void pvma_ethernet_free(struct pvma_ethernet *net);

/* From now on each frame is damaged, and discarded by all, with this probability. Initially 0. */
void pvma_ethernet_lose(struct pvma_ethernet *net, double probability);

/* Adds a station and returns its interface, which the network owns. Numbers start at 1. */
struct pvma_interface *pvma_ethernet_join(struct pvma_ethernet *net);

const struct pvma_ethernet_counters *pvma_ethernet_counters(const struct pvma_ethernet *net);

#endif
