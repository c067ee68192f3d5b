/* stats.c - quantiles, r_max, n_1/2 and t_0. */
#include "stats.h"
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare);
}

double stats_quantile(const double *sorted, int n, double q)
{
    double place = q * (n - 1);
    int below = (int)place;
    if (below >= n - 1)
        return sorted[n - 1];
    return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

void stats_link(const int *bytes, const double *times_us, const double *mbs, int n, struct stats_link *out)
{
    *out = (struct stats_link){.n_half_bytes = -1, .t0_us = times_us[0], .t0_bytes = bytes[0]};
    for (int i = 0; i < n; i++)
        if (mbs[i] > out->r_max_mbs)
            out->r_max_mbs = mbs[i];
    double half = out->r_max_mbs / 2;
    for (int i = 1; i < n; i++)
        if (mbs[i - 1] < half && mbs[i] >= half) { /* linear interpolation */
            out->n_half_bytes = bytes[i - 1] + (half - mbs[i - 1]) / (mbs[i] - mbs[i - 1]) * (bytes[i] - bytes[i - 1]);
            return;
        }
}
