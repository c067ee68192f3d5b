/* unfinished.c - see unfinished.h. A task sends one message at a time, so the list is one or two long. */
#include "unfinished.h"
#include <stdlib.h>
#include "../core/error.h"
#include "../core/log.h"
#include "relay.h"

static struct pvmi_frame_header *find(struct pvmd_unfinished *u, pvmi_tid dst)
{
    for (size_t i = 0; i < u->count; i++)
        if (u->latest[i].dst == dst)
            return &u->latest[i];
    return NULL;
}

static struct pvmi_frame_header *add(struct pvmd_unfinished *u)
{
    if (u->count == u->capacity) {
        size_t capacity = u->capacity ? u->capacity * 2 : 4;
        struct pvmi_frame_header *latest = realloc(u->latest, capacity * sizeof *latest);
        if (!latest)
            return NULL;
        u->latest = latest;
        u->capacity = capacity;
    }
    return &u->latest[u->count++];
}

int pvmd_unfinished_note(struct pvmd_unfinished *u, const struct pvmi_frame_header *h)
{
    struct pvmi_frame_header *known = find(u, h->dst);
    if (pvmi_frame_is_last(h) || h->flags & PVMI_FRAME_ABORT) {
        if (known)
            *known = u->latest[--u->count];
        return 0;
    }
    if (!known && u->count == PVMD_UNFINISHED_MAX)
        return PVMI_ELIMIT;
    if (!known)
        known = add(u);
    if (!known) {
        pvmi_log(PVMI_LOG_ERROR, "no memory to follow the messages of t%x", h->src);
        return PVMI_ENOMEM;
    }
    *known = *h;
    return 0;
}

void pvmd_unfinished_abort(struct pvmd_unfinished *u)
{
    for (size_t i = 0; i < u->count; i++) {
        struct pvmi_frame_header h = u->latest[i];
        h.flags = PVMI_FRAME_ABORT;
        h.seq++;
        h.offset += h.length;
        h.length = 0;
        struct pvmi_frame *f = pvmi_frame_new(&h, NULL);
        if (f)
            pvmd_relay(f, 0);
        pvmi_frame_unref(f);
    }
    free(u->latest);
    *u = (struct pvmd_unfinished){0};
}
