/* reorder.c - see reorder.h. Most frames come in order, so the search for a place begins at the end. */
#include "reorder.h"
#include <stdlib.h>
#include <utlist.h>
#include "core/log.h"

#define CROWDED_BYTES  ((size_t)64 << 20)
#define CROWDED_FRAMES 65536

static size_t kept_bytes, kept_frames; /* of complete frames that came by direct links */

static void count(const struct pvmi_reorder_frame *e, int sign)
{
    if (!e->direct || !e->complete)
        return;
    kept_bytes += sign > 0 ? e->copied : -e->copied;
    kept_frames += sign > 0 ? 1 : -1;
}

static int32_t distance(const struct pvmi_reorder_frame *e, uint32_t seq)
{
    return (int32_t)(e->h.seq - seq);
}

static void insert(struct pvmi_reorder_frame **all, struct pvmi_reorder_frame *e)
{
    struct pvmi_reorder_frame *before = *all ? (*all)->prev : NULL; /* the last one */
    while (before && distance(before, e->h.seq) > 0)
        before = before == *all ? NULL : before->prev;
    if (before)
        DL_APPEND_ELEM(*all, before, e);
    else
        DL_PREPEND(*all, e);
}

static struct pvmi_reorder_frame *make(const struct pvmc_frame_header *h, bool direct)
{
    struct pvmi_reorder_frame *e = calloc(1, sizeof *e);
    if (!e) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for an out-of-order frame");
        return NULL;
    }
    e->h = *h;
    e->direct = direct;
    return e;
}

struct pvmi_reorder_frame *pvmi_reorder_add(struct pvmi_reorder_frame **all, const struct pvmc_frame_header *h,
                                            bool direct)
{
    struct pvmi_reorder_frame *e = make(h, direct);
    if (e && h->length) {
        e->mem = pvmc_mem_new(h->length);
        e->copied = h->length;
    }
    if (e && h->length && !e->mem) {
        free(e);
        return NULL;
    }
    if (e)
        insert(all, e);
    return e;
}

struct pvmi_reorder_frame *pvmi_reorder_add_whole(struct pvmi_reorder_frame **all, const struct pvmc_frame_header *h,
                                                  struct pvmc_mem *mem)
{
    struct pvmi_reorder_frame *e = make(h, true);
    if (e) {
        e->mem = mem;
        insert(all, e);
        pvmi_reorder_complete(e);
    }
    return e;
}

void pvmi_reorder_complete(struct pvmi_reorder_frame *e)
{
    e->complete = true;
    count(e, 1);
}

void pvmi_reorder_remove(struct pvmi_reorder_frame **all, struct pvmi_reorder_frame *e)
{
    DL_DELETE(*all, e);
    count(e, -1);
    pvmc_mem_unref(e->mem);
    free(e);
}

void pvmi_reorder_clear(struct pvmi_reorder_frame **all)
{
    while (*all)
        pvmi_reorder_remove(all, *all);
}

struct pvmi_reorder_frame *pvmi_reorder_due(struct pvmi_reorder_frame **all, uint32_t due)
{
    struct pvmi_reorder_frame *e, *next;
    DL_FOREACH_SAFE (*all, e, next) {
        if (distance(e, due) > 0)
            return NULL;
        if (!e->complete || e->h.flags & PVMC_FRAME_SHADOW)
            continue; /* a link is still writing to it, or it has not arrived in virtual time */
        if (distance(e, due) == 0)
            return e;
        pvmi_reorder_remove(all, e);
    }
    return NULL;
}

bool pvmi_reorder_is_crowded(void)
{
    return kept_bytes > CROWDED_BYTES || kept_frames > CROWDED_FRAMES;
}
