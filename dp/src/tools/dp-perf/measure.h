/* measure.h - latency and bandwidth over the carriers, which take turns. */
#ifndef MEASURE_H
#define MEASURE_H

#include "client.h"
#include "options.h"

/* The results of one carrier with messages of one size. */
struct point {
    int carrier;
    uint32_t bytes, count; /* of a message; messages per turn */
    struct samples us;     /* lat: one way; otherwise a transfer */
    double ack_us;         /* one way of 4 bytes, the time of a transfer's acknowledgement */
    double server_us;      /* bidir: a transfer as measured by the server, summed over the rounds */
    int rounds;
    double mean_us; /* set at the end */
    double mbs;     /* uni, bidir: 10^6 bytes/s in one direction */
    bool failed;
};

/*
 * Measures all points of the options. Carriers take turns, so that other load on the machine affects all alike. A
 * failure is reported and leaves its point out; the server's death ends everything. `points` receives an array for
 * measure_free(). Returns the exit status.
 */
int measure_run(const struct options *o, struct client *client, struct point **points, int *count);
void measure_free(struct point *points, int count);

#endif
