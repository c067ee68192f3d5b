/* header.c - see header.h. A 16-bit mask of the fields that differ from the prediction, then those fields in the order
 * of the bits.
 */
#include "header.h"
#include <endian.h>
#include <string.h>
#include "core/error.h"

/* X(field): the fields of 32 bits. */
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

/* Predicts the next header: the next frame in a series of similar messages. */
static inline struct pvmc_frame_header foresee(const struct pvmc_frame_header *last)
{
    struct pvmc_frame_header h = *last;
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

size_t pvmt_rdma_header_encode(const struct pvmt_rdma_headers *s, const struct pvmc_frame_header *h, uint8_t *to)
{
    struct pvmc_frame_header due = foresee(&s->last);
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

int pvmt_rdma_header_decode(struct pvmt_rdma_headers *s, struct pvmc_buf *b, struct pvmc_frame_header *h)
{
    unsigned mask = pvmc_buf_get_u16(b);
    if (__builtin_expect(!mask && !pvmc_buf_error(b) && s->last.body_length == s->last.length, 1)) {
        s->last.seq++; /* as foreseen */
        *h = s->last;
        return 0;
    }
    *h = foresee(&s->last);
#define X(name)                                                                                                        \
    if (mask & 1u << FIELD_##name)                                                                                     \
        h->name = (__typeof__(h->name))pvmc_buf_get_u32(b);
    WORDS(X)
#undef X
    h->body_length = mask & 1u << FIELD_body_length ? pvmc_buf_get_u64(b) : h->length;
    if (mask & 1u << FIELD_offset)
        h->offset = pvmc_buf_get_u64(b);
    if (mask & 1u << FIELD_flags)
        h->flags = pvmc_buf_get_u8(b);
    if (pvmc_buf_error(b) || mask >> FIELD_COUNT || pvmc_frame_check(h))
        return PVMC_EFORMAT;
    s->last = *h;
    return 0;
}
