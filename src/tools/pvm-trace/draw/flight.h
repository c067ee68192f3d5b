/*
 * flight.h - messages under way: how many bytes of them there are at each time.
 */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "pairs.h"

struct flight_step {
    int64_t time_us;
    int64_t bytes; /* under way from now on */
    int64_t messages;
};

/* Steps in order of time, one for each time at which something changes; the caller frees them. */
struct flight_step *flight_make(const struct pairs *p, size_t *count);

#endif
