/*
 * mem.h - message memory: counted regions that hold message bodies. A transport may send straight from a region, and
 * keeps a reference while it does. Regions come from a cache, so that large messages do not pay for fresh pages each
 * time. Later transports map or register regions; they find what they need behind pvmi_mem, nobody else looks inside.
 */
#ifndef PVMI_MEM_H
#define PVMI_MEM_H

#include <stddef.h>
#include <stdint.h>

struct pvmi_mem {
    uint8_t *data;
    size_t capacity; /* bytes usable at data */
    unsigned refs;
};

/* A region of at least `capacity` bytes with one reference, not cleared; NULL when out of memory. */
struct pvmi_mem *pvmi_mem_new(size_t capacity);

/* One reference more; returns m. */
struct pvmi_mem *pvmi_mem_ref(struct pvmi_mem *m);

/* Gives a reference back; the last one frees the region. NULL is allowed. */
void pvmi_mem_unref(struct pvmi_mem *m);

/*
 * A region of at least `capacity` bytes that holds the first `used` bytes of *m: grown in place when the caller has the
 * only reference, a copy otherwise (the old reference is given back). Returns 0 or PVMI_ENOMEM with *m as it was.
 */
int pvmi_mem_grow(struct pvmi_mem **m, size_t used, size_t capacity);

/* Bytes in regions in use and bytes cached: for tests and pvm-info. */
void pvmi_mem_usage(size_t *in_use, size_t *cached);

/* Gives all cached regions back to the system. */
void pvmi_mem_trim(void);

#endif
