/*
 * clock.c - libatmclock, preloaded before a program (LD_PRELOAD; atm-sim exec does it). Once the program runs in the
 * simulated network's virtual time, the C library's clocks and sleeps follow that time instead of real time. Processor
 * time clocks are unchanged.
 *
 * The date continues from the real one at the time of joining, rounded up to a whole second: it never goes back, and
 * the fraction of a second is exactly the network's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include "fore_atm.h"

#define NS_OF_S INT64_C(1000000000)

typedef int clock_gettime_fn(clockid_t clock, struct timespec *out);
typedef int clock_nanosleep_fn(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left);

static clock_gettime_fn *real_gettime;
static clock_nanosleep_fn *real_nanosleep;

__attribute__((constructor)) static void find_real(void)
{
    real_gettime = (clock_gettime_fn *)dlsym(RTLD_NEXT, "clock_gettime");
    real_nanosleep = (clock_nanosleep_fn *)dlsym(RTLD_NEXT, "clock_nanosleep");
}

static int real_time(clockid_t clock, struct timespec *out)
{
    if (!real_gettime)
        find_real();
    return real_gettime(clock, out);
}

/* Seconds by which a clock is ahead of the network's. */
static int64_t ahead_s(clockid_t clock, int64_t now_ns)
{
    static int64_t of[2];
    int64_t *ahead = &of[clock == CLOCK_REALTIME];
    struct timespec real;
    if (!*ahead && !real_time(clock, &real))
        *ahead = real.tv_sec + 1 - now_ns / NS_OF_S;
    return *ahead;
}

static bool is_wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static bool is_monotonic(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_BOOTTIME;
}

/* False if this process does not run in virtual time, or the clock measures something else. */
static bool virtual_time(clockid_t clock, struct timespec *out)
{
    int64_t now_ns;
    int kept = errno;
    bool lives = (is_wall(clock) || is_monotonic(clock)) && !atm_sim_now(&now_ns);
    if (lives) {
        out->tv_sec = ahead_s(is_wall(clock) ? CLOCK_REALTIME : CLOCK_MONOTONIC, now_ns) + now_ns / NS_OF_S;
        out->tv_nsec = now_ns % NS_OF_S;
    }
    errno = kept;
    return lives;
}

/* ---- clocks ---- */

int clock_gettime(clockid_t clock, struct timespec *out)
{
    return virtual_time(clock, out) ? 0 : real_time(clock, out);
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    if (zone)
        *(struct timezone *)zone = (struct timezone){0};
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

clock_t times(struct tms *out)
{
    typedef clock_t times_fn(struct tms *);
    struct timespec now;
    times_fn *real = (times_fn *)dlsym(RTLD_NEXT, "times");
    clock_t ticks = real(out);
    long rate = sysconf(_SC_CLK_TCK);
    return virtual_time(CLOCK_MONOTONIC, &now) ? now.tv_sec * rate + now.tv_nsec / (NS_OF_S / rate) : ticks;
}

/* ---- sleeps ---- */

/* False if not in virtual time. Signals do not end such a sleep. */
static bool virtual_sleep(int64_t ns)
{
    struct timespec now;
    if (ns < 0 || !virtual_time(CLOCK_MONOTONIC, &now))
        return false;
    atm_sim_poll(NULL, 0, ns);
    return true;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
    struct timespec now;
    int64_t ns = wanted->tv_sec * NS_OF_S + wanted->tv_nsec;
    if (flags & TIMER_ABSTIME && virtual_time(clock, &now)) {
        ns -= now.tv_sec * NS_OF_S + now.tv_nsec;
        ns = ns > 0 ? ns : 0;
    }
    if (virtual_sleep(ns))
        return 0;
    return real_nanosleep(clock, flags, wanted, left);
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    int error = clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
    errno = error ? error : errno;
    return error ? -1 : 0;
}

int usleep(useconds_t us)
{
    struct timespec wanted = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L};
    return nanosleep(&wanted, NULL);
}

unsigned sleep(unsigned s)
{
    struct timespec wanted = {.tv_sec = s}, left = {0};
    return nanosleep(&wanted, &left) ? (unsigned)left.tv_sec : 0;
}
