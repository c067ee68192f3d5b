/*
 * unfinished.h - the messages of several frames that a task has begun to send: when it dies in the middle of one, its
 * receivers are told to drop the pieces.
 */
#ifndef PVMD_UNFINISHED_H
#define PVMD_UNFINISHED_H

#include <stddef.h>
#include "../core/frame.h"

struct pvmd_unfinished {
    struct pvmi_frame_header *latest; /* the last frame's header of each unfinished message, one for each receiver */
    size_t count, capacity;
};

#define PVMD_UNFINISHED_MAX 1024 /* messages of one task, of which each thread of it can send one */

/* A frame of a message of several frames. 0, PVMI_ENOMEM, or PVMI_ELIMIT. */
int pvmd_unfinished_note(struct pvmd_unfinished *u, const struct pvmi_frame_header *h);

/* The sender is gone: sends the ABORT frames, and forgets all. */
void pvmd_unfinished_abort(struct pvmd_unfinished *u);

/* Whether a frame is a whole message: those need no note. */
static inline int pvmd_frame_is_whole(const struct pvmi_frame_header *h)
{
    return !h->offset && h->length == h->body_length && !(h->flags & PVMI_FRAME_ABORT);
}

#endif
