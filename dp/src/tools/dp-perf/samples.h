/* samples.h - repeated times of one thing, and their statistics as in the paper: the mean of the middle 80 %. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <time.h>

struct samples {
    double *us;
    size_t count, capacity;
    size_t lost; /* turns without a time, because messages were lost */
};

/* Zero-initialised samples are empty. Ends the program when out of memory. */
void samples_add(struct samples *s, double us);
void samples_free(struct samples *s);

/* Mean without the shortest tenth and the longest tenth; 0 if empty. Sorts the samples. */
double samples_mean(struct samples *s);

/* The q-quantile, 0 to 1, of sorted samples; 0 if empty. */
double samples_quantile(const struct samples *s, double q);

/* Fits the line a + b x by least squares; b is 0 with fewer than two different x. */
void line_fit(const double *x, const double *y, size_t count, double *a, double *b);

static inline double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

#endif
