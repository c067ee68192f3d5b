/* ring.c - see ring.h: initialization, and the producer's view of the consumer's position. */
#include "ring.h"

void pvmw_ring_tx_init(struct pvmw_ring_tx *r, void *cells, unsigned shift, const uint64_t *taken)
{
    *r = (struct pvmw_ring_tx){.cells = cells, .shift = shift, .limit = (UINT64_C(1) << shift) - 1, .taken = taken};
}

void pvmw_ring_rx_init(struct pvmw_ring_rx *r, const void *cells, unsigned shift, uint64_t *taken)
{
    *r = (struct pvmw_ring_rx){.cells = cells, .shift = shift, .taken = taken};
    pvmw_ring_advance(r, 0);
}

bool pvmw_ring_refresh(struct pvmw_ring_tx *r)
{
    uint64_t taken = __atomic_load_n(r->taken, __ATOMIC_ACQUIRE), cells = UINT64_C(1) << r->shift;
    uint64_t limit = taken + cells - 1;
    if (taken > r->head || limit < r->limit)
        return false;
    r->limit = limit;
    return true;
}
