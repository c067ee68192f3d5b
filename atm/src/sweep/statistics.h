/* statistics.h - where the warm-up of a run ends, and how sure a mean over several runs is. */
#ifndef SWEEP_STATISTICS_H
#define SWEEP_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* The mean of some values, and half the width of its confidence interval by Student's t; 0 for fewer than 2 values. */
struct sweep_estimate {
    double mean;       /* or median */
    double half_width; /* or the distance of the farther end */
    double low, high;  /* the ends */
};
struct sweep_estimate sweep_estimate(const double *values, size_t count, double confidence);

/*
 * The median, and how far the farther end of its confidence interval is from it. The interval ends at two of the
 * values, so nothing is assumed about their distribution; for 2 or more values it needs sweep_median_least() of them.
 */
struct sweep_estimate sweep_estimate_median(const double *values, size_t count, double confidence);
size_t sweep_median_least(double confidence);

/* The value that Student's t exceeds in absolute terms with the probability 1 - confidence; for 1 or more degrees of
 * freedom. */
double sweep_student(double confidence, size_t freedom);

/*
 * MSER-5 (White, 1997): the warm-up ends before the batch of five observations from which on the marginal standard
 * error of the batch means is smallest. Returns the number of observations to leave out, a multiple of five.
 * SWEEP_SHORT if there is no answer: fewer than 50 observations, or a minimum in the second half, which shows a run too
 * short.
 */
#define SWEEP_SHORT ((size_t)-1)
size_t sweep_mser5(const double *values, size_t count);

#endif
