/* samples.h - times of the same thing, and what is made of them as in the paper: the mean of the middle 80 %. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <time.h>

struct samples {
    double *us;
    size_t count, capacity;
    size_t lost; /* turns in which messages got lost, so that their time says nothing */
};

/* Zero-initialized samples are empty ones. Runs out of memory: ends the program. */
void samples_add(struct samples *s, double us);
void samples_free(struct samples *s);

/* Mean without the tenth that is shortest and the tenth that is longest; 0 of none. Sorts. */
double samples_mean(struct samples *s);

/* The q-quantile, 0 to 1, of sorted samples; 0 of none. */
double samples_quantile(const struct samples *s, double q);

/* The line a + b x through points by least squares; b 0 with less than two different x. */
void line_fit(const double *x, const double *y, size_t count, double *a, double *b);

static inline double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

#endif
