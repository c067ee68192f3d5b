/*
 * route.h - what PVM's daemons' route costs in virtual time. The bytes of a message pass through the real daemons in no
 * virtual time; its shadow crosses the simulated network as the message would have, and the receiver waits for it.
 *
 *   task A -> pvmd A == packets of UDP, cells on the network's links ==> pvmd B -> task B
 *
 * Task and daemons handle the message in fragments, each of which costs their hosts' processors the profile's
 * pvmd_fragment and pvmd_byte at each of the four places. Between two hosts one packet is in flight: the daemon keeps
 * it until it is acknowledged, and sends it again when that takes too long. A task hands a fragment to its daemon when
 * there is room for it. Tasks of one host need no packets, and three places instead of four.
 */
#ifndef PVMA_ROUTE_H
#define PVMA_ROUTE_H

#include "client.h"

/* A receiver of a message, or a message under way: the other task, and the sender's number of the message for it. */
struct pvma_route_end {
    uint32_t task, number;
};

#define PVMA_ROUTE_END_BYTES 8                                              /* of one on the wire */
#define PVMA_ROUTE_ENDS_MAX  (PVMA_FORE_PDU_MAX / PVMA_ROUTE_END_BYTES - 1) /* of one message */

/*
 * Begins the shadow of a message of that many bytes from client c to those of the tasks that are on the network.
 * Returns how many are not. pvma_client_tell() follows when c's part is done, and for each receiver at which it has
 * arrived.
 */
unsigned pvma_route_begin(struct pvma_client *c, const struct pvma_route_end *to, unsigned count, uint64_t bytes);

/* Shadows that c is still handing to its daemon. */
unsigned pvma_route_handing(const struct pvma_client *c);

/* The shadows on their way to c but for the first ones, at most PVMA_ROUTE_ENDS_MAX. Returns their number. */
unsigned pvma_route_under_way(const struct pvma_client *c, unsigned first, struct pvma_route_end *list);

/* Frees all shadows and connections. Call before the network is freed. */
void pvma_route_free_all(void);

#endif
