/*
 * clock.h - monotonic time, for time limits and measurements. A task on a simulated network with virtual time lives by
 * that time: whoever brings it in (transports/atm) sets pvmi_clock_source.
 */
#ifndef PVMI_CLOCK_H
#define PVMI_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Where pvmi_clock_ns() has its time from; NULL: the system. In clock.c. */
extern int64_t (*pvmi_clock_source)(void);

/* Nanoseconds of the system's monotonic clock: never goes back, does not follow settings of the wall clock. */
static inline int64_t pvmi_clock_real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Nanoseconds of the clock that this process lives by: never goes back. */
static inline int64_t pvmi_clock_ns(void)
{
    return __builtin_expect(!pvmi_clock_source, 1) ? pvmi_clock_real_ns() : pvmi_clock_source();
}

/* The same in microseconds. */
static inline int64_t pvmi_clock_us(void)
{
    return pvmi_clock_ns() / 1000;
}

#endif
