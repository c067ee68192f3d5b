/*
 * offer.h - what the two sides of an atm link tell each other by the daemons, before the first packet. Offer and reply
 * have the same form. The bytes are in doc/protocol.md.
 */
#ifndef PVMI_ATM_OFFER_H
#define PVMI_ATM_OFFER_H

#include <stddef.h>
#include <stdint.h>
#include "../transport.h"
#include "fore_atm.h"

#define PVMI_ATM_MTU_MIN 256

struct pvmi_atm_offer {
    Atm_endpoint endpoint; /* offer: where it listens; reply: from where it calls */
    uint32_t incarnation;  /* of this end; not 0 */
    uint32_t mtu;          /* bytes; the smaller one of both counts */
    Aal_type aal;          /* of the offer: that of the connection */
    Atm_sap leaf_asap;     /* where it takes multicast calls; 0: it does not */
};

/* Returns the number of bytes, or a PVMI_E code. */
int pvmi_atm_offer_encode(const struct pvmi_atm_offer *o, uint8_t blob[PVMI_OFFER_MAX]);

/* 0, PVMI_EFORMAT or PVMI_EVERSION. */
int pvmi_atm_offer_decode(const uint8_t *blob, size_t length, struct pvmi_atm_offer *o);

#endif
