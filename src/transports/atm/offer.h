/*
 * offer.h - what the two sides of an atm link exchange through the daemons before the first packet. Offer and reply
 * have the same form. The bytes are in doc/protocol.md.
 */
#ifndef PVMT_ATM_OFFER_H
#define PVMT_ATM_OFFER_H

#include <stddef.h>
#include <stdint.h>
#include "transports/transport.h"
#include "fore_atm.h"
#include "protocol.h"

#define PVMT_ATM_MTU_MIN 256

struct pvmt_atm_offer {
    Atm_endpoint endpoint; /* offer: where it listens; reply: where it calls from */
    uint32_t incarnation;  /* of this end; not 0 */
    uint32_t mtu;          /* bytes; the smaller of both sides' values applies */
    Atm_protocol protocol; /* must be that of the other side */
    Aal_type aal;          /* in the offer: that of the connection */
    Atm_sap leaf_asap;     /* where it accepts multicast calls; 0: it does not */
};

/* Returns the number of bytes, or a PVMC_E code. */
int pvmt_atm_offer_encode(const struct pvmt_atm_offer *o, uint8_t blob[PVMT_OFFER_MAX]);

/* 0, PVMC_EFORMAT or PVMC_EVERSION. */
int pvmt_atm_offer_decode(const uint8_t *blob, size_t length, struct pvmt_atm_offer *o);

#endif
