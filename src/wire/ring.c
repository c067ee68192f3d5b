/* ring.c - see ring.h: initialization, the memory of the first lap, the producer's view of the consumer's position. */
#include "ring.h"
#include <sys/mman.h>

#define FIRST_CELLS 64   /* a page */
#define MOST_CELLS  2048 /* 128 KiB */
#define SWEEP_CELLS 8    /* more than the next record needs, so that small ones do not sweep each time */

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

void pvmw_ring_tx_init(struct pvmw_ring_tx *r, void *cells, unsigned shift, const uint64_t *taken)
{
    uint64_t count = UINT64_C(1) << shift;
    *r = (struct pvmw_ring_tx){.cells = cells,
                               .next = cells,
                               .shift = shift,
                               .mask = count - 1,
                               .limit = count - 1,
                               .edge = count - 1,
                               .clean = count,
                               .blank = count < FIRST_CELLS ? count : FIRST_CELLS,
                               .taken = taken};
}

void pvmw_ring_rx_init(struct pvmw_ring_rx *r, const void *cells, unsigned shift, uint64_t *taken)
{
    *r = (struct pvmw_ring_rx){.cells = cells,
                               .shift = shift,
                               .mask = (UINT64_C(1) << shift) - 1,
                               .quarter = UINT64_C(1) << shift >> 2,
                               .taken = taken};
    pvmw_ring_advance(r, 0);
}

/*
 * Asks for the memory of the next cells at once, as many as have been used: that takes both sides a third of the time
 * of a fault for each page, and a ring that is hardly used stays small. Without it the pages come one by one.
 */
static void give_memory(struct pvmw_ring_tx *r, uint64_t cells)
{
    uint64_t left = cells - r->blank, count = r->blank < MOST_CELLS ? r->blank : MOST_CELLS;
    count = count < left ? count : left;
    madvise(r->cells + r->blank * PVMW_CELL_BYTES, count * PVMW_CELL_BYTES, MADV_POPULATE_WRITE);
    r->blank += count;
}

void pvmw_ring_prepare(struct pvmw_ring_tx *r)
{
    uint64_t cells = r->mask + 1;
    while (r->blank <= r->head && r->blank < cells)
        give_memory(r, cells);
    if (r->head >= cells)
        __atomic_store_n((uint32_t *)r->next, 0, __ATOMIC_RELAXED);
}

void pvmw_ring_blank(struct pvmw_ring_tx *r, uint32_t count)
{
    uint64_t from = r->head + 1, end = from + count + SWEEP_CELLS;
    if (r->blank <= r->mask)
        return; /* the first lap: nobody has these lines */
    from = r->blank > from ? r->blank : from;
    end = end < r->limit ? end : r->limit;
    for (uint64_t at = from; at < end; at++)
        __atomic_store_n((uint32_t *)(void *)pvmw_ring_cell(r->cells, r->mask, at), 0, __ATOMIC_RELAXED);
    if (end > from)
        r->blank = end;
}

static uint64_t end_of_lap(const struct pvmw_ring_tx *r)
{
    return (r->head | r->mask) + 1;
}

static void set_edge(struct pvmw_ring_tx *r)
{
    r->edge = r->stops && end_of_lap(r) < r->limit ? end_of_lap(r) : r->limit;
}

void pvmw_ring_tx_stop_at_end(struct pvmw_ring_tx *r)
{
    r->stops = true;
    set_edge(r);
}

uint32_t pvmw_ring_rest(const struct pvmw_ring_tx *r, uint32_t count)
{
    uint64_t rest = end_of_lap(r) - r->head;
    return rest < count && pvmw_ring_room(r) >= rest + count ? (uint32_t)rest : 0;
}

bool pvmw_ring_refresh(struct pvmw_ring_tx *r)
{
    uint64_t taken = __atomic_load_n(r->taken, __ATOMIC_ACQUIRE), limit = taken + r->mask;
    if (taken > r->head || limit < r->limit)
        return false;
    r->limit = limit;
    set_edge(r);
    return true;
}
