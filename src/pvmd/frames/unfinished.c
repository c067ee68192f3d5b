/* unfinished.c - see unfinished.h. Each thread of a task sends one message at a time, so the list is short. */
#include "unfinished.h"
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "relay.h"

/* A task may be sending a stream and another message to one receiver. */
static struct pvmc_frame_header *find(struct pvmd_unfinished *u, const struct pvmc_frame_header *h)
{
    for (size_t i = u->count; i-- > 0;)
        if (u->latest[i].dst == h->dst && !((u->latest[i].flags ^ h->flags) & PVMC_FRAME_STREAM))
            return &u->latest[i];
    return NULL;
}

/* The others stay in the order in which they began. */
static void drop(struct pvmd_unfinished *u, struct pvmc_frame_header *known)
{
    size_t behind = (size_t)(u->latest + u->count - known) - 1;
    memmove(known, known + 1, behind * sizeof *known);
    u->count--;
}

/*
 * The end of a stream may have gone by a direct link, which came up while its sender packed. So old entries tell
 * little, and one of them makes room. False: none is of a stream.
 */
static bool drop_oldest_stream(struct pvmd_unfinished *u)
{
    size_t i = 0;
    while (i < u->count && !(u->latest[i].flags & PVMC_FRAME_STREAM))
        i++;
    if (i == u->count)
        return false;
    drop(u, &u->latest[i]);
    return true;
}

static struct pvmc_frame_header *add(struct pvmd_unfinished *u)
{
    if (u->count == u->capacity) {
        size_t capacity = u->capacity ? u->capacity * 2 : 4;
        struct pvmc_frame_header *latest = realloc(u->latest, capacity * sizeof *latest);
        if (!latest)
            return NULL;
        u->latest = latest;
        u->capacity = capacity;
    }
    return &u->latest[u->count++];
}

int pvmd_unfinished_note(struct pvmd_unfinished *u, const struct pvmc_frame_header *h)
{
    struct pvmc_frame_header *known = find(u, h);
    if (pvmc_frame_is_last(h) || h->flags & PVMC_FRAME_ABORT) {
        if (known)
            drop(u, known);
        return 0;
    }
    if (!known && u->count == PVMD_UNFINISHED_MAX && !drop_oldest_stream(u))
        return PVMC_ELIMIT;
    if (!known)
        known = add(u);
    if (!known) {
        pvmc_log(PVMC_LOG_ERROR, "no memory to track the messages of t%x", h->src);
        return PVMC_ENOMEM;
    }
    *known = *h;
    return 0;
}

void pvmd_unfinished_abort(struct pvmd_unfinished *u)
{
    for (size_t i = 0; i < u->count; i++) {
        struct pvmc_frame_header h = u->latest[i];
        h.flags = PVMC_FRAME_ABORT;
        h.seq++;
        h.offset += h.length;
        h.length = 0;
        struct pvmc_frame *f = pvmc_frame_new(&h, NULL);
        if (f)
            pvmd_relay(f, 0);
        pvmc_frame_unref(f);
    }
    free(u->latest);
    *u = (struct pvmd_unfinished){0};
}
