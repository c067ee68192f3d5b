/*
 * meter.h - observers of a network. Both are attached from outside and absent by default; then each cell costs one
 * branch at a link and one at a queue. They see cells and change nothing: events, times and the digest stay the same.
 */
#ifndef PVMA_METER_H
#define PVMA_METER_H

#include "base/sim.h"

struct pvma_cell;
struct pvma_link;

/* Sees each cell when its transmission over a link begins. The cell may still be lost or damaged on that link. */
struct pvma_tap {
    void (*sent)(struct pvma_tap *tap, const struct pvma_link *link, const struct pvma_cell *cell);
};

/* Length of a queue in time, from the moment when it is attached to an empty queue. Zero it before. */
struct pvma_meter {
    pvma_ps since;   /* time of the last change */
    uint64_t area;   /* sum of cells * ps until then */
    uint32_t length; /* cells now */
    uint32_t most;   /* highest length; whoever reads the meter may set it back to `length` */
};

/* Adds `cells` (or takes them away). For pvma_meter_add() only. */
void pvma_meter_change(struct pvma_meter *meter, pvma_ps now, int cells);

static inline void pvma_meter_add(struct pvma_meter *meter, const struct pvma_sim *sim, int cells)
{
    if (__builtin_expect(meter != NULL, 0))
        pvma_meter_change(meter, pvma_sim_now(sim), cells);
}

/* The sum of cells * ps until now. */
uint64_t pvma_meter_area(const struct pvma_meter *meter, pvma_ps now);

#endif
