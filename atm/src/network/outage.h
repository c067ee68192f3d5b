/*
 * outage.h - links that go down and come back at the times of the topology. When a link goes down,
 *
 *   cells        are lost (nodes/link_failure.h); VCs remain, permanent and switched ones, and go on when it comes back
 *   routing      follows at once: new calls take other ways, or are refused when there is none
 *   signalling   over it waits; as in Q.2931, timer T309 ends all calls over the link when it has not come back in
 *                time: both ends release them with cause 27 towards the other ends, and permanent VCs still remain
 */
#ifndef PVMA_OUTAGE_H
#define PVMA_OUTAGE_H

#include "network.h"

struct pvma_outages;

/* Schedules the failures of the topology. */
struct pvma_outages *pvma_outages_new(struct pvma_net *net);
void pvma_outages_free(struct pvma_outages *outages);

#endif
