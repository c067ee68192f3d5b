/*
 * header.h - frame headers on an RDMA link: only what the last frame of the same direction does not tell. A reliable
 * queue pair keeps order, so both sides know the last one; in a ping-pong two bytes are left of 64.
 */
#ifndef PVMI_RDMA_HEADER_H
#define PVMI_RDMA_HEADER_H

#include "../../core/buf.h"
#include "../../core/frame.h"

#define PVMI_RDMA_HEADER_MAX 64 /* bytes of the longest form */

/* The last header of one direction; begins as all zeros on both sides. */
struct pvmi_rdma_headers {
    struct pvmi_frame_header last;
};

/* Writes h; returns the number of bytes. The caller stores h in s->last when it is on its way. */
size_t pvmi_rdma_header_encode(const struct pvmi_rdma_headers *s, const struct pvmi_frame_header *h, uint8_t *to);

/* Reads and checks a header, and remembers it: 0 or PVMI_EFORMAT. */
int pvmi_rdma_header_decode(struct pvmi_rdma_headers *s, struct pvmi_buf *b, struct pvmi_frame_header *h);

#endif
