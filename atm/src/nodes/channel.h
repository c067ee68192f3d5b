/*
 * channel.h - a VC on one link: its identifiers there and the bandwidth reserved for it. Admission is decided here, for
 * PVCs and SVCs alike:
 *
 *   peak    at most the link's rate
 *   mean    the sum over all VCs stays within the link's rate and within the fabric's rate of the sending switch
 *   burst   the sum over all VCs stays within the finite buffer of the sending switch
 *
 * A link of a host may carry a limited number of VCs (vcis= of the topology). Switched VCs count, and those permanent
 * ones that say so.
 *
 * Each is lowered from the wanted value to what is left. If that is below the minimum, the VC is refused.
 */
#ifndef PVMA_CHANNEL_H
#define PVMA_CHANNEL_H

#include "base/contract.h"
#include "link.h"

struct pvma_channel {
    struct pvma_link *link;
    uint16_t vpi, vci;
    struct pvma_bandwidth granted;
    bool counted; /* as one of the link's limited number */
};

/* Takes the lowest free VCI and the bandwidth. Returns 0 and sets *channel, or returns a cause and takes nothing. */
int pvma_channel_take(struct pvma_link *link, const struct pvma_bandwidth *wanted, const struct pvma_bandwidth *minimum,
                      struct pvma_channel **channel);

/* The same for a VC that counts: PVMA_CAUSE_NO_VCI if the link carries as many as it may. */
int pvma_channel_take_counted(struct pvma_link *link, const struct pvma_bandwidth *wanted,
                              const struct pvma_bandwidth *minimum, struct pvma_channel **channel);

/* Counts a channel that was taken without; the limit does not matter. */
void pvma_channel_count(struct pvma_channel *channel);

/* Whether the link may carry one more VC that counts. */
bool pvma_link_has_vci(const struct pvma_link *link);

/* The channel of a VC on a link; NULL when there is none. */
struct pvma_channel *pvma_channel_find(const struct pvma_link *link, uint16_t vpi, uint16_t vci);

/* Returns what exceeds `granted`, because a later node of the path granted less. */
void pvma_channel_lower(struct pvma_channel *channel, const struct pvma_bandwidth *granted);

/* Returns identifiers and bandwidth, and frees the channel. */
void pvma_channel_give_back(struct pvma_channel *channel);

#endif
