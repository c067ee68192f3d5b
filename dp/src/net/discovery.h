/*
 * discovery.h - asks the network for the hardware address of a node: WHO is broadcast, HERE answers. Both repeat the
 * sender's address with a checksum, so that a damaged frame changes no table.
 */
#ifndef DPI_DP_DISCOVERY_H
#define DPI_DP_DISCOVERY_H

#include "peer.h"

#define DPI_DISCOVERY_BYTES 12 /* after the message header: hardware address, two zeros, checksum */

void dpi_discovery_ask(struct dpi_endpoint *e, const struct dpi_peer *p);

/* Handles a message of kind WHO or HERE. False: it is malformed. */
bool dpi_discovery_take(struct dpi_endpoint *e, const uint8_t *frame, const struct dpi_message *m);

/* The checksum of a control frame: over its message header and `length` bytes after it. */
uint32_t dpi_discovery_checksum(const uint8_t *frame, size_t length);

#endif
