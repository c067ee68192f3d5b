/*
 * inside.h - connections between two endpoints of one host, which the driver loops back without cells. Packets cost the
 * processor as much as sending and receiving. Only a slow reader loses packets.
 */
#ifndef PVMA_INSIDE_H
#define PVMA_INSIDE_H

#include "endpoint.h"

/* Whether an address is that of the endpoint's own host. */
bool pvma_inside_is_own(const struct pvma_endpoint *e, const Atm_address *nsap);

/* Calls an endpoint of the same host. 0: pvma_endpoint_result() follows; or an errno. */
int pvma_inside_connect(struct pvma_endpoint *e, const struct pvma_fore_message *m,
                        const struct pvma_contract *contract);

/* Connects both ends when the called side accepts. */
void pvma_inside_accept(struct pvma_endpoint *fresh, struct pvma_endpoint *caller);

/* Takes a packet; the client continues when the processor has finished with it. */
void pvma_inside_send(struct pvma_endpoint *e, const uint8_t *data, size_t length);

/*
 * The same for an assured endpoint: takes as many bytes as the window has room for and returns their number. They can
 * be read at the other end when the processor has finished with them.
 */
size_t pvma_inside_write(struct pvma_endpoint *e, const uint8_t *data, size_t length);
size_t pvma_inside_read(struct pvma_endpoint *e, uint8_t *to, size_t bytes);
size_t pvma_inside_readable(const struct pvma_endpoint *e);

/* Closes an end, also one that waits to be accepted. Its packets arrive before the peer sees the end. */
void pvma_inside_leave(struct pvma_endpoint *e);

#endif
