/* quorum_search.c - see quorum_search.h. */
#include "quorum_search.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a state was reached. States are numbered as they are found, from 0. */
struct step {
    uint32_t from;
    struct model_action action;
};

struct level {
    uint8_t *bytes; /* of each state: u16 length, bytes */
    size_t length, capacity;
};

static struct step *steps;
static uint64_t *seen; /* hashes, open addressing; 0: free */
static size_t slots;
static unsigned states;

static void *grown(void *p, size_t bytes)
{
    p = realloc(p, bytes);
    if (!p)
        abort();
    return p;
}

static uint64_t hash_of(const uint8_t *bytes, size_t length)
{
    uint64_t h = length, word;
    for (size_t i = 0; i < length; i += sizeof word) {
        size_t n = length - i < sizeof word ? length - i : sizeof word;
        word = 0;
        memcpy(&word, bytes + i, n);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
        h *= 0xbf58476d1ce4e5b9u;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

static bool insert(uint64_t hash)
{
    size_t i = hash & (slots - 1);
    for (; seen[i]; i = (i + 1) & (slots - 1))
        if (seen[i] == hash)
            return false;
    seen[i] = hash;
    return true;
}

static void make_room(void)
{
    if (2 * (size_t)states < slots)
        return;
    uint64_t *old = seen;
    size_t old_slots = slots;
    slots = old_slots ? 2 * old_slots : 1 << 16;
    seen = calloc(slots, sizeof *seen);
    if (!seen)
        abort();
    for (size_t i = 0; i < old_slots; i++)
        if (old[i])
            insert(old[i]);
    free(old);
    steps = grown(steps, slots / 2 * sizeof *steps + sizeof *steps);
}

static void append(struct level *level, const uint8_t *bytes, size_t length)
{
    uint16_t prefix = (uint16_t)length;
    if (level->length + length + sizeof prefix > level->capacity) {
        level->capacity = 2 * level->capacity + MODEL_BYTES;
        level->bytes = grown(level->bytes, level->capacity);
    }
    memcpy(level->bytes + level->length, &prefix, sizeof prefix);
    memcpy(level->bytes + level->length + sizeof prefix, bytes, length);
    level->length += length + sizeof prefix;
}

/* The model's state: adds it to the next level if it is new. */
static void visit(struct level *next, uint32_t from, struct model_action action)
{
    uint8_t bytes[MODEL_BYTES];
    size_t length = model_write(bytes);
    make_room();
    if (!insert(hash_of(bytes, length)))
        return;
    steps[states++] = (struct step){from, action};
    append(next, bytes, length);
}

static void print_way(const struct model_bounds *bounds, uint32_t to)
{
    if (!to) {
        model_begin(bounds);
        return;
    }
    print_way(bounds, steps[to].from);
    model_print(steps[to].action);
    model_do(steps[to].action);
}

static const char *expand(const struct model_bounds *bounds, const uint8_t *bytes, uint32_t number, struct level *next)
{
    struct model_action actions[MODEL_ACTIONS];
    model_read(bytes);
    unsigned count = model_actions(actions);
    for (unsigned i = 0; i < count; i++) {
        model_read(bytes);
        model_do(actions[i]);
        const char *fault = model_fault();
        if (fault) {
            printf("%s:\n", fault);
            print_way(bounds, number);
            model_print(actions[i]);
            fflush(stdout); /* a failed test ends its process at once */
            return fault;
        }
        visit(next, number, actions[i]);
    }
    return NULL;
}

struct quorum_search quorum_search(const struct model_bounds *bounds, unsigned max)
{
    struct quorum_search result = {0};
    struct level level = {0}, next = {0};
    uint32_t number = 0;
    states = 0;
    model_begin(bounds);
    visit(&next, 0, (struct model_action){0});
    while (next.length && !result.fault && states < max) {
        struct level done = level;
        level = next;
        next = done;
        next.length = 0;
        for (size_t at = 0; at < level.length && !result.fault && states < max; number++) {
            uint16_t length;
            memcpy(&length, level.bytes + at, sizeof length);
            result.fault = expand(bounds, level.bytes + at + sizeof length, number, &next);
            at += sizeof length + length;
        }
        result.depth++;
    }
    result.states = states;
    result.is_complete = !next.length && !result.fault;
    free(level.bytes);
    free(next.bytes);
    free(steps);
    free(seen);
    steps = NULL;
    seen = NULL;
    slots = 0;
    return result;
}
