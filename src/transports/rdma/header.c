/* header.c - see header.h. A mask of the fields that are not as foreseen, 16 bits, then these in the order of the bits.
 */
#include "header.h"
#include <endian.h>
#include <string.h>
#include "../../core/error.h"

/* X(field): those of 32 bits. */
#define WORDS(X) X(length) X(dst) X(src) X(seq) X(tag) X(ctx) X(wid) X(enc) X(dsig) X(crc)

enum field {
#define X(name) FIELD_##name,
    WORDS(X)
#undef X
        FIELD_body_length,
    FIELD_offset,
    FIELD_flags,
    FIELD_COUNT
};

/* The next header as it will be if nothing is told: the next frame of a row of like messages. */
static inline struct pvmi_frame_header foresee(const struct pvmi_frame_header *last)
{
    struct pvmi_frame_header h = *last;
    h.seq++;
    h.offset = 0;
    return h;
}

static inline uint8_t *put32(uint8_t *at, uint32_t v)
{
    v = htole32(v);
    memcpy(at, &v, sizeof v);
    return at + sizeof v;
}

static inline uint8_t *put64(uint8_t *at, uint64_t v)
{
    v = htole64(v);
    memcpy(at, &v, sizeof v);
    return at + sizeof v;
}

size_t pvmi_rdma_header_encode(const struct pvmi_rdma_headers *s, const struct pvmi_frame_header *h, uint8_t *to)
{
    struct pvmi_frame_header due = foresee(&s->last);
    unsigned mask = 0;
    uint8_t *at = to + 2;
#define X(name)                                                                                                        \
    if (h->name != due.name) {                                                                                         \
        mask |= 1u << FIELD_##name;                                                                                    \
        at = put32(at, (uint32_t)h->name);                                                                             \
    }
    WORDS(X)
#undef X
    if (h->body_length != h->length) {
        mask |= 1u << FIELD_body_length;
        at = put64(at, h->body_length);
    }
    if (h->offset) {
        mask |= 1u << FIELD_offset;
        at = put64(at, h->offset);
    }
    if (h->flags != due.flags) {
        mask |= 1u << FIELD_flags;
        *at++ = h->flags;
    }
    to[0] = (uint8_t)mask;
    to[1] = (uint8_t)(mask >> 8);
    return (size_t)(at - to);
}

int pvmi_rdma_header_decode(struct pvmi_rdma_headers *s, struct pvmi_buf *b, struct pvmi_frame_header *h)
{
    *h = foresee(&s->last);
    unsigned mask = pvmi_buf_get_u16(b);
#define X(name)                                                                                                        \
    if (mask & 1u << FIELD_##name)                                                                                     \
        h->name = (__typeof__(h->name))pvmi_buf_get_u32(b);
    WORDS(X)
#undef X
    h->body_length = mask & 1u << FIELD_body_length ? pvmi_buf_get_u64(b) : h->length;
    if (mask & 1u << FIELD_offset)
        h->offset = pvmi_buf_get_u64(b);
    if (mask & 1u << FIELD_flags)
        h->flags = pvmi_buf_get_u8(b);
    if (pvmi_buf_error(b) || mask >> FIELD_COUNT || pvmi_frame_check(h))
        return PVMI_EFORMAT;
    s->last = *h;
    return 0;
}
