/* pool.h - the token buffer pool: the receive ring of an endpoint, and room for one message to be sent. */
#ifndef PVMI_DP_POOL_H
#define PVMI_DP_POOL_H

#include "endpoint.h"

/* Over the socket e->port.fd, which stays open in any case. messages 0: what is usual. 0 or PVMI_ENOMEM, PVMI_ESYSTEM.
 */
int pvmi_pool_open(struct pvmi_endpoint *e, const struct pvmi_dp_interface *interface, unsigned messages);

/* Closes the socket as well. */
void pvmi_pool_close(struct pvmi_endpoint *e);

#endif
