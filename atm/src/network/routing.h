/*
 * routing.h - the tables of a network: the port of each node that leads to a host with the fewest hops over links that
 * are up, and on a tie the lowest port. Hosts forward nothing.
 */
#ifndef PVMA_ROUTING_H
#define PVMA_ROUTING_H

#include "nodes/link.h"

struct pvma_routing;

/* Builds the tables for nodes whose numbers are their indices here. The array must outlive the tables. */
struct pvma_routing *pvma_routing_new(struct pvma_node *const *nodes, size_t count);

/* Finds all ways again, after a link went down or came back. Real networks need a while for it, this one no time. */
void pvma_routing_update(struct pvma_routing *routing);

void pvma_routing_free(struct pvma_routing *routing);

/* The port of `node` that leads now to the host of number `host`; -1 when none does. */
int pvma_routing_port(const struct pvma_routing *routing, const struct pvma_node *node, unsigned host);

#endif
