/* routing.c - breadth-first search from each host, against the direction of the links. */
#include "routing.h"
#include <stdlib.h>
#include <string.h>

struct pvma_routing {
    size_t count;
    struct pvma_node *const *nodes;
    int16_t *port;  /* [host * count + node]; -1: no path */
    unsigned *hops; /* the same way; NULL when no host has several links */
};

struct search {
    struct pvma_node *const *nodes;
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
        for (unsigned port = 0; port < node->ports && (at == host || !node->is_host); port++) {
            const struct pvma_link *link = node->port[port].in;
            if (!link || link->is_down || search->hops[link->from->number] != UINT32_MAX)
                continue;
            search->hops[link->from->number] = search->hops[at] + 1;
            search->queue[end++] = link->from->number;
        }
    }
}

/* Whether a port leads to the host whose distances are in `hops`. */
static bool leads(const unsigned *hops, const struct pvma_node *node, unsigned port)
{
    unsigned own = hops[node->number];
    const struct pvma_link *link = node->port[port].out;
    if (own == UINT32_MAX || !own || !link || link->is_down || hops[link->to->number] != own - 1)
        return false;
    return own == 1 || !link->to->is_host;
}

static int16_t best_port(const unsigned *hops, const struct pvma_node *node)
{
    for (unsigned port = 0; port < node->ports; port++)
        if (leads(hops, node, port))
            return (int16_t)port;
    return -1;
}

static bool has_less(const struct pvma_link *a, const struct pvma_link *b)
{
    return a->reserved_bps != b->reserved_bps ? a->reserved_bps < b->reserved_bps : a->vcs.used < b->vcs.used;
}

/* Of all ports that lead to a host, the one whose link has the least to carry. */
static int least_loaded(const unsigned *hops, const struct pvma_node *node)
{
    int best = -1;
    for (unsigned port = 0; port < node->ports; port++)
        if (leads(hops, node, port) && (best < 0 || has_less(node->port[port].out, node->port[best].out)))
            best = (int)port;
    return best;
}

void pvma_routing_update(struct pvma_routing *routing)
{
    size_t count = routing->count;
    struct search search = {routing->nodes, count, pvma_new(count * sizeof(unsigned)),
                            pvma_new(count * sizeof(unsigned))};
    for (unsigned host = 0; host < count; host++) {
        if (!routing->nodes[host]->is_host)
            continue;
        measure(&search, host);
        for (size_t i = 0; i < count; i++)
            routing->port[host * count + i] = best_port(search.hops, routing->nodes[i]);
        if (routing->hops)
            memcpy(&routing->hops[host * count], search.hops, count * sizeof *search.hops);
    }
    free(search.queue);
    free(search.hops);
}

struct pvma_routing *pvma_routing_new(struct pvma_node *const *nodes, size_t count)
{
    struct pvma_routing *routing = pvma_new(sizeof *routing);
    routing->count = count;
    routing->nodes = nodes;
    routing->port = pvma_new(count * count * sizeof *routing->port);
    for (size_t i = 0; i < count && !routing->hops; i++)
        if (nodes[i]->is_host && nodes[i]->ports > 1)
            routing->hops = pvma_new(count * count * sizeof *routing->hops);
    pvma_routing_update(routing);
    return routing;
}

void pvma_routing_free(struct pvma_routing *routing)
{
    if (!routing)
        return;
    free(routing->port);
    free(routing->hops);
    free(routing);
}

int pvma_routing_port(const struct pvma_routing *routing, const struct pvma_node *node, unsigned host)
{
    bool at_one = node->is_host && node->ports > 1;
    if (at_one || routing->nodes[host]->ports > 1)
        return least_loaded(&routing->hops[host * routing->count], node);
    return routing->port[host * routing->count + node->number];
}
