/* timers.c - a binary heap whose entries know their indices. */
#include "timers.h"
#include <stdlib.h>
#include "core/error.h"

static void put(struct pvmw_timers *timers, unsigned place, struct pvmw_timer *e)
{
    timers->heap[place] = e;
    e->place = place;
}

static void rise(struct pvmw_timers *timers, struct pvmw_timer *e)
{
    unsigned at = e->place;
    for (; at > 1 && timers->heap[at / 2]->due_us > e->due_us; at /= 2)
        put(timers, at, timers->heap[at / 2]);
    put(timers, at, e);
}

static void sink(struct pvmw_timers *timers, struct pvmw_timer *e)
{
    unsigned at = e->place;
    for (;;) {
        unsigned child = 2 * at;
        if (child > timers->count)
            break;
        if (child < timers->count && timers->heap[child + 1]->due_us < timers->heap[child]->due_us)
            child++;
        if (timers->heap[child]->due_us >= e->due_us)
            break;
        put(timers, at, timers->heap[child]);
        at = child;
    }
    put(timers, at, e);
}

static void take_out(struct pvmw_timers *timers, struct pvmw_timer *e)
{
    struct pvmw_timer *last = timers->heap[timers->count--];
    unsigned place = e->place;
    e->place = 0;
    if (last == e)
        return;
    put(timers, place, last);
    rise(timers, last);
    sink(timers, last);
}

static int grow(struct pvmw_timers *timers)
{
    unsigned room = timers->room ? 2 * timers->room : 64;
    struct pvmw_timer **heap = realloc(timers->heap, room * sizeof *heap);
    if (!heap)
        return PVMC_ENOMEM;
    timers->heap = heap;
    timers->room = room;
    return 0;
}

int pvmw_timers_set(struct pvmw_timers *timers, struct pvmw_timer *e, int64_t due_us)
{
    if (e->place && due_us == e->due_us)
        return 0;
    e->due_us = due_us;
    if (due_us == INT64_MAX) {
        if (e->place)
            take_out(timers, e);
        return 0;
    }
    if (!e->place) {
        if (timers->count + 1 >= timers->room && grow(timers))
            return PVMC_ENOMEM;
        put(timers, ++timers->count, e);
    }
    rise(timers, e);
    sink(timers, e);
    return 0;
}

void pvmw_timers_clear(struct pvmw_timers *timers)
{
    free(timers->heap);
    *timers = (struct pvmw_timers){.heap = NULL};
}
