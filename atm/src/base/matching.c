/* matching.c - request, grant and accept, on bit sets. */
#include "matching.h"

/* Picks a bit of a set that is not empty, each with the same probability. */
static unsigned pick(uint64_t set, struct pvma_random *random)
{
    unsigned members = (unsigned)__builtin_popcountll(set);
    unsigned skip = members > 1 ? (unsigned)pvma_random_below(random, members) : 0;
    while (skip--)
        set &= set - 1;
    return (unsigned)__builtin_ctzll(set);
}

/* Collects the requests of unmatched inputs: asked[out] becomes the set of inputs with cells for a free output. */
static void request(const uint64_t *wants, unsigned ports, const int *match, uint64_t free_outputs, uint64_t *asked)
{
    for (unsigned out = 0; out < ports; out++)
        asked[out] = 0;
    for (unsigned in = 0; in < ports; in++)
        for (uint64_t left = match[in] < 0 ? wants[in] & free_outputs : 0; left; left &= left - 1)
            asked[__builtin_ctzll(left)] |= UINT64_C(1) << in;
}

struct choice {
    unsigned ports;
    const uint64_t *served; /* NULL: random */
    struct pvma_random *random;
};

/* The members of a set that have waited longest, by served[first + member * stride]. */
static uint64_t longest_waiting(const uint64_t *served, uint64_t set, unsigned first, unsigned stride)
{
    uint64_t best = 0, oldest = UINT64_MAX;
    for (uint64_t left = set; left; left &= left - 1) {
        uint64_t when = served[first + (unsigned)__builtin_ctzll(left) * stride], bit = left & -left;
        best = when < oldest ? bit : when == oldest ? best | bit : best;
        oldest = when < oldest ? when : oldest;
    }
    return best;
}

static unsigned choose(const struct choice *c, uint64_t set, unsigned first, unsigned stride)
{
    return pick(c->served ? longest_waiting(c->served, set, first, stride) : set, c->random);
}

static unsigned iterate(const uint64_t *wants, const struct choice *c, int *match, uint64_t *free_outputs)
{
    uint64_t asked[PVMA_MATCHING_MAX], granted[PVMA_MATCHING_MAX] = {0};
    unsigned found = 0, ports = c->ports;
    request(wants, ports, match, *free_outputs, asked);
    for (unsigned out = 0; out < ports; out++)
        if (asked[out])
            granted[choose(c, asked[out], out, ports)] |= UINT64_C(1) << out;
    for (unsigned in = 0; in < ports; in++) {
        if (!granted[in])
            continue;
        match[in] = (int)choose(c, granted[in], in * ports, 1);
        *free_outputs &= ~(UINT64_C(1) << match[in]);
        found++;
    }
    return found;
}

unsigned pvma_matching_find(const uint64_t *wants, unsigned ports, unsigned iterations, struct pvma_random *random,
                            const uint64_t *served, int *match)
{
    const struct choice choice = {ports, served, random};
    uint64_t free_outputs = ports == 64 ? UINT64_MAX : (UINT64_C(1) << ports) - 1;
    unsigned total = 0, found = 1;
    for (unsigned in = 0; in < ports; in++)
        match[in] = -1;
    for (unsigned i = 0; i < iterations && found; i++)
        total += found = iterate(wants, &choice, match, &free_outputs);
    return total;
}

unsigned pvma_matching_complete(const uint64_t *wants, unsigned ports, int *match)
{
    uint64_t taken = 0;
    unsigned total = 0;
    for (unsigned in = 0; in < ports; in++)
        if (match[in] >= 0)
            taken |= UINT64_C(1) << match[in];
    for (unsigned in = 0; in < ports; in++) {
        uint64_t left = wants[in] & ~taken;
        if (match[in] < 0 && left) {
            match[in] = __builtin_ctzll(left);
            taken |= UINT64_C(1) << match[in];
        }
        total += match[in] >= 0;
    }
    return total;
}
