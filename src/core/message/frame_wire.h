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

static inline uint32_t pvmc_wire_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return le32toh(value);
}

static inline uint64_t pvmc_wire_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return le64toh(value);
}

/*
 * Whether pvmc_frame_decode() would accept this header, and it is that of a whole message, without any flag. Reads only
 * the fields that matter.
 */
static inline bool pvmc_frame_glance(const uint8_t wire[PVMC_FRAME_HEADER_BYTES], struct pvmc_frame_glance *g)
{
    static const uint8_t start[] = {PVMC_FRAME_MAGIC & 0xff, PVMC_FRAME_MAGIC >> 8, PVMC_FRAME_VERSION, 0};
    g->length = pvmc_wire_u32(wire + offsetof(struct pvmc_wire_header, length));
    g->dst = pvmc_wire_u32(wire + offsetof(struct pvmc_wire_header, dst));
    g->src = pvmc_wire_u32(wire + offsetof(struct pvmc_wire_header, src));
    g->ctx = pvmc_wire_u32(wire + offsetof(struct pvmc_wire_header, ctx));
    bool is_ours =
        !memcmp(wire, start, sizeof start) && !pvmc_wire_u32(wire + offsetof(struct pvmc_wire_header, reserved));
    bool is_whole = pvmc_wire_u64(wire + offsetof(struct pvmc_wire_header, body_length)) == g->length &&
                    !pvmc_wire_u64(wire + offsetof(struct pvmc_wire_header, offset));
    return is_ours && is_whole && g->length <= PVMC_FRAME_PAYLOAD_MAX;
}

#endif
