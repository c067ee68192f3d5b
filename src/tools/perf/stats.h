/* stats.h - quantiles, and the figures by which papers characterise a link. */
#ifndef PERF_STATS_H
#define PERF_STATS_H

/* Sorts in ascending order. */
void stats_sort(double *values, int n);

/* The q-quantile, 0 <= q <= 1, of n >= 1 sorted values, with linear interpolation. */
double stats_quantile(const double *sorted, int n, double q);

/*
 * The figures of Lin et al. (Distributed Network Computing over Local ATM Networks) for a link, from one-way times:
 * r_max, the maximum throughput; n_1/2, the message length that reaches half of it; t_0, the start-up latency, which is
 * the time of the shortest message measured (4 bytes in the paper).
 */
struct stats_link {
    double r_max_mbs;    /* 10^6 bytes/s */
    double n_half_bytes; /* -1: even the shortest message reaches half of r_max */
    double t0_us;
    int t0_bytes;
};

/* n >= 1 points in ascending order of bytes; throughput of each in 10^6 bytes/s. */
void stats_link(const int *bytes, const double *times_us, const double *mbs, int n, struct stats_link *out);

#endif
