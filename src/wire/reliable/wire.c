/* wire.c - encoding, decoding and checksum of packets of the reliability layer. doc/protocol.md describes them. */
#include <string.h>
#include "state.h"

#define VERSION 1

static void put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t get32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void pvmw_reliable_encode(const struct packet_header *h, uint8_t wire[PVMW_RELIABLE_HEADER_BYTES])
{
    const uint32_t words[] = {h->to, h->from, h->number, h->ack, h->limit, h->stamp, h->echo, h->checksum};
    wire[0] = VERSION;
    wire[1] = h->flags;
    wire[2] = wire[3] = 0;
    for (int i = 0; i < 8; i++)
        put32(wire + 4 + 4 * i, words[i]);
}

bool pvmw_reliable_decode(const uint8_t *wire, size_t length, struct packet_header *h)
{
    if (length < PVMW_RELIABLE_HEADER_BYTES || wire[0] != VERSION || wire[1] & ~PACKET_FLAGS || wire[2] || wire[3])
        return false;
    h->flags = wire[1];
    uint32_t *words[] = {&h->to, &h->from, &h->number, &h->ack, &h->limit, &h->stamp, &h->echo, &h->checksum};
    for (int i = 0; i < 8; i++)
        *words[i] = get32(wire + 4 + 4 * i);
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

struct sum {
    uint32_t a[LANES], b[LANES];
    uint8_t rest[BLOCK]; /* bytes of an incomplete block */
    size_t rest_length;
    uint64_t length;
};

static void add_blocks_anywhere(struct sum *s, const uint8_t *data, size_t blocks)
{
    uint32_t a[LANES], b[LANES];
    memcpy(a, s->a, sizeof a);
    memcpy(b, s->b, sizeof b);
    for (; blocks--; data += BLOCK) {
        uint32_t words[LANES];
        memcpy(words, data, BLOCK);
        for (int i = 0; i < LANES; i++) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            words[i] = __builtin_bswap32(words[i]);
#endif
            a[i] += words[i];
            b[i] += a[i];
        }
    }
    memcpy(s->a, a, sizeof a);
    memcpy(s->b, b, sizeof b);
}

#ifdef __x86_64__
/* add_blocks() with all lanes in one register. */
__attribute__((target("avx2"))) static void add_blocks_avx2(struct sum *s, const uint8_t *data, size_t blocks)
{
    typedef uint32_t lanes __attribute__((vector_size(BLOCK)));
    lanes a, b, words;
    memcpy(&a, s->a, sizeof a);
    memcpy(&b, s->b, sizeof b);
    for (; blocks--; data += BLOCK) {
        memcpy(&words, data, BLOCK);
        a += words;
        b += a;
    }
    memcpy(s->a, &a, sizeof a);
    memcpy(s->b, &b, sizeof b);
}
#endif

static void add_blocks(struct sum *s, const uint8_t *data, size_t blocks)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        add_blocks_avx2(s, data, blocks);
        return;
    }
#endif
    add_blocks_anywhere(s, data, blocks);
}

static void add(struct sum *s, const uint8_t *data, size_t length)
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

static uint32_t finish(struct sum *s)
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

uint32_t pvmw_reliable_checksum(const uint8_t header[PVMW_RELIABLE_HEADER_BYTES], const struct iovec *pieces,
                                unsigned count)
{
    struct sum s = {.rest_length = 0};
    add(&s, header, PVMW_RELIABLE_HEADER_BYTES);
    for (unsigned i = 0; i < count; i++)
        if (pieces[i].iov_len)
            add(&s, pieces[i].iov_base, pieces[i].iov_len);
    return finish(&s);
}
