/*
 * inside.h - connections between two endpoints of one host: the driver takes packets of its own host back without a
 * cell. They cost the processor what sending and receiving cost, and nothing is lost but what a slow reader leaves.
 */
#ifndef PVMA_INSIDE_H
#define PVMA_INSIDE_H

#include "endpoint.h"

/* Whether an address is that of the endpoint's own host. */
bool pvma_inside_is_own(const struct pvma_endpoint *e, const Atm_address *nsap);

/* Calls an endpoint of the same host. 0: pvma_endpoint_result() follows; or an errno. */
int pvma_inside_connect(struct pvma_endpoint *e, const struct pvmi_atm_message *m,
                        const struct pvma_contract *contract);

/* The called side accepts: both are connected. */
void pvma_inside_accept(struct pvma_endpoint *fresh, struct pvma_endpoint *caller);

/* Takes a packet; the client goes on when the processor is through with it. */
void pvma_inside_send(struct pvma_endpoint *e, const uint8_t *data, size_t length);

/* An end goes: what it has sent arrives, then the other learns of it. Also for one that waits to be accepted. */
void pvma_inside_leave(struct pvma_endpoint *e);

#endif
