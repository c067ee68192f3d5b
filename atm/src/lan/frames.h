/* frames.h - packets that wait in a driver's queue for a shared medium. */
#ifndef PVMA_FRAMES_H
#define PVMA_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

struct pvma_frame {
    struct pvma_frame *next;
    uint32_t to;     /* station */
    uint32_t length; /* bytes of the IP packet */
    uint8_t packet[];
};

struct pvma_frames {
    struct pvma_frame *first, **last;
    unsigned count;
};

void pvma_frames_init(struct pvma_frames *frames);
void pvma_frames_clear(struct pvma_frames *frames);

/* Appends a copy; false when `limit` packets are queued already. */
bool pvma_frames_put(struct pvma_frames *frames, unsigned limit, uint32_t to, const uint8_t *packet, uint32_t length);

/* Removes the first, which must exist; the caller frees it. */
struct pvma_frame *pvma_frames_take(struct pvma_frames *frames);

#endif
