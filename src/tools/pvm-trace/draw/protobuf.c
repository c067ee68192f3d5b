/* protobuf.c - see protobuf.h. */
#include "protobuf.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "tools/pvm-trace/store.h"

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, VARINT_MAX_BYTES = 10, ROOM_MIN = 4096 };

/* Room for so many more bytes. It is a power of two, at least ROOM_MIN, so it need not be stored. */
static uint8_t *more(struct protobuf *p, size_t bytes)
{
    size_t room = p->bytes ? ROOM_MIN : 0;
    while (room && room < p->used)
        room *= 2;
    if (p->used + bytes > room) {
        size_t needed = room ? room : ROOM_MIN;
        while (needed < p->used + bytes)
            needed *= 2;
        p->bytes = realloc(p->bytes, needed);
        if (!p->bytes)
            store_out_of_memory();
    }
    p->used += bytes;
    return p->bytes + p->used - bytes;
}

static size_t varint(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    for (; value > 0x7f; value >>= 7)
        to[n++] = (uint8_t)value | 0x80;
    to[n++] = (uint8_t)value;
    return n;
}

static void put_varint(struct protobuf *p, uint64_t value)
{
    uint8_t bytes[VARINT_MAX_BYTES];
    size_t n = varint(bytes, value);
    memcpy(more(p, n), bytes, n);
}

static void put_key(struct protobuf *p, unsigned field, unsigned type)
{
    put_varint(p, (uint64_t)field << 3 | type);
}

void protobuf_uint(struct protobuf *p, unsigned field, uint64_t value)
{
    put_key(p, field, VARINT);
    put_varint(p, value);
}

void protobuf_int(struct protobuf *p, unsigned field, int64_t value)
{
    protobuf_uint(p, field, (uint64_t)value);
}

void protobuf_fixed64(struct protobuf *p, unsigned field, uint64_t value)
{
    put_key(p, field, FIXED64);
    uint8_t *to = more(p, 8);
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

void protobuf_double(struct protobuf *p, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    protobuf_fixed64(p, field, bits);
}

static bool is_utf8(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    while (*c && *c < 0x80)
        c++;
    json_t *checked = *c ? json_string(text) : NULL; /* jansson refuses what is not UTF-8 */
    bool good = !*c || checked;
    json_decref(checked);
    return good;
}

void protobuf_text(struct protobuf *p, unsigned field, const char *text)
{
    size_t n = strlen(text);
    put_key(p, field, LENGTH);
    put_varint(p, n);
    uint8_t *to = memcpy(more(p, n), text, n);
    if (!is_utf8(text))
        for (size_t i = 0; i < n; i++)
            if (to[i] < ' ' || to[i] > 126)
                to[i] = '?';
}

size_t protobuf_begin(struct protobuf *p, unsigned field)
{
    put_key(p, field, LENGTH);
    return p->used;
}

/* Moves the message, because only now it is known how many bytes its length takes. */
void protobuf_end(struct protobuf *p, size_t begun)
{
    uint8_t length[VARINT_MAX_BYTES];
    size_t bytes = p->used - begun, n = varint(length, bytes);
    more(p, n);
    memmove(p->bytes + begun + n, p->bytes + begun, bytes);
    memcpy(p->bytes + begun, length, n);
}
