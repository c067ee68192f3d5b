/*
 * offer.h - what the two sides of a dp link exchange through the daemons before the first frame: the node, and its
 * places, the network interfaces where it listens. Offer and reply have the same form. The bytes are in
 * doc/protocol.md.
 */
#ifndef PVMT_DP_OFFER_H
#define PVMT_DP_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/host.h"
#include "transports/transport.h"

#define PVMT_DP_PLACES_MAX 5 /* four interfaces, and the loopback */

struct pvmt_dp_place {
    uint8_t hardware[6];
    uint16_t point;
    uint16_t room; /* bytes of the longest message that it can receive */
    bool loopback; /* reachable from the same host only */
};

struct pvmt_dp_offer {
    uint16_t ethertype, node;
    uint8_t host[PVMW_HOST_IDENTITY_BYTES]; /* equal for tasks that share network interfaces */
    uint32_t incarnation;                   /* of this end; not 0 */
    unsigned count;
    struct pvmt_dp_place places[PVMT_DP_PLACES_MAX];
};

/* Returns the number of bytes, or a PVMC_E code. */
int pvmt_dp_offer_encode(const struct pvmt_dp_offer *o, uint8_t blob[PVMT_OFFER_MAX]);

/* 0, PVMC_EFORMAT or PVMC_EVERSION. */
int pvmt_dp_offer_decode(const uint8_t *blob, size_t length, struct pvmt_dp_offer *o);

#endif
