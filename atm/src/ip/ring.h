/* ring.h - a byte queue of fixed capacity: a socket buffer. */
#ifndef PVMA_RING_H
#define PVMA_RING_H

#include <stddef.h>
#include <stdint.h>

struct pvma_ring {
    uint8_t *data;
    uint32_t size;   /* capacity in bytes */
    uint32_t first;  /* index of the oldest */
    uint32_t length; /* bytes in it */
};

void pvma_ring_init(struct pvma_ring *ring, uint32_t size);
void pvma_ring_free(struct pvma_ring *ring);

static inline uint32_t pvma_ring_space(const struct pvma_ring *ring)
{
    return ring->size - ring->length;
}

/* Appends `length` bytes, at most pvma_ring_space(). */
void pvma_ring_put(struct pvma_ring *ring, const void *data, uint32_t length);

/* Copies `length` bytes from `offset` after the oldest, without removing them. The ring must hold them. */
void pvma_ring_copy(const struct pvma_ring *ring, uint32_t offset, void *data, uint32_t length);

/* Drops the oldest `length` bytes, which the ring must hold. */
void pvma_ring_drop(struct pvma_ring *ring, uint32_t length);

#endif
