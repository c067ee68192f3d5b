/*
 * queue.h - the frames queued for one receiver (a task's socket or a host's link), in order, with a bound.
 *
 * Above the high mark (PVM_QUEUE_MAX) each sender is told once to hold (PVMC_TC_HOLD); below half of it all held
 * senders are released. Frames in transit by then are still accepted, so the bound is soft by one frame per sender.
 */
#ifndef PVMD_QUEUE_H
#define PVMD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include "core/message/frame.h"

struct pvmd_queue_entry;

struct pvmd_queue {
    struct pvmd_queue_entry *first, *last;
    struct pvmd_queue_entry *last_urgent; /* HOLD and RELEASE wait at the front, in order; NULL: none does */
    size_t bytes;                         /* memory of the queued frames */
    size_t answer_bytes;                  /* of those, answers to its requests */
    unsigned descriptors;                 /* of the queued frames */
    pvmc_tid receiver;                    /* what HOLD and RELEASE name: a task's tid or a host's */
    bool was_long;                        /* since it was last empty: memory is trimmed when it is empty again */
    pvmc_tid *held;                       /* senders told to hold */
    size_t held_count, held_capacity;
};

/*
 * The task whose one-way request is being executed, or 0. Frames that this daemon sends to others meanwhile count as
 * the task's own. Set by request.c.
 */
extern pvmc_tid pvmd_queue_payer;

void pvmd_queue_init(struct pvmd_queue *q, pvmc_tid receiver);

/* Whether so many answers are queued for the receiver that it may make no more requests. */
bool pvmd_queue_is_full_of_answers(const struct pvmd_queue *q);

/* Drops all frames and releases all held senders. */
void pvmd_queue_clear(struct pvmd_queue *q);

/*
 * Appends f (takes a reference) and tells its sender to hold if the queue is above the high mark. HOLD and RELEASE
 * precede all other frames. A descriptor of f is queued with it; if there are too many, it is closed, and f is sent
 * without it. Returns 0 or PVMC_ENOMEM.
 */
int pvmd_queue_push(struct pvmd_queue *q, struct pvmc_frame *f);

/* The oldest frame, which stays queued, or NULL. */
struct pvmc_frame *pvmd_queue_first(const struct pvmd_queue *q);

/* Removes the oldest frame with its reference, and releases held senders once the queue is low. */
void pvmd_queue_pop(struct pvmd_queue *q);

#endif
