/* clock.c - see clock.h. */
#include "clock.h"
#include <stddef.h>
#include <sys/time.h>
#include "pvm3.h"

enum { SYNC_SAMPLES = 8 };

int64_t clock_now_us(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return t.tv_sec * INT64_C(1000000) + t.tv_usec;
}

/* The answer with the shortest round trip is the most precise. */
int64_t clock_offset_us(int host)
{
    int64_t best_us = INT64_MAX, offset_us = 0;
    for (int i = 0; i < SYNC_SAMPLES; i++) {
        struct timeval there, delta;
        int64_t before_us = clock_now_us();
        if (pvm_hostsync(host, &there, &delta) < 0)
            break;
        int64_t trip_us = clock_now_us() - before_us;
        if (trip_us < 0 || trip_us >= best_us)
            continue;
        best_us = trip_us;
        offset_us = before_us + trip_us / 2 - (there.tv_sec * INT64_C(1000000) + there.tv_usec);
    }
    return offset_us;
}
