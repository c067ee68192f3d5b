/* window.c - a ring of sent frames. */
#include "window.h"
#include <stdlib.h>
#include "core/error.h"
#include "core/log.h"

#define CAPACITY_MIN  16u
#define CAPACITY_IDLE 256u /* a larger ring is freed once it is empty */

static size_t cost(const struct pvmc_frame *f)
{
    return sizeof *f + f->h.length;
}

static int grow(struct pvmw_window *w)
{
    uint32_t capacity = w->capacity ? w->capacity * 2 : CAPACITY_MIN;
    struct pvmc_frame **ring = calloc(capacity, sizeof *ring);
    if (!ring) {
        pvmc_log(PVMC_LOG_ERROR, "no memory to keep a frame for retransmission");
        return PVMC_ENOMEM;
    }
    for (uint32_t n = w->first; n != w->end; n++)
        ring[n & (capacity - 1)] = pvmw_window_frame(w, n);
    free(w->ring);
    w->ring = ring;
    w->capacity = capacity;
    return 0;
}

static void free_ring(struct pvmw_window *w)
{
    free(w->ring);
    w->ring = NULL;
    w->capacity = 0;
}

int pvmw_window_add(struct pvmw_window *w, struct pvmc_frame *f)
{
    if (pvmw_window_count(w) == w->capacity && grow(w))
        return PVMC_ENOMEM;
    w->ring[w->end++ & (w->capacity - 1)] = pvmc_frame_ref(f);
    w->bytes += cost(f);
    return 0;
}

void pvmw_window_drop_first(struct pvmw_window *w)
{
    struct pvmc_frame *f = pvmw_window_frame(w, w->first++);
    w->bytes -= cost(f);
    pvmc_frame_unref(f);
}

static void shrink_if_idle(struct pvmw_window *w)
{
    if (!pvmw_window_count(w) && w->capacity > CAPACITY_IDLE)
        free_ring(w);
}

int pvmw_window_acknowledge(struct pvmw_window *w, uint32_t next, uint32_t sent)
{
    if (next - w->first > sent - w->first)
        return PVMC_EFORMAT;
    while (w->first != next)
        pvmw_window_drop_first(w);
    shrink_if_idle(w);
    return 0;
}

void pvmw_window_acknowledge_seq(struct pvmw_window *w, uint32_t seq)
{
    while (pvmw_window_count(w) && (int32_t)(pvmw_window_first(w)->h.seq - seq) < 0)
        pvmw_window_drop_first(w);
    shrink_if_idle(w);
}

void pvmw_window_resend_by(struct pvmw_window *from, struct pvmw_window *to)
{
    for (; pvmw_window_count(from); pvmw_window_drop_first(from)) {
        struct pvmc_frame *f = pvmw_window_first(from);
        f->h.flags |= PVMC_FRAME_AGAIN;
        pvmw_window_add(to, f);
    }
    pvmw_window_clear(from);
}

void pvmw_window_clear(struct pvmw_window *w)
{
    while (pvmw_window_count(w))
        pvmw_window_drop_first(w);
    free_ring(w);
}
