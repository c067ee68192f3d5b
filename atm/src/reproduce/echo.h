/* echo.h - the papers' echo program: M bytes there and back, repeated until the time is steady. */
#ifndef PVMA_ECHO_H
#define PVMA_ECHO_H

#include <stdint.h>
#include "lab/lab.h"

struct echo_result {
    double trip_us; /* mean round trip */
    bool done;      /* false: not within the time limit of 100 s */
};

/* Runs on a new lab: `warm_up` uncounted rounds, then `rounds` counted ones. Adds to *events. */
struct echo_result echo_run(const struct lab_setup *setup, enum lab_stack stack, uint32_t bytes, unsigned warm_up,
                            unsigned rounds, unsigned long long *events);

/* The four-APIs paper's metrics, from sizes 4 B, 8 B, ... 1 MB. */
struct echo_metrics {
    double r_max;  /* highest throughput 2M/RTT, bytes per us = MB/s */
    double n_half; /* fewest bytes that reach half of r_max */
    double t_zero; /* half of the round trip of 4 bytes, us */
};

/* Called for each size, to draw a figure. */
typedef void echo_point(void *arg, double bytes, double trip_us);

struct echo_metrics echo_measure(const struct lab_setup *setup, enum lab_stack stack, echo_point *point, void *arg,
                                 unsigned long long *events);

#endif
