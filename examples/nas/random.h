/*
 * random.h - the random numbers of the NAS parallel benchmarks: x' = a x mod 2^46 with a = 5^13, uniform in (0, 1) as
 * x 2^-46. Integers of 64 bits do this exactly, since 2^46 divides 2^64.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

#define RANDOM_FACTOR UINT64_C(1220703125) /* 5^13 */
#define RANDOM_MASK   ((UINT64_C(1) << 46) - 1)
#define RANDOM_SCALE  (1.0 / (double)(UINT64_C(1) << 46))

/* The next number after *x, which becomes the state. */
static inline double random_next(uint64_t *x)
{
    *x = RANDOM_FACTOR * *x & RANDOM_MASK;
    return (double)*x * RANDOM_SCALE;
}

/* The factor that skips `steps` numbers: state * factor & RANDOM_MASK. */
static inline uint64_t random_skip(uint64_t steps)
{
    uint64_t factor = 1, square = RANDOM_FACTOR;

    for (; steps > 0; steps /= 2, square = square * square & RANDOM_MASK)
        if (steps % 2)
            factor = factor * square & RANDOM_MASK;
    return factor;
}

/* The state `steps` numbers after x. */
static inline uint64_t random_after(uint64_t x, uint64_t steps)
{
    return random_skip(steps) * x & RANDOM_MASK;
}

#endif
