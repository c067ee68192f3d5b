/*
 * reorder.h - the reorder queue of a peer: frames that arrived early, in the order of their numbers. Frames with lower
 * numbers are still in transit by another route.
 */
#ifndef PVMI_REORDER_H
#define PVMI_REORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/message/frame.h"

struct pvmi_reorder_frame {
    struct pvmc_frame_header h;
    struct pvmc_mem *mem; /* the payload; NULL when there is none */
    size_t copied;        /* memory that the payload takes here; 0 for a reference to the sender's memory */
    bool direct;          /* received by a direct link */
    bool complete;        /* the payload has arrived */
    struct pvmi_reorder_frame *prev, *next;
};

/* Adds an incomplete frame. NULL when out of memory (logged). */
struct pvmi_reorder_frame *pvmi_reorder_add(struct pvmi_reorder_frame **all, const struct pvmc_frame_header *h,
                                            bool direct);

/*
 * Adds a frame of a direct link whose payload is mem, and takes over the reference. NULL when out of memory: mem stays
 * the caller's.
 */
struct pvmi_reorder_frame *pvmi_reorder_add_whole(struct pvmi_reorder_frame **all, const struct pvmc_frame_header *h,
                                                  struct pvmc_mem *mem);

/* The payload of an added frame has arrived. */
void pvmi_reorder_complete(struct pvmi_reorder_frame *e);

/* Frees one. */
void pvmi_reorder_remove(struct pvmi_reorder_frame **all, struct pvmi_reorder_frame *e);

/* Frees all. */
void pvmi_reorder_clear(struct pvmi_reorder_frame **all);

/* The complete frame with number `due`, or NULL. Complete frames with lower numbers are duplicates and freed. */
struct pvmi_reorder_frame *pvmi_reorder_due(struct pvmi_reorder_frame **all, uint32_t due);

/*
 * Whether the queues of all peers together hold so much from direct links that these must pause. Frames from the daemon
 * do not count: they wait for frames that links already have, so they are few. Nor do incomplete frames, of which each
 * link has at most one: it may be the one that is due, and then a pause would never end.
 */
bool pvmi_reorder_is_crowded(void);

#endif
