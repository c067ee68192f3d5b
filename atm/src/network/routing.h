/*
 * routing.h - the static tables of a network: which port of a node leads to a host, by the fewest hops; of equal ways,
 * the one over the lowest port. Hosts pass nothing on.
 */
#ifndef PVMA_ROUTING_H
#define PVMA_ROUTING_H

#include "link.h"

struct pvma_routing;

/* Tables for these nodes, whose numbers are their places here. is_host[i] says which are hosts. */
struct pvma_routing *pvma_routing_new(struct pvma_node *const *nodes, const bool *is_host, size_t count);
void pvma_routing_free(struct pvma_routing *routing);

/* The port of `node` that leads to the host of number `host`; -1 when none does. */
int pvma_routing_port(const struct pvma_routing *routing, const struct pvma_node *node, unsigned host);

#endif
