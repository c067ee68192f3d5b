/*
 * timers.h - a heap of timers, with which a transport finds the next connection due without looking at all of them.
 * Setting, moving and stopping a timer take O(log n) steps.
 */
#ifndef PVMW_TIMERS_H
#define PVMW_TIMERS_H

#include <stddef.h>
#include <stdint.h>

/* One timer, embedded in what it belongs to. Zeroed: stopped. */
struct pvmw_timer {
    int64_t due_us;
    unsigned place; /* index in the heap, from 1; 0: stopped */
};

/* Zeroed: empty. */
struct pvmw_timers {
    struct pvmw_timer **heap; /* from 1 */
    unsigned count, room;
};

/* Sets timer e, or moves it; INT64_MAX stops it. 0 or PVMC_ENOMEM: it was stopped and still is. */
int pvmw_timers_set(struct pvmw_timers *timers, struct pvmw_timer *e, int64_t due_us);

/* The timer that is due next, or NULL. */
static inline struct pvmw_timer *pvmw_timers_first(const struct pvmw_timers *timers)
{
    return timers->count ? timers->heap[1] : NULL;
}

/* Frees the heap, not the timers. */
void pvmw_timers_clear(struct pvmw_timers *timers);

#endif
