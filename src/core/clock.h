/*
 * clock.h - monotonic time, for time limits and measurements. A task on a simulated network with virtual time lives by
 * that time: whoever brings it in (transports/atm) sets pvmi_world.
 */
#ifndef PVMI_CLOCK_H
#define PVMI_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* A connection that goes past the simulated network, such as a task's to its daemon, counted in bytes since its start.
 */
struct pvmi_aside {
    pid_t pid; /* who is at the other end */
    uint64_t given, taken;
};

/*
 * The virtual time of a simulated network. It goes on only while all who live in it sleep; one at a time is woken, and
 * has the world to itself until it sleeps again.
 */
struct pvmi_world {
    /* Nanoseconds. */
    int64_t (*now_ns)(void);
    /*
     * Sleeps until the network has something for us, more bytes have been given to us aside than we have taken, or it
     * is until_us of pvmi_clock_us() (INT64_MAX: never). 0; 1: there are bytes aside, which may need another moment of
     * real time to arrive; PVMI_EDOWN: the network is gone.
     */
    int (*sleep)(int64_t until_us, const struct pvmi_aside *aside);
    /*
     * To be called before something is given aside, with the count as it will be then: what we have computed passes
     * first. 0 or PVMI_EDOWN.
     */
    int (*give)(const struct pvmi_aside *aside);
    /* Whether that process has told the network that it passes things on aside. */
    bool (*is_watched)(pid_t pid);
};

/* Where this process lives; NULL: in real time. In clock.c. */
extern const struct pvmi_world *pvmi_world;

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
    return __builtin_expect(!pvmi_world, 1) ? pvmi_clock_real_ns() : pvmi_world->now_ns();
}

/* The same in microseconds. */
static inline int64_t pvmi_clock_us(void)
{
    return pvmi_clock_ns() / 1000;
}

#endif
