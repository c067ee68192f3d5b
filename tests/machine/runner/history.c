/* history.c - records which messages arrived from whom. */
#include "history.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x48495354u /* "HIST" */

struct history_pair {
    int from;
    uint32_t next;
    bool died;
};

/* What each message begins with; bytes of a pattern follow. */
struct head {
    uint32_t magic;
    int32_t from, to;
    uint32_t number;
    uint64_t bytes;
    uint64_t checksum; /* of the pattern */
};

_Static_assert(sizeof(struct head) == HISTORY_BYTES_MIN, "head has padding");

static char wrong_text[256];

#define WRONG(...) (snprintf(wrong_text, sizeof wrong_text, __VA_ARGS__), wrong_text)

void history_init(struct history *h, int me)
{
    memset(h, 0, sizeof *h);
    h->me = me;
}

void history_free(struct history *h)
{
    free(h->pairs);
    h->pairs = NULL;
    h->pair_count = 0;
}

static struct history_pair *pair_find(const struct history *h, int from)
{
    for (unsigned i = 0; i < h->pair_count; i++)
        if (h->pairs[i].from == from)
            return &h->pairs[i];
    return NULL;
}

static struct history_pair *pair_get(struct history *h, int from)
{
    struct history_pair *p = pair_find(h, from);
    if (p)
        return p;
    h->pairs = realloc(h->pairs, (h->pair_count + 1) * sizeof *p);
    if (!h->pairs)
        abort();
    h->pairs[h->pair_count] = (struct history_pair){.from = from};
    return &h->pairs[h->pair_count++];
}

/* Pattern and checksum work on words, because messages are large and must be checked faster than they are sent. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static uint64_t seed_of(const struct head *head)
{
    return mix((uint64_t)(uint32_t)head->from << 32 ^ (uint32_t)head->to) + head->number;
}

static uint64_t checksum(const uint8_t *data, size_t bytes)
{
    uint64_t sum = bytes, word;
    for (; bytes >= sizeof word; data += sizeof word, bytes -= sizeof word) {
        memcpy(&word, data, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u + 1;
    }
    for (; bytes; bytes--)
        sum = (sum ^ *data++) * 0x9e3779b97f4a7c15u + 1;
    return mix(sum);
}

static void fill(uint8_t *data, size_t bytes, uint64_t state)
{
    for (; bytes >= sizeof state; data += sizeof state, bytes -= sizeof state) {
        state += 0x632be59bd9b4e019u;
        memcpy(data, &state, sizeof state);
    }
    memcpy(data, &state, bytes);
}

void history_write(void *data, size_t bytes, int from, int to, uint32_t number)
{
    struct head head = {.magic = MAGIC, .from = from, .to = to, .number = number, .bytes = bytes};
    uint8_t *pattern = (uint8_t *)data + sizeof head;
    fill(pattern, bytes - sizeof head, seed_of(&head));
    head.checksum = checksum(pattern, bytes - sizeof head);
    memcpy(data, &head, sizeof head);
}

const char *history_read(struct history *h, int from, const void *data, size_t bytes)
{
    struct history_pair *p = pair_get(h, from);
    struct head head;
    if (bytes < sizeof head)
        return WRONG("from %x: message %u has %zu bytes only", from, p->next, bytes);
    memcpy(&head, data, sizeof head);
    if (head.magic != MAGIC || head.from != from || head.to != h->me)
        return WRONG("from %x: message %u is not one of %x to %x (magic %x, from %x to %x)", from, p->next, from, h->me,
                     head.magic, head.from, head.to);
    if (head.number != p->next)
        return WRONG("from %x: message %u came, %u was due: %s", from, head.number, p->next,
                     head.number < p->next ? "twice, or out of order" : "a gap");
    if (head.bytes != bytes)
        return WRONG("from %x: message %u has %zu bytes, not %llu", from, head.number, bytes,
                     (unsigned long long)head.bytes);
    if (head.checksum != checksum((const uint8_t *)data + sizeof head, bytes - sizeof head))
        return WRONG("from %x: message %u of %zu bytes was changed", from, head.number, bytes);
    p->next++;
    h->messages++;
    h->bytes += bytes;
    return NULL;
}

uint32_t history_count(const struct history *h, int from)
{
    const struct history_pair *p = pair_find(h, from);
    return p ? p->next : 0;
}

void history_forget(struct history *h, int from)
{
    struct history_pair *p = pair_find(h, from);
    if (p)
        *p = h->pairs[--h->pair_count];
}

void history_death(struct history *h, int from)
{
    pair_get(h, from)->died = true;
}

const char *history_end(const struct history *h, int from, uint32_t sent)
{
    const struct history_pair *p = pair_find(h, from);
    uint32_t came = p ? p->next : 0;
    if (came > sent)
        return WRONG("from %x: %u messages came, only %u were sent", from, came, sent);
    if (came < sent && !(p && p->died))
        return WRONG("from %x: %u of %u messages are missing, and no notify told of its death", from, sent - came,
                     sent);
    return NULL;
}
