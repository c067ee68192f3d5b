/* kept.c - a ring of sent frames. */
#include "kept.h"
#include <stdlib.h>
#include "../core/error.h"
#include "../core/log.h"

#define CAPACITY_MIN  16u
#define CAPACITY_IDLE 256u /* a larger ring is given back once it is empty */

static size_t cost(const struct pvmi_frame *f)
{
    return sizeof *f + f->h.length;
}

static int grow(struct pvmd_kept *k)
{
    uint32_t capacity = k->capacity ? k->capacity * 2 : CAPACITY_MIN;
    struct pvmi_frame **ring = calloc(capacity, sizeof *ring);
    if (!ring) {
        pvmi_log(PVMI_LOG_ERROR, "no memory for sent frames");
        return PVMI_ENOMEM;
    }
    for (uint32_t n = k->counted; n != k->end; n++)
        ring[n & (capacity - 1)] = pvmd_kept_frame(k, n);
    free(k->ring);
    k->ring = ring;
    k->capacity = capacity;
    return 0;
}

int pvmd_kept_add(struct pvmd_kept *k, struct pvmi_frame *f)
{
    if (pvmd_kept_count(k) == k->capacity && grow(k))
        return PVMI_ENOMEM;
    k->ring[k->end++ & (k->capacity - 1)] = pvmi_frame_ref(f);
    k->bytes += cost(f);
    return 0;
}

static void drop_oldest(struct pvmd_kept *k)
{
    struct pvmi_frame *f = pvmd_kept_frame(k, k->counted++);
    k->bytes -= cost(f);
    pvmi_frame_unref(f);
}

int pvmd_kept_drop(struct pvmd_kept *k, uint32_t count, uint32_t sent)
{
    if (count - k->counted > sent - k->counted)
        return PVMI_EFORMAT;
    while (k->counted != count)
        drop_oldest(k);
    if (k->counted == k->end && k->capacity > CAPACITY_IDLE) {
        free(k->ring);
        k->ring = NULL;
        k->capacity = 0;
    }
    return 0;
}

void pvmd_kept_clear(struct pvmd_kept *k)
{
    while (k->counted != k->end)
        drop_oldest(k);
    free(k->ring);
    k->ring = NULL;
    k->capacity = 0;
}
