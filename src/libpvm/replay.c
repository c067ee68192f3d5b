/* replay.c - see replay.h. */
#include "replay.h"
#include <stdlib.h>
#include "../core/error.h"
#include "../core/log.h"

#define CAPACITY_START 64

static int grow(struct pvmi_replay *r)
{
    unsigned capacity = r->capacity ? 2 * r->capacity : CAPACITY_START;
    struct pvmi_frame **frames = malloc(capacity * sizeof *frames);
    if (!frames) {
        pvmi_log(PVMI_LOG_ERROR, "no memory to keep a frame until it is acknowledged");
        return PVMI_ENOMEM;
    }
    for (unsigned i = 0; i < r->count; i++)
        frames[i] = r->frames[(r->first + i) & (r->capacity - 1)];
    free(r->frames);
    *r = (struct pvmi_replay){.frames = frames, .count = r->count, .capacity = capacity, .bytes = r->bytes};
    return 0;
}

/* Takes over the reference. */
static int append(struct pvmi_replay *r, struct pvmi_frame *f)
{
    if (r->count == r->capacity && grow(r)) {
        pvmi_frame_unref(f);
        return PVMI_ENOMEM;
    }
    r->frames[(r->first + r->count++) & (r->capacity - 1)] = f;
    r->bytes += f->h.length;
    return 0;
}

struct pvmi_frame *pvmi_replay_copy(struct pvmi_frame *f)
{
    bool copied = !f->mem && f->h.length && f->h.body_length <= PVMI_REPLAY_COPY_BYTES;
    return copied ? pvmi_frame_share(f) : pvmi_frame_ref(f);
}

int pvmi_replay_keep(struct pvmi_replay *r, struct pvmi_frame *f)
{
    struct pvmi_frame *kept = pvmi_replay_copy(f);
    return kept ? append(r, kept) : PVMI_ENOMEM;
}

struct pvmi_frame *pvmi_replay_first(const struct pvmi_replay *r)
{
    return r->count ? r->frames[r->first] : NULL;
}

static struct pvmi_frame *take_first(struct pvmi_replay *r)
{
    struct pvmi_frame *f = r->frames[r->first];
    r->first = (r->first + 1) & (r->capacity - 1);
    r->count--;
    r->bytes -= f->h.length;
    return f;
}

void pvmi_replay_drop_first(struct pvmi_replay *r)
{
    pvmi_frame_unref(take_first(r));
}

void pvmi_replay_acknowledge(struct pvmi_replay *r, uint32_t due)
{
    while (r->count && (int32_t)(pvmi_replay_first(r)->h.seq - due) < 0)
        pvmi_replay_drop_first(r);
}

void pvmi_replay_move(struct pvmi_replay *from, struct pvmi_replay *to)
{
    while (from->count) {
        struct pvmi_frame *f = take_first(from);
        f->h.flags |= PVMI_FRAME_AGAIN;
        append(to, f);
    }
    pvmi_replay_clear(from);
}

void pvmi_replay_clear(struct pvmi_replay *r)
{
    while (r->count)
        pvmi_replay_drop_first(r);
    free(r->frames);
    *r = (struct pvmi_replay){0};
}
