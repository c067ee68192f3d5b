/*
 * offer.h - what the two sides of an RDMA link tell each other by way of the daemons: 52 bytes each, the same form for
 * the offer and for the reply to it. The bytes are in doc/protocol.md.
 */
#ifndef PVMI_RDMA_OFFER_H
#define PVMI_RDMA_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../transport.h"

#define PVMI_RDMA_OFFER_BYTES 52
#define PVMI_RDMA_TOKEN_BYTES 16

struct pvmi_rdma_offer {
    bool ethernet;
    uint16_t lid;
    uint32_t queue;   /* number of the queue pair, 24 bits */
    uint32_t first;   /* its first packet sequence number, 24 bits */
    uint8_t mtu;      /* enum ibv_mtu */
    uint8_t reads;    /* how many READs of ours may be under way to it at a time */
    uint16_t credits; /* messages that may be sent before any have been taken */
    uint8_t gid[16];
    uint8_t token[PVMI_RDMA_TOKEN_BYTES]; /* drawn by the offering side; the first message on the link bears it */
};

/* Returns the number of bytes. */
int pvmi_rdma_offer_encode(const struct pvmi_rdma_offer *o, uint8_t blob[PVMI_OFFER_MAX]);

/* 0, PVMI_EFORMAT or PVMI_EVERSION. */
int pvmi_rdma_offer_decode(const uint8_t *blob, size_t length, struct pvmi_rdma_offer *o);

#endif
