/* network_parts.h - inside the network: its structs. For network*.c and control.c only. */
#ifndef PVMA_NETWORK_PARTS_H
#define PVMA_NETWORK_PARTS_H

#include "nodes/channel.h"
#include "network.h"
#include "routing.h"

struct pvma_net_pvc {
    struct pvma_channel *there, *back; /* the first channel of each direction; back may be NULL */
};

struct pvma_net {
    const struct pvma_topology *topology;
    struct pvma_sim *sim;
    struct pvma_cells cells;
    struct pvma_node **nodes; /* in the topology's order */
    struct pvma_host **hosts;
    struct pvma_switch **switches;
    struct pvma_link **links; /* two for each link of the topology */
    struct pvma_vc **ends;    /* of the topology's PVCs, two each */
    struct pvma_source **sources;
    struct pvma_routing *routing;
    struct pvma_outages *outages;
    size_t node_count, host_count, switch_count, link_count;
    struct pvma_net_pvc *pvcs;
    size_t pvc_count, pvc_size;
    const struct pvma_broker *broker; /* NULL: none */
    void *broker_arg;
    void (*links_changed)(void *arg); /* NULL: nobody watches */
    void *watch_arg;
};

#endif
