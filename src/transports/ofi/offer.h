/*
 * offer.h - what the two sides of an ofi link exchange through the daemons, in the same form for the offer and the
 * reply. The bytes are in doc/protocol.md.
 */
#ifndef PVMT_OFI_OFFER_H
#define PVMT_OFI_OFFER_H

#include <stddef.h>
#include <stdint.h>
#include "transports/transport.h"

#define PVMT_OFI_NAME_BYTES    64
#define PVMT_OFI_ADDRESS_BYTES 256 /* of the longest address; libfabric's own longest is about 100 */

struct pvmt_ofi_offer {
    char provider[PVMT_OFI_NAME_BYTES];
    uint64_t key;                     /* drawn by this side for this link: the peer shows it in each message */
    uint64_t lease_at, lease_rma_key; /* where the peer reads whether what we have lent is still valid */
    unsigned address_length;
    uint8_t address[PVMT_OFI_ADDRESS_BYTES]; /* of the endpoint, as fi_getname() reports it */
};

/* Returns the number of bytes, or a PVMC_E code. */
int pvmt_ofi_offer_encode(const struct pvmt_ofi_offer *o, uint8_t blob[PVMT_OFFER_MAX]);

/* 0, PVMC_EFORMAT or PVMC_EVERSION. */
int pvmt_ofi_offer_decode(const uint8_t *blob, size_t length, struct pvmt_ofi_offer *o);

#endif
