/*
 * kept.h - the frames that were sent to another daemon and not yet counted by it: what must be sent again when the
 * connection is torn. Frames are numbered from 0; the numbers wrap.
 */
#ifndef PVMD_KEPT_H
#define PVMD_KEPT_H

#include <stddef.h>
#include <stdint.h>
#include "../core/frame.h"

struct pvmd_kept {
    struct pvmi_frame **ring; /* frame n is at n % capacity; NULL while empty */
    uint32_t capacity;        /* a power of two, or 0 */
    uint32_t counted;         /* number of the oldest kept frame: the other side has all before it */
    uint32_t end;             /* number of the next frame to be kept */
    size_t bytes;             /* memory of the kept frames */
};

/* Keeps a frame (a reference of it) under number `end`. 0 or PVMI_ENOMEM. */
int pvmd_kept_add(struct pvmd_kept *k, struct pvmi_frame *f);

/* Frame n, counted <= n < end. */
static inline struct pvmi_frame *pvmd_kept_frame(const struct pvmd_kept *k, uint32_t n)
{
    return k->ring[n & (k->capacity - 1)];
}

static inline uint32_t pvmd_kept_count(const struct pvmd_kept *k)
{
    return k->end - k->counted;
}

/*
 * The other side has received all frames before number `count`: drops them. PVMI_EFORMAT when it claims frames that are
 * not sent yet (from `sent` on) or that it had counted before; nothing is dropped then.
 */
int pvmd_kept_drop(struct pvmd_kept *k, uint32_t count, uint32_t sent);

/* Drops all. */
void pvmd_kept_clear(struct pvmd_kept *k);

#endif
