/* lossy_channel.c - see lossy_channel.h. The heap is ordered by time of arrival. */
#include "lossy_channel.h"
#include <stdlib.h>
#include <string.h>

uint32_t lossy_random(struct lossy_channel *c)
{
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(c->random >> 33);
}

static bool happens(struct lossy_channel *c, unsigned chances)
{
    return lossy_random(c) % 10000 < chances;
}

static bool before(const struct lossy_flight *a, const struct lossy_flight *b)
{
    return a->arrives_us != b->arrives_us ? a->arrives_us < b->arrives_us : a->order < b->order;
}

static void swap(struct lossy_channel *c, unsigned i, unsigned j)
{
    struct lossy_flight *f = c->heap[i];
    c->heap[i] = c->heap[j];
    c->heap[j] = f;
}

static void push(struct lossy_channel *c, struct lossy_flight *f)
{
    if (c->count == LOSSY_FLIGHTS_MAX)
        abort();
    unsigned i = c->count++;
    for (c->heap[i] = f; i && before(c->heap[i], c->heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(c, i, (i - 1) / 2);
}

struct lossy_flight *lossy_take(struct lossy_channel *c)
{
    struct lossy_flight *first = c->heap[0];
    c->heap[0] = c->heap[--c->count];
    for (unsigned i = 0, next; (next = 2 * i + 1) < c->count; i = next) {
        if (next + 1 < c->count && before(c->heap[next + 1], c->heap[next]))
            next++;
        if (!before(c->heap[next], c->heap[i]))
            break;
        swap(c, i, next);
    }
    return first;
}

static void fly(struct lossy_channel *c, void *to, int64_t *wire_us, const uint8_t *bytes, uint32_t length)
{
    struct lossy_flight *f = malloc(sizeof *f);
    f->to = to;
    f->length = length;
    f->order = c->order++;
    *wire_us = (*wire_us > c->now_us ? *wire_us : c->now_us) + c->packet_us;
    f->arrives_us = *wire_us + c->delay_us;
    if (happens(c, c->reorder))
        f->arrives_us += lossy_random(c) % (10 * c->delay_us + 1);
    memcpy(f->bytes, bytes, length);
    if (happens(c, c->damage))
        f->bytes[lossy_random(c) % length] ^= (uint8_t)(1 << lossy_random(c) % 8);
    push(c, f);
}

void lossy_send(struct lossy_channel *c, void *to, int64_t *wire_us, const uint8_t *bytes, uint32_t length)
{
    if (!happens(c, c->loss))
        fly(c, to, wire_us, bytes, length);
    if (happens(c, c->duplicate))
        fly(c, to, wire_us, bytes, length);
}
