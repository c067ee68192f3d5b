/* vctable.h - maps (VPI, VCI) to a node's state of that VC on one port. */
#ifndef PVMA_VCTABLE_H
#define PVMA_VCTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pvma_vctable_row {
    uint32_t key; /* 1 + (vpi << 16 | vci); 0: free */
    void *value;
};

struct pvma_vctable {
    struct pvma_vctable_row *rows;
    size_t size, used; /* size: 0 or a power of two */
};

void pvma_vctable_init(struct pvma_vctable *table);
void pvma_vctable_free(struct pvma_vctable *table); /* does not free the values */

/* The value of a VC; NULL when it has none. */
void *pvma_vctable_get(const struct pvma_vctable *table, uint16_t vpi, uint16_t vci);

/* Sets or replaces a value, which must not be NULL. */
void pvma_vctable_set(struct pvma_vctable *table, uint16_t vpi, uint16_t vci, void *value);

/* Removes a VC and returns its value; NULL when there was none. */
void *pvma_vctable_remove(struct pvma_vctable *table, uint16_t vpi, uint16_t vci);

#endif
