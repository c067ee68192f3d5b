/* wire.c - encoding, decoding and checksum of packets of the reliability layer. doc/protocol.md describes them. */
#include <endian.h>
#include <string.h>
#include "state.h"

#define VERSION     1
#define CHECKSUM_AT (PVMW_RELIABLE_HEADER_BYTES - 4)

static void put32(uint8_t *to, uint32_t v)
{
    v = htole32(v);
    memcpy(to, &v, sizeof v);
}

static uint32_t get32(const uint8_t *from)
{
    uint32_t v;
    memcpy(&v, from, sizeof v);
    return le32toh(v);
}

void pvmw_reliable_encode(const struct packet_header *h, uint8_t wire[PVMW_RELIABLE_HEADER_BYTES])
{
    put32(wire, VERSION | (uint32_t)h->flags << 8);
    put32(wire + 4, h->to);
    put32(wire + 8, h->from);
    put32(wire + 12, h->number);
    put32(wire + 16, h->ack);
    put32(wire + 20, h->limit);
    put32(wire + 24, h->stamp);
    put32(wire + 28, h->echo);
    pvmw_reliable_seal(wire, h->checksum);
}

void pvmw_reliable_seal(uint8_t wire[PVMW_RELIABLE_HEADER_BYTES], uint32_t checksum)
{
    put32(wire + CHECKSUM_AT, checksum);
}

bool pvmw_reliable_decode(const uint8_t *wire, size_t length, struct packet_header *h)
{
    if (length < PVMW_RELIABLE_HEADER_BYTES || wire[0] != VERSION || wire[1] & ~PACKET_FLAGS || wire[2] || wire[3])
        return false;
    *h = (struct packet_header){.flags = wire[1],
                                .to = get32(wire + 4),
                                .from = get32(wire + 8),
                                .number = get32(wire + 12),
                                .ack = get32(wire + 16),
                                .limit = get32(wire + 20),
                                .stamp = get32(wire + 24),
                                .echo = get32(wire + 28),
                                .checksum = get32(wire + CHECKSUM_AT)};
    bool data = h->flags & PACKET_DATA;
    return data ? !(h->flags & (PACKET_BITMAP | PACKET_END)) : !(h->flags & (PACKET_FIRST | PACKET_LAST));
}

uint32_t pvmw_reliable_addressee(const uint8_t *packet, size_t length)
{
    return length >= PVMW_RELIABLE_HEADER_BYTES && packet[0] == VERSION ? get32(packet + 4) : 0;
}

/*
 * Two running sums for each of eight lanes of 32-bit words, so that the compiler can use vector registers. This is
 * about ten times as fast as a CRC, which would take longer than the wire. The second sum depends on the order; odd
 * factors keep the lanes apart. It finds any damage within one word, and misses other damage about once in 2^32 times.
 */
enum { LANES = 8, BLOCK = 4 * LANES };

#define INLINE static inline __attribute__((always_inline))

typedef uint32_t lanes __attribute__((vector_size(BLOCK)));

struct sum {
    lanes a, b;
    uint8_t rest[BLOCK]; /* bytes of an incomplete block */
    size_t rest_length, length;
};

INLINE void add_blocks(struct sum *s, const uint8_t *data, size_t blocks)
{
    lanes a = s->a, b = s->b, words;
    for (; blocks--; data += BLOCK) {
        memcpy(&words, data, BLOCK);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        for (int i = 0; i < LANES; i++)
            words[i] = __builtin_bswap32(words[i]);
#endif
        a += words;
        b += a;
    }
    s->a = a;
    s->b = b;
}

INLINE void add(struct sum *s, const uint8_t *data, size_t length)
{
    s->length += length;
    if (s->rest_length) {
        size_t n = BLOCK - s->rest_length < length ? BLOCK - s->rest_length : length;
        memcpy(s->rest + s->rest_length, data, n);
        s->rest_length += n;
        data += n;
        length -= n;
        if (s->rest_length < BLOCK)
            return;
        add_blocks(s, s->rest, 1);
    }
    add_blocks(s, data, length / BLOCK);
    s->rest_length = length % BLOCK;
    memcpy(s->rest, data + length - s->rest_length, s->rest_length);
}

INLINE uint32_t finish(struct sum *s)
{
    memset(s->rest + s->rest_length, 0, BLOCK - s->rest_length);
    add_blocks(s, s->rest, 1);
    uint32_t result = (uint32_t)s->length * 0x9e3779b1u;
    for (int i = 0; i < LANES; i++) {
        result = (result ^ s->a[i]) * 0x85ebca6bu;
        result = ((result ^ result >> 15) + s->b[i]) * 0xc2b2ae35u;
    }
    return result ^ result >> 16;
}

INLINE uint32_t sum_of(const uint8_t *header, const struct iovec *pieces, unsigned count)
{
    struct sum s;
    s.a = s.b = (lanes){0};
    s.rest_length = s.length = 0;
    add(&s, header, PVMW_RELIABLE_HEADER_BYTES);
    for (unsigned i = 0; i < count; i++)
        if (pieces[i].iov_len)
            add(&s, pieces[i].iov_base, pieces[i].iov_len);
    return finish(&s);
}

#ifdef __x86_64__
/* With all lanes in one register. */
__attribute__((target("avx2"))) static uint32_t sum_by_avx2(const uint8_t *header, const struct iovec *pieces,
                                                            unsigned count)
{
    return sum_of(header, pieces, count);
}
#endif

uint32_t pvmw_reliable_checksum(const uint8_t header[PVMW_RELIABLE_HEADER_BYTES], const struct iovec *pieces,
                                unsigned count)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return sum_by_avx2(header, pieces, count);
#endif
    return sum_of(header, pieces, count);
}
