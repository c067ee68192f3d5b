/*
 * queue.h - the frames that wait for one receiver (a task's socket or a host's link), in order, with a bound.
 *
 * Above the high mark (PVM_QUEUE_MAX) each sender is told once to hold (PVMI_TC_HOLD); below half of it all held
 * senders are released. What senders had under way until then is still taken, so the bound is soft by one frame for
 * each sender.
 */
#ifndef PVMD_QUEUE_H
#define PVMD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include "../core/frame.h"

struct pvmd_queue_entry;

struct pvmd_queue {
    struct pvmd_queue_entry *first, *last;
    struct pvmd_queue_entry *last_urgent; /* HOLD and RELEASE wait at the front, in their order; NULL: none does */
    size_t bytes;                         /* memory that the waiting frames hold */
    size_t answer_bytes;                  /* of those, answers to its requests */
    unsigned descriptors;                 /* that wait with their frames */
    pvmi_tid receiver;                    /* what HOLD and RELEASE name: a task's tid or a host's */
    bool was_long;                        /* it has been, since it was empty: memory is given back when it is again */
    pvmi_tid *held;                       /* senders told to hold */
    size_t held_count, held_capacity;
};

/*
 * The task whose one-way request is carried out, or 0: what this daemon sends to others meanwhile is on its account, as
 * if the task had sent it. Set by request.c.
 */
extern pvmi_tid pvmd_queue_payer;

void pvmd_queue_init(struct pvmd_queue *q, pvmi_tid receiver);

/* Whether so many answers to its own requests wait that the receiver should not ask for more. */
bool pvmd_queue_is_full_of_answers(const struct pvmd_queue *q);

/* Drops all frames and releases all held senders. */
void pvmd_queue_clear(struct pvmd_queue *q);

/*
 * Appends f (takes a reference) and tells its sender to hold if the queue is above the high mark; control messages that
 * say HOLD or RELEASE go before all others. A descriptor of f waits with it; where too many do, f's is closed and f
 * goes on without. 0 or PVMI_ENOMEM.
 */
int pvmd_queue_push(struct pvmd_queue *q, struct pvmi_frame *f);

/* The oldest frame, which stays queued, or NULL. */
struct pvmi_frame *pvmd_queue_first(const struct pvmd_queue *q);

/* Takes the oldest frame off and gives its reference back; releases held senders once the queue is low. */
void pvmd_queue_pop(struct pvmd_queue *q);

/* Tells a sender (a task's tid, or a daemon's) to hold, or to go on. Called by queue.c; defined in hold.c. */
void pvmd_hold_tell(pvmi_tid sender, pvmi_tid receiver, bool hold);

#endif
