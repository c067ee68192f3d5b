/* channel.c - admission: granting, lowering and returning reservations. */
#include "channel.h"
#include <stdlib.h>
#include "switch.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void change(struct pvma_link *link, int64_t mean_bps, int32_t burst_cells)
{
    link->reserved_bps += mean_bps;
    link->from->reserved_bps += mean_bps;
    link->from->reserved_cells += (uint32_t)burst_cells;
}

static int64_t mean_left(const struct pvma_link *link)
{
    int64_t left = link->options.rate_bps - link->reserved_bps;
    const struct pvma_node *node = link->from;
    return node->fabric_bps ? smaller(left, node->fabric_bps - node->reserved_bps) : left;
}

static int64_t burst_left(const struct pvma_link *link)
{
    const struct pvma_node *node = link->from;
    return node->buffer_cells ? (int64_t)node->buffer_cells - node->reserved_cells : INT32_MAX;
}

static int admit(const struct pvma_link *link, const struct pvma_bandwidth *wanted,
                 const struct pvma_bandwidth *minimum, struct pvma_bandwidth *granted)
{
    granted->peak_bps = smaller(wanted->peak_bps, link->options.rate_bps);
    granted->mean_bps = smaller(wanted->mean_bps, mean_left(link));
    granted->burst_cells = (int32_t)smaller(wanted->burst_cells, burst_left(link));
    if (granted->peak_bps < minimum->peak_bps || granted->mean_bps < minimum->mean_bps)
        return PVMA_CAUSE_NO_BANDWIDTH;
    return granted->burst_cells < minimum->burst_cells ? PVMA_CAUSE_NO_BUFFER : 0;
}

/* The switch at the far end may still know a VC that this side has freed, until the release reaches it. */
static bool is_known_behind(const struct pvma_link *link, uint16_t vci)
{
    struct pvma_node *node = link->to;
    return !node->is_host && pvma_switch_route(pvma_switch_of(node), link->to_port, 0, vci);
}

static uint16_t free_vci(const struct pvma_link *link)
{
    for (unsigned vci = PVMA_VCI_FIRST; vci <= PVMA_VCI_MAX; vci++)
        if (!pvma_vctable_get(&link->vcs, 0, (uint16_t)vci) && !is_known_behind(link, (uint16_t)vci))
            return (uint16_t)vci;
    return 0;
}

int pvma_channel_take(struct pvma_link *link, const struct pvma_bandwidth *wanted, const struct pvma_bandwidth *minimum,
                      struct pvma_channel **channel)
{
    struct pvma_bandwidth granted;
    int cause = admit(link, wanted, minimum, &granted);
    uint16_t vci = cause ? 0 : free_vci(link);
    if (cause || !vci)
        return cause ? cause : PVMA_CAUSE_NO_VCI;
    struct pvma_channel *c = pvma_new(sizeof *c);
    *c = (struct pvma_channel){.link = link, .vpi = 0, .vci = vci, .granted = granted};
    pvma_vctable_set(&link->vcs, c->vpi, c->vci, c);
    change(link, granted.mean_bps, granted.burst_cells);
    *channel = c;
    return 0;
}

bool pvma_link_has_vci(const struct pvma_link *link)
{
    return !link->vci_limit || link->vci_count < link->vci_limit;
}

void pvma_channel_count(struct pvma_channel *channel)
{
    channel->counted = true;
    channel->link->vci_count++;
}

int pvma_channel_take_counted(struct pvma_link *link, const struct pvma_bandwidth *wanted,
                              const struct pvma_bandwidth *minimum, struct pvma_channel **channel)
{
    int cause = pvma_link_has_vci(link) ? pvma_channel_take(link, wanted, minimum, channel) : PVMA_CAUSE_NO_VCI;
    if (!cause)
        pvma_channel_count(*channel);
    return cause;
}

struct pvma_channel *pvma_channel_find(const struct pvma_link *link, uint16_t vpi, uint16_t vci)
{
    return pvma_vctable_get(&link->vcs, vpi, vci);
}

void pvma_channel_lower(struct pvma_channel *channel, const struct pvma_bandwidth *granted)
{
    struct pvma_bandwidth *own = &channel->granted;
    int64_t mean = smaller(own->mean_bps, granted->mean_bps);
    int32_t burst = (int32_t)smaller(own->burst_cells, granted->burst_cells);
    change(channel->link, mean - own->mean_bps, burst - own->burst_cells);
    own->mean_bps = mean;
    own->burst_cells = burst;
    own->peak_bps = smaller(own->peak_bps, granted->peak_bps);
}

void pvma_channel_give_back(struct pvma_channel *channel)
{
    change(channel->link, -channel->granted.mean_bps, -channel->granted.burst_cells);
    pvma_vctable_remove(&channel->link->vcs, channel->vpi, channel->vci);
    channel->link->vci_count -= channel->counted;
    free(channel);
}
