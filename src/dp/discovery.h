/*
 * discovery.h - which hardware address a node has, asked of the network: WHO to all, HERE back. Both repeat the
 * sender's address with a checksum, so that a damaged frame teaches nothing.
 */
#ifndef PVMI_DP_DISCOVERY_H
#define PVMI_DP_DISCOVERY_H

#include "peer.h"

#define PVMI_DISCOVERY_BYTES 12 /* behind the message header: hardware address, two zeros, checksum */

void pvmi_discovery_ask(struct pvmi_endpoint *e, const struct pvmi_peer *p);

/* A message of kind WHO or HERE came. False: it was malformed. */
bool pvmi_discovery_take(struct pvmi_endpoint *e, const uint8_t *frame, const struct pvmi_dp_message *m);

/* What a control frame's checksum is: of its message header and `length` bytes behind it. */
uint32_t pvmi_discovery_checksum(const uint8_t *frame, size_t length);

#endif
