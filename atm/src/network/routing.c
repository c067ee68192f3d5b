/* routing.c - breadth-first search from each host, against the direction of the links. */
#include "routing.h"
#include <stdlib.h>

struct pvma_routing {
    size_t count;
    struct pvma_node *const *nodes;
    const bool *is_host;
    int16_t *port; /* [host * count + node]; -1: no path */
};

struct search {
    struct pvma_node *const *nodes;
    const bool *is_host;
    size_t count;
    unsigned *queue, *hops;
};

/* Sets the number of hops from each node to the host; UINT_MAX for nodes without a path. */
static void measure(const struct search *search, unsigned host)
{
    size_t first = 0, end = 0;
    for (size_t i = 0; i < search->count; i++)
        search->hops[i] = UINT32_MAX;
    search->hops[host] = 0;
    search->queue[end++] = host;
    while (first < end) {
        unsigned at = search->queue[first++];
        const struct pvma_node *node = search->nodes[at];
        for (unsigned port = 0; port < node->ports && (at == host || !search->is_host[at]); port++) {
            const struct pvma_link *link = node->port[port].in;
            if (!link || link->is_down || search->hops[link->from->number] != UINT32_MAX)
                continue;
            search->hops[link->from->number] = search->hops[at] + 1;
            search->queue[end++] = link->from->number;
        }
    }
}

static int16_t best_port(const struct search *search, const struct pvma_node *node)
{
    unsigned own = search->hops[node->number];
    for (unsigned port = 0; own != UINT32_MAX && own && port < node->ports; port++) {
        const struct pvma_link *link = node->port[port].out;
        if (!link || link->is_down || search->hops[link->to->number] != own - 1)
            continue;
        if (own == 1 || !search->is_host[link->to->number])
            return (int16_t)port;
    }
    return -1;
}

void pvma_routing_update(struct pvma_routing *routing)
{
    size_t count = routing->count;
    struct search search = {routing->nodes, routing->is_host, count, pvma_new(count * sizeof(unsigned)),
                            pvma_new(count * sizeof(unsigned))};
    for (unsigned host = 0; host < count; host++) {
        if (!routing->is_host[host])
            continue;
        measure(&search, host);
        for (size_t i = 0; i < count; i++)
            routing->port[host * count + i] = best_port(&search, routing->nodes[i]);
    }
    free(search.queue);
    free(search.hops);
}

struct pvma_routing *pvma_routing_new(struct pvma_node *const *nodes, const bool *is_host, size_t count)
{
    struct pvma_routing *routing = pvma_new(sizeof *routing);
    routing->count = count;
    routing->nodes = nodes;
    routing->is_host = is_host;
    routing->port = pvma_new(count * count * sizeof *routing->port);
    pvma_routing_update(routing);
    return routing;
}

void pvma_routing_free(struct pvma_routing *routing)
{
    if (!routing)
        return;
    free(routing->port);
    free(routing);
}

int pvma_routing_port(const struct pvma_routing *routing, const struct pvma_node *node, unsigned host)
{
    return routing->port[host * routing->count + node->number];
}
