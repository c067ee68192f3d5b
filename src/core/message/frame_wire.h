/*
 * frame_wire.h - the layout of a frame's header on the wire, and a glance at it. Inline, because a daemon glances at
 * every frame that it passes on.
 */
#ifndef PVMC_FRAME_WIRE_H
#define PVMC_FRAME_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "frame.h"

/* Little-endian. Every field is naturally aligned, so there is no padding. */
struct pvmc_wire_header {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t length, dst, src, seq, tag, ctx, wid, enc, dsig;
    uint64_t body_length, offset;
    uint32_t crc, reserved;
};

_Static_assert(sizeof(struct pvmc_wire_header) == PVMC_FRAME_HEADER_BYTES, "frame header has padding");

/* What it takes to pass a frame on. */
struct pvmc_frame_glance {
    uint32_t length;
    pvmc_tid dst, src;
    uint32_t ctx;
};

/* Whether pvmc_frame_decode() would accept this header, and it is that of a whole message, without any flag. */
static inline bool pvmc_frame_glance(const uint8_t wire[PVMC_FRAME_HEADER_BYTES], struct pvmc_frame_glance *g)
{
    struct pvmc_wire_header w;
    memcpy(&w, wire, sizeof w);
    *g = (struct pvmc_frame_glance){
        .length = le32toh(w.length), .dst = le32toh(w.dst), .src = le32toh(w.src), .ctx = le32toh(w.ctx)};
    bool is_ours = le16toh(w.magic) == PVMC_FRAME_MAGIC && w.version == PVMC_FRAME_VERSION && !w.reserved;
    bool is_whole = !w.flags && !w.offset && le64toh(w.body_length) == g->length;
    return is_ours && is_whole && g->length <= PVMC_FRAME_PAYLOAD_MAX;
}

#endif
