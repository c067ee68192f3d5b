/* ring.c - see ring.h. */
#include <stdlib.h>
#include <string.h>
#include "base/sim.h"
#include "ring.h"

void pvma_ring_init(struct pvma_ring *ring, uint32_t size)
{
    *ring = (struct pvma_ring){.data = pvma_new(size), .size = size};
}

void pvma_ring_free(struct pvma_ring *ring)
{
    free(ring->data);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void pvma_ring_put(struct pvma_ring *ring, const void *data, uint32_t length)
{
    uint32_t at = (ring->first + ring->length) % ring->size, head = least(length, ring->size - at);

    memcpy(ring->data + at, data, head);
    memcpy(ring->data, (const uint8_t *)data + head, length - head);
    ring->length += length;
}

void pvma_ring_copy(const struct pvma_ring *ring, uint32_t offset, void *data, uint32_t length)
{
    uint32_t at = (ring->first + offset) % ring->size, head = least(length, ring->size - at);

    memcpy(data, ring->data + at, head);
    memcpy((uint8_t *)data + head, ring->data, length - head);
}

void pvma_ring_drop(struct pvma_ring *ring, uint32_t length)
{
    ring->first = (ring->first + length) % ring->size;
    ring->length -= length;
}
