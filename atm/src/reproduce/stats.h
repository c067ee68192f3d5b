/* stats.h - means of a few runs with confidence intervals. */
#ifndef PVMA_STATS_H
#define PVMA_STATS_H

#include <stddef.h>

struct stats {
    size_t count;
    double sum, squares;
};

void stats_add(struct stats *s, double value);
double stats_mean(const struct stats *s);

/* Half the width of the 90 % confidence interval of the mean, by Student's t; 0 for fewer than 2 values. */
double stats_interval90(const struct stats *s);

#endif
