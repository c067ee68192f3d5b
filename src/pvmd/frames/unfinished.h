/*
 * unfinished.h - messages of several frames that a task is sending. If the task dies before the last frame, the
 * receiver is told to drop the pieces.
 */
#ifndef PVMD_UNFINISHED_H
#define PVMD_UNFINISHED_H

#include <stddef.h>
#include "core/message/frame.h"

struct pvmd_unfinished {
    struct pvmc_frame_header *latest; /* of each message, oldest first: the header of its latest frame */
    size_t count, capacity;
};

#define PVMD_UNFINISHED_MAX 1024 /* per task, whose threads may be sending one each */

/*
 * Records a frame of a message of several frames. Returns 0, PVMC_ENOMEM, or PVMC_ELIMIT. At the limit it forgets the
 * oldest stream (core/message/partial.h), if there is one.
 */
int pvmd_unfinished_note(struct pvmd_unfinished *u, const struct pvmc_frame_header *h);

/* The sender is gone: sends ABORT frames and forgets all. */
void pvmd_unfinished_abort(struct pvmd_unfinished *u);

/* Whether a frame is a whole message, which need not be recorded. */
static inline int pvmd_frame_is_whole(const struct pvmc_frame_header *h)
{
    return !h->offset && h->length == h->body_length && !(h->flags & PVMC_FRAME_ABORT);
}

#endif
