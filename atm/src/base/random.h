/*
 * random.h - random numbers, the same on every machine and with every compiler: integers only. Each thing that draws
 * has a stream of its own, so that one more source does not change what the others draw.
 */
#ifndef PVMA_RANDOM_H
#define PVMA_RANDOM_H

#include "sim.h"

struct pvma_random {
    uint64_t state[4]; /* xoshiro256** */
};

/* A stream of the simulation `seed`; `name` says whose it is. */
void pvma_random_init(struct pvma_random *random, uint64_t seed, const char *name);

uint64_t pvma_random_next(struct pvma_random *random);

/* 0 .. limit-1, all equally likely; limit > 0. */
uint64_t pvma_random_below(struct pvma_random *random, uint64_t limit);

/* A probability in units of 2^-64 for pvma_random_chance(); p is cut to 0..1. */
uint64_t pvma_random_odds(double p);

/* True with the probability `odds`. */
bool pvma_random_chance(struct pvma_random *random, uint64_t odds);

/* Exponentially distributed with this mean, at least 0; by von Neumann's comparisons, without a logarithm. */
pvma_ps pvma_random_exponential(struct pvma_random *random, pvma_ps mean);

#endif
