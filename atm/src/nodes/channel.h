/*
 * channel.h - a VC on one link: its identifiers there and the bandwidth set aside for it. This is where admission is
 * decided, for PVCs and SVCs alike:
 *
 *   peak    at most the link's rate
 *   mean    the sum over all VCs stays within the link's rate, and within the fabric's of the switch that sends
 *   burst   the sum over all VCs stays within the finite buffer of the switch that sends
 *
 * Each is lowered from what is wanted to what is left, but not below the minimum: then the VC is refused.
 */
#ifndef PVMA_CHANNEL_H
#define PVMA_CHANNEL_H

#include "contract.h"
#include "link.h"

struct pvma_channel {
    struct pvma_link *link;
    uint16_t vpi, vci;
    struct pvma_bandwidth granted;
};

/* Takes the lowest free VCI and the bandwidth. 0 and *channel, or a cause; nothing is taken then. */
int pvma_channel_take(struct pvma_link *link, const struct pvma_bandwidth *wanted, const struct pvma_bandwidth *minimum,
                      struct pvma_channel **channel);

/* The channel of a VC on a link; NULL when there is none. */
struct pvma_channel *pvma_channel_find(const struct pvma_link *link, uint16_t vpi, uint16_t vci);

/* Gives back what exceeds `granted`: a node further on had less. */
void pvma_channel_lower(struct pvma_channel *channel, const struct pvma_bandwidth *granted);

/* Gives identifiers and bandwidth back, and frees the channel. */
void pvma_channel_give_back(struct pvma_channel *channel);

#endif
