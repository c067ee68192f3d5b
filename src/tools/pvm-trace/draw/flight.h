/*
 * flight.h - messages in flight: their number and bytes over time.
 */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "tools/pvm-trace/pairs.h"

struct flight_step {
    int64_t time_us;
    int64_t bytes; /* in flight from this time on */
    int64_t messages;
};

/* One step for each time of change, in order; the caller frees them. */
struct flight_step *flight_make(const struct pairs *p, size_t *count);

#endif
