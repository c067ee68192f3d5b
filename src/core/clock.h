/* clock.h - monotonic time, for time limits and measurements. */
#ifndef PVMI_CLOCK_H
#define PVMI_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of the monotonic clock: never goes back, does not follow settings of the wall clock. */
static inline int64_t pvmi_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The same in microseconds. */
static inline int64_t pvmi_clock_us(void)
{
    return pvmi_clock_ns() / 1000;
}

#endif
