/*
 * wallclock.c - to be preloaded: the wall clock of a program is wrong by as many microseconds as the file named by
 * NEMESIS_CLOCK holds (int64, mapped: changes take effect at once). The machine's own clock is never set.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

static const volatile int64_t *offset_us;

__attribute__((constructor)) static void map_offset(void)
{
    const char *path = getenv("NEMESIS_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *place = mmap(NULL, sizeof *offset_us, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (place != MAP_FAILED)
        offset_us = place;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int rc = real(clock, t);
    if (rc || !offset_us || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return rc;
    int64_t ns = t->tv_sec * NS_PER_S + t->tv_nsec + *offset_us * 1000;
    *t = (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    *t = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *t)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (t)
        *t = now.tv_sec;
    return now.tv_sec;
}
