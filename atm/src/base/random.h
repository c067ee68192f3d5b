/*
 * random.h - random numbers in integer arithmetic, the same on every machine and with every compiler. Each consumer
 * has a stream of its own, so adding a source does not change what the others draw.
 */
#ifndef PVMA_RANDOM_H
#define PVMA_RANDOM_H

#include "sim.h"

struct pvma_random {
    uint64_t state[4]; /* xoshiro256** */
};

/* Starts the stream `name` of a simulation with this seed. */
void pvma_random_init(struct pvma_random *random, uint64_t seed, const char *name);

uint64_t pvma_random_next(struct pvma_random *random);

/* Returns 0 .. limit-1, uniformly distributed; limit > 0. */
uint64_t pvma_random_below(struct pvma_random *random, uint64_t limit);

/* Converts a probability to units of 2^-64 for pvma_random_chance(); p is clamped to 0..1. */
uint64_t pvma_random_odds(double p);

/* True with the probability `odds`. */
bool pvma_random_chance(struct pvma_random *random, uint64_t odds);

/* Exponentially distributed with this mean, at least 0; von Neumann's method needs no logarithm. */
pvma_ps pvma_random_exponential(struct pvma_random *random, pvma_ps mean);

#endif
