/*
 * window.h - a retransmit queue: frames sent and not yet acknowledged, oldest first. They are sent again when the
 * connection that carried them is lost.
 *
 * The window numbers its frames by place: `first` is the oldest, `end` the next one. Both wrap. Links between daemons
 * count frames in the order of sending and acknowledge by place. Links between tasks acknowledge by the numbers in the
 * frames' headers. The owner limits how much a window may hold.
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
    size_t bytes;             /* memory of the frames, approximately */
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

/* Drops the oldest frame, which must exist. */
void pvmw_window_drop_first(struct pvmw_window *w);

/*
 * The peer has all frames before number `next`: drops them. PVMC_EFORMAT, with nothing dropped, when the peer
 * acknowledges frames from `sent` on, which are not sent yet, or takes back an acknowledgement.
 */
int pvmw_window_acknowledge(struct pvmw_window *w, uint32_t next, uint32_t sent);

/* The peer has all frames whose headers' `seq` is before `seq`: drops them. A repeated acknowledgement does nothing. */
void pvmw_window_acknowledge_seq(struct pvmw_window *w, uint32_t seq);

/* Moves all frames to the end of another window and marks them as sent AGAIN. Out of memory drops them and logs it. */
void pvmw_window_resend_by(struct pvmw_window *from, struct pvmw_window *to);

/* Drops all frames and the ring; the numbering continues. */
void pvmw_window_clear(struct pvmw_window *w);

#endif
