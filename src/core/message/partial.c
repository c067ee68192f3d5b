/* partial.c - see partial.h. */
#include "partial.h"
#include "core/error.h"
#include "core/memory/mem.h"

static bool is_open(const struct pvmc_frame_header *h)
{
    return h->body_length == PVMC_FRAME_LENGTH_OPEN;
}

int pvmc_partial_check(const struct pvmc_partial *s, const struct pvmc_frame_header *h)
{
    if (h->offset != s->placed)
        return PVMC_EFORMAT;
    if (h->flags & PVMC_FRAME_ABORT)
        return s->open ? 0 : PVMC_EFORMAT;
    bool tells = s->body_length == PVMC_FRAME_LENGTH_OPEN && pvmc_frame_is_last(h);
    return !s->open || h->body_length == s->body_length || tells ? 0 : PVMC_EFORMAT;
}

static void begin(struct pvmc_partial *s, const struct pvmc_frame_header *h)
{
    s->open = true;
    s->m = pvmc_message_of(&h->envelope, is_open(h) ? h->length : h->body_length);
    if (!s->m)
        return;
    s->m->length = 0;
    s->m->partial = PVMC_PARTIAL_GROWS;
}

/* The program may hold views of the memory, and then gets a copy. */
static bool make_room(struct pvmc_message *m, uint64_t need)
{
    uint64_t twice = 2 * (uint64_t)m->mem->capacity;
    if (m->mem->capacity >= need)
        return true;
    if (need > SIZE_MAX / 2)
        return false;
    return !pvmc_mem_grow(&m->mem, m->length, need > twice ? need : twice) || !pvmc_mem_grow(&m->mem, m->length, need);
}

uint8_t *pvmc_partial_place(struct pvmc_partial *s, const struct pvmc_frame_header *h, struct pvmc_message **rest)
{
    static uint8_t nowhere; /* for frames without payload */
    *rest = NULL;
    if (!s->open)
        begin(s, h);
    s->body_length = h->body_length;
    if (s->m && !make_room(s->m, s->placed + h->length)) {
        *rest = s->m;
        s->m = NULL;
    }
    return !s->m ? NULL : h->length ? s->m->mem->data + s->placed : &nowhere;
}

bool pvmc_partial_add(struct pvmc_partial *s, const struct pvmc_frame_header *h)
{
    bool is_last = pvmc_frame_is_last(h);
    s->placed += h->length;
    if (s->m) {
        s->m->length = s->placed;
        s->m->partial = is_last ? 0 : PVMC_PARTIAL_GROWS;
    }
    return is_last;
}
