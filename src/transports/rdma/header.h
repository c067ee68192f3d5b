/*
 * header.h - frame headers on an RDMA link, as differences from the last frame of the same direction. A reliable queue
 * pair keeps order, so both sides know the last header. In a ping-pong two bytes of 64 remain.
 */
#ifndef PVMT_RDMA_HEADER_H
#define PVMT_RDMA_HEADER_H

#include "core/buf.h"
#include "core/message/frame.h"

#define PVMT_RDMA_HEADER_MAX 64 /* bytes of the longest form */

/* The last header of one direction; initially all zeros on both sides. */
struct pvmt_rdma_headers {
    struct pvmc_frame_header last;
};

/* Writes h; returns the number of bytes. The caller stores h in s->last once it is sent. */
size_t pvmt_rdma_header_encode(const struct pvmt_rdma_headers *s, const struct pvmc_frame_header *h, uint8_t *to);

/* Reads and checks a header, and remembers it: 0 or PVMC_EFORMAT. */
int pvmt_rdma_header_decode(struct pvmt_rdma_headers *s, struct pvmc_buf *b, struct pvmc_frame_header *h);

#endif
