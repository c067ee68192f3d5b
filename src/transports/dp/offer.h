/*
 * offer.h - what the two sides of a dp link tell each other by the daemons, before the first frame: the node, and its
 * places, the ends of wires where it listens. Offer and reply have the same form. The bytes are in doc/protocol.md.
 */
#ifndef PVMI_DP_OFFER_H
#define PVMI_DP_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../host.h"
#include "../transport.h"

#define PVMI_DP_PLACES_MAX 5 /* four interfaces, and the loopback */

struct pvmi_dp_place {
    uint8_t hardware[6];
    uint16_t point;
    uint16_t room; /* bytes of the longest message that can come here */
    bool loopback; /* reached from the same host only */
};

struct pvmi_dp_offer {
    uint16_t ethertype, node;
    uint8_t host[PVMI_HOST_IDENTITY_BYTES]; /* the same for tasks that share network interfaces */
    uint32_t incarnation;                   /* of this end; not 0 */
    unsigned count;
    struct pvmi_dp_place places[PVMI_DP_PLACES_MAX];
};

/* Returns the number of bytes, or a PVMI_E code. */
int pvmi_dp_offer_encode(const struct pvmi_dp_offer *o, uint8_t blob[PVMI_OFFER_MAX]);

/* 0, PVMI_EFORMAT or PVMI_EVERSION. */
int pvmi_dp_offer_decode(const uint8_t *blob, size_t length, struct pvmi_dp_offer *o);

#endif
