/*
 * early.h - frames of one peer that came before their turn: others with lower numbers are still on their way by another
 * route. They are kept in the order of their numbers.
 */
#ifndef PVMI_EARLY_H
#define PVMI_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../core/frame.h"

struct pvmi_early {
    struct pvmi_frame_header h;
    struct pvmi_mem *mem; /* the payload; NULL when there is none */
    size_t copied;        /* bytes that it takes here; 0 for a reference to the sender's memory */
    bool direct;          /* came by a direct link */
    bool complete;        /* the payload is there */
    struct pvmi_early *prev, *next;
};

/* Room for a frame, not complete yet. NULL when out of memory (logged). */
struct pvmi_early *pvmi_early_add(struct pvmi_early **all, const struct pvmi_frame_header *h, bool direct);

/* A frame of a direct link whose payload is mem: takes over the reference. NULL when out of memory; mem then stays the
 * caller's. */
struct pvmi_early *pvmi_early_add_whole(struct pvmi_early **all, const struct pvmi_frame_header *h,
                                        struct pvmi_mem *mem);

/* Frees one. */
void pvmi_early_remove(struct pvmi_early **all, struct pvmi_early *e);

/* Frees all. */
void pvmi_early_clear(struct pvmi_early **all);

/*
 * The complete frame with number `due`, or NULL. Complete ones with lower numbers are duplicates, and are freed on the
 * way.
 */
struct pvmi_early *pvmi_early_due(struct pvmi_early **all, uint32_t due);

/*
 * Whether so much of direct links is kept, for all peers together, that no more should be taken in by them. (Those that
 * came by the daemon wait for frames that links have already, so they are few.)
 */
bool pvmi_early_is_crowded(void);

#endif
