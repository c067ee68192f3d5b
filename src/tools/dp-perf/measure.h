/* measure.h - latency and bandwidth over the carriers, in turns. */
#ifndef MEASURE_H
#define MEASURE_H

#include "client.h"
#include "options.h"

/* What is measured over one carrier with messages of one size. */
struct point {
    int carrier;
    uint32_t bytes, count; /* of a message; messages of a turn */
    struct samples us;     /* lat: one way; else a transfer */
    double ack_us;         /* one way of 4 bytes, which a transfer's acknowledgement takes */
    double server_us;      /* bidir: a transfer as the other node saw it, sum over the rounds */
    int rounds;
    double mean_us; /* set at the end */
    double mbs;     /* uni, bidir: 10^6 bytes/s in one direction */
    bool failed;
};

/*
 * Measures all points of the options, carriers taking turns so that what else the machine does hits all alike. A
 * failure is told, and leaves its point out; the server's death ends everything. `points` gets an array to be freed
 * with measure_free(). Returns the status to exit with.
 */
int measure_run(const struct options *o, struct client *client, struct point **points, int *count);
void measure_free(struct point *points, int count);

#endif
