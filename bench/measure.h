/* measure.h - shared by the programs of bench: a clock, medians, numbers from the command line, lines of output. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    BLOCKS = 7,       /* the result is their median */
    BLOCK_US = 10000, /* approximate length of a block; BENCH_BLOCK_US in the environment overrides it */
    BLOCKS_SLOW = 3,  /* of one operation each, if that takes SLOW_US */
    SLOW_US = 20000,
    EARLY = 500, /* exchanges of a new pair that are skipped, and as many that are measured */
    BYTES_MAX = 256 << 20,
};

static inline double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static inline int number_of(const char *text, int max)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 0 || n > max)
        errx(2, "a number up to %d is wanted, not \"%s\"", max, text);
    return (int)n;
}

/* The number of repetitions in one block for an operation that takes `once_us`. */
static inline int block_count(double once_us)
{
    const char *wanted = getenv("BENCH_BLOCK_US");
    double block_us = wanted ? atof(wanted) : BLOCK_US;
    return 1 + (int)(block_us / (once_us + 1e-3));
}

/*
 * The first repetitions take longer than the others, so the count is tried out: what to try after `count` of them took
 * `once_us` each. The count is right when this is not more than twice as many.
 */
static inline int next_count(int count, double once_us)
{
    int wanted = block_count(once_us);
    return wanted < 8 * count ? wanted : 8 * count;
}

static inline void print(const char *name, double value, const char *unit)
{
    printf("%s %.4f %s\n", name, value, unit);
    fflush(stdout);
}

#endif
