/* frames.c - see frames.h. */
#include <stdlib.h>
#include <string.h>
#include "base/sim.h"
#include "frames.h"

void pvma_frames_init(struct pvma_frames *frames)
{
    *frames = (struct pvma_frames){.last = &frames->first};
}

void pvma_frames_clear(struct pvma_frames *frames)
{
    while (frames->first)
        free(pvma_frames_take(frames));
}

bool pvma_frames_put(struct pvma_frames *frames, unsigned limit, uint32_t to, const uint8_t *packet, uint32_t length)
{
    struct pvma_frame *frame;

    if (frames->count >= limit)
        return false;
    frame = pvma_new(sizeof *frame + length);
    frame->to = to;
    frame->length = length;
    memcpy(frame->packet, packet, length);
    *frames->last = frame;
    frames->last = &frame->next;
    frames->count++;
    return true;
}

struct pvma_frame *pvma_frames_take(struct pvma_frames *frames)
{
    struct pvma_frame *frame = frames->first;

    frames->first = frame->next;
    if (!frame->next)
        frames->last = &frames->first;
    frames->count--;
    return frame;
}
