/* random.c - xoshiro256** (Blackman and Vigna), seeded by splitmix64 from the seed and the stream's name. */
#include "random.h"

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void pvma_random_init(struct pvma_random *random, uint64_t seed, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    uint64_t state = splitmix(&seed) ^ hash;
    for (int i = 0; i < 4; i++)
        random->state[i] = splitmix(&state);
}

uint64_t pvma_random_next(struct pvma_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t pvma_random_below(struct pvma_random *random, uint64_t limit)
{
    return (uint64_t)((unsigned __int128)pvma_random_next(random) * limit >> 64);
}

uint64_t pvma_random_odds(double p)
{
    if (!(p > 0))
        return 0;
    if (p >= 1)
        return UINT64_MAX;
    return (uint64_t)(p * 18446744073709551616.0);
}

bool pvma_random_chance(struct pvma_random *random, uint64_t odds)
{
    if (!odds)
        return false;
    return odds == UINT64_MAX || pvma_random_next(random) < odds;
}

/*
 * Von Neumann's method: draw until a number is not below its predecessor. If the falling run has an odd number of
 * draws, its first is the fraction of the result; otherwise add 1 and start again.
 */
pvma_ps pvma_random_exponential(struct pvma_random *random, pvma_ps mean)
{
    for (int64_t whole = 0;; whole++) {
        uint64_t first = pvma_random_next(random), last = first, next;
        bool odd = true;
        while ((next = pvma_random_next(random)) < last) {
            last = next;
            odd = !odd;
        }
        if (odd)
            return whole * mean + (pvma_ps)((unsigned __int128)first * (uint64_t)mean >> 64);
    }
}
