/* flight.c - see flight.h. */
#include "flight.h"
#include <stdlib.h>
#include "tools/pvm-trace/store.h"

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct flight_step *)a)->time_us, y = ((const struct flight_step *)b)->time_us;
    return (x > y) - (x < y);
}

struct flight_step *flight_make(const struct pairs *p, size_t *count)
{
    struct flight_step *steps = NULL;
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct message *m = &p->messages[i];
        if (!m->sent || !m->received) /* the duration is unknown */
            continue;
        steps = array_grow(steps, n, sizeof *steps);
        steps[n++] = (struct flight_step){m->sent->start_us, m->bytes, 1};
        steps = array_grow(steps, n, sizeof *steps);
        steps[n++] = (struct flight_step){pairs_arrival_us(m), -m->bytes, -1};
    }
    if (n)
        qsort(steps, n, sizeof *steps, by_time);
    for (size_t i = 1; i < n; i++) {
        struct flight_step now = steps[kept];
        now.bytes += steps[i].bytes;
        now.messages += steps[i].messages;
        kept += steps[i].time_us != now.time_us;
        now.time_us = steps[i].time_us;
        steps[kept] = now;
    }
    *count = n ? kept + 1 : 0;
    return steps;
}
