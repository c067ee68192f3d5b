/*
 * window.h - a retransmit window: the frames that were sent and are not yet acknowledged, oldest first. They are sent
 * again when the connection that took them is lost.
 *
 * The window numbers its frames by their place: `first` is the oldest, `end` the next to come. Both wrap. An owner that
 * counts frames in the order of sending (links between daemons) acknowledges by place; one whose frames bear numbers of
 * their own (links between tasks) acknowledges by these. How much a window may hold is its owner's decision.
 */
#ifndef PVMW_WINDOW_H
#define PVMW_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include "core/message/frame.h"

struct pvmw_window {
    struct pvmc_frame **ring; /* frame n is at n % capacity; NULL while there is no room */
    uint32_t capacity;        /* a power of two, or 0 */
    uint32_t first;           /* number of the oldest frame */
    uint32_t end;             /* number of the next frame */
    size_t bytes;             /* memory of the frames, about */
};

static inline uint32_t pvmw_window_count(const struct pvmw_window *w)
{
    return w->end - w->first;
}

/* Frame n, first <= n < end; the window keeps its reference. */
static inline struct pvmc_frame *pvmw_window_frame(const struct pvmw_window *w, uint32_t n)
{
    return w->ring[n & (w->capacity - 1)];
}

/* The oldest frame, or NULL; the window keeps its reference. */
static inline struct pvmc_frame *pvmw_window_first(const struct pvmw_window *w)
{
    return pvmw_window_count(w) ? pvmw_window_frame(w, w->first) : NULL;
}

/* Keeps a reference to f under number `end`. 0, or PVMC_ENOMEM, logged, with nothing changed. */
int pvmw_window_add(struct pvmw_window *w, struct pvmc_frame *f);

/* There must be a frame. */
void pvmw_window_drop_first(struct pvmw_window *w);

/*
 * The peer has all frames before number `next`: drops them. PVMC_EFORMAT, with nothing dropped, when it claims frames
 * from number `sent` on, which are not sent yet, or takes back what it has acknowledged.
 */
int pvmw_window_acknowledge(struct pvmw_window *w, uint32_t next, uint32_t sent);

/* The peer has all frames whose headers' `seq` is before `seq`: drops them. What is acknowledged twice does nothing. */
void pvmw_window_acknowledge_seq(struct pvmw_window *w, uint32_t seq);

/* Moves all frames to the end of another window, marked as sent AGAIN. Out of memory drops them, logged. */
void pvmw_window_resend_by(struct pvmw_window *from, struct pvmw_window *to);

/* Drops all frames and the ring; numbers go on. */
void pvmw_window_clear(struct pvmw_window *w);

#endif
