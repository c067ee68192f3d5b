/*
 * offer.h - what the two sides of an RDMA link exchange through the daemons: 52 bytes each, in the same form for the
 * offer and the reply. The bytes are in doc/protocol.md.
 */
#ifndef PVMT_RDMA_OFFER_H
#define PVMT_RDMA_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "transports/transport.h"

#define PVMT_RDMA_OFFER_BYTES 52
#define PVMT_RDMA_TOKEN_BYTES 16

struct pvmt_rdma_offer {
    bool ethernet;
    uint16_t lid;
    uint32_t queue;   /* number of the queue pair, 24 bits */
    uint32_t first;   /* its first packet sequence number, 24 bits */
    uint8_t mtu;      /* enum ibv_mtu */
    uint8_t reads;    /* limit of the peer's READs that it serves at a time */
    uint16_t credits; /* messages that may be sent before the first is read */
    uint8_t gid[16];
    uint8_t token[PVMT_RDMA_TOKEN_BYTES]; /* drawn by the offering side and sent in its first message */
};

/* Returns the number of bytes. */
int pvmt_rdma_offer_encode(const struct pvmt_rdma_offer *o, uint8_t blob[PVMT_OFFER_MAX]);

/* 0, PVMC_EFORMAT or PVMC_EVERSION. */
int pvmt_rdma_offer_decode(const uint8_t *blob, size_t length, struct pvmt_rdma_offer *o);

#endif
