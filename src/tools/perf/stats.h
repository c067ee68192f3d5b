/* stats.h - what a row of times tells, and the figures by which the papers describe a link. */
#ifndef PERF_STATS_H
#define PERF_STATS_H

/* Ascending. */
void stats_sort(double *values, int n);

/* Of n >= 1 sorted values: the q-quantile, 0 to 1, between neighbours where it falls between. */
double stats_quantile(const double *sorted, int n, double q);

/*
 * A link as Lin et al. (Distributed Network Computing over Local ATM Networks) describe it, from one-way times of
 * messages: r_max, the greatest throughput seen; n_1/2, the length at which half of it is reached; t_0, the start-up
 * latency, which is the time of the shortest message measured (4 bytes in the paper).
 */
struct stats_link {
    double r_max_mbs;    /* 10^6 bytes/s */
    double n_half_bytes; /* -1: half of r_max was reached by the shortest message already */
    double t0_us;
    int t0_bytes;
};

/* n >= 1 points in ascending order of bytes; throughput of each in 10^6 bytes/s. */
void stats_link(const int *bytes, const double *times_us, const double *mbs, int n, struct stats_link *out);

#endif
