/* pool.h - the token buffer pool: the receive ring of an endpoint, and room for one message to be sent. */
#ifndef DPI_DP_POOL_H
#define DPI_DP_POOL_H

#include "net/endpoint.h"

/* Over the socket e->port.fd, which stays open in any case. messages 0: the default. 0, PVMC_ENOMEM, PVMC_ESYSTEM. */
int dpi_pool_open(struct dpi_endpoint *e, const struct dpi_interface *interface, unsigned messages);

/* Closes the pool and the socket. */
void dpi_pool_close(struct dpi_endpoint *e);

#endif
