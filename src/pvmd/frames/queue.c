/* queue.c - a list of frames. Its bound counts memory with all overhead, so that small frames cannot evade it. */
#include "queue.h"
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/events.h"
#include "pvmd/base/memory.h"
#include "hold.h"

#define LONG_BYTES      ((size_t)256 << 10)
#define DESCRIPTORS_MAX 64 /* per receiver; all queues together may hold a quarter of this process's limit */

pvmc_tid pvmd_queue_payer;

struct pvmd_queue_entry {
    struct pvmc_frame *frame;
    struct pvmd_queue_entry *next;
};

/* The memory of a waiting frame: itself, its entry, its payload and the payload's bookkeeping. */
static size_t cost(const struct pvmc_frame *f)
{
    return sizeof(struct pvmc_frame) + sizeof(struct pvmd_queue_entry) + 64 + f->h.length;
}

static size_t high_mark(void)
{
    static size_t bytes;
    if (!bytes)
        bytes = (size_t)pvmc_config_integer(PVMC_SETTING_QUEUE_MAX);
    return bytes;
}

void pvmd_queue_init(struct pvmd_queue *q, pvmc_tid receiver)
{
    *q = (struct pvmd_queue){.receiver = receiver};
}

static bool is_answer(const struct pvmc_frame *f)
{
    return f->h.ctx == PVMC_CTX_TM && pvmc_tid_is_daemon(f->h.src);
}

bool pvmd_queue_is_full_of_answers(const struct pvmd_queue *q)
{
    return q->answer_bytes > high_mark();
}

/* ---- holding senders back ---- */

static bool is_held(const struct pvmd_queue *q, pvmc_tid sender)
{
    for (size_t i = 0; i < q->held_count; i++)
        if (q->held[i] == sender)
            return true;
    return false;
}

static void hold(struct pvmd_queue *q, pvmc_tid sender)
{
    /* This daemon's own answers and events cannot be held. */
    if (sender == PVMC_TID_DAEMON || is_held(q, sender))
        return;
    if (q->held_count == q->held_capacity) {
        size_t capacity = q->held_capacity ? q->held_capacity * 2 : 8;
        pvmc_tid *held = realloc(q->held, capacity * sizeof *held);
        if (!held)
            return; /* retried with the sender's next frame */
        q->held = held;
        q->held_capacity = capacity;
    }
    q->held[q->held_count++] = sender;
    pvmd_hold_tell(sender, q->receiver, true);
}

static void hold_sender(struct pvmd_queue *q, const struct pvmc_frame *f)
{
    bool is_paid = pvmc_tid_is_daemon(f->h.src) && pvmd_queue_payer && pvmd_queue_payer != q->receiver;
    hold(q, is_paid ? pvmd_queue_payer : f->h.src);
    if (is_paid)
        pvmd_tell_sender_charged(pvmd_queue_payer, q->receiver, cost(f));
}

static void release_all(struct pvmd_queue *q)
{
    pvmc_tid *held = q->held;
    size_t count = q->held_count;
    q->held = NULL; /* the messages to them may fill this queue again */
    q->held_count = q->held_capacity = 0;
    for (size_t i = 0; i < count; i++)
        pvmd_hold_tell(held[i], q->receiver, false);
    free(held);
}

/* ---- descriptors of queued frames ---- */

static unsigned waiting_descriptors; /* in all queues */

static unsigned descriptors_max(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return DESCRIPTORS_MAX;
    return limit.rlim_cur / 4 < UINT_MAX ? (unsigned)(limit.rlim_cur / 4) : UINT_MAX;
}

/* Beyond the limit a frame loses its descriptor, and its receiver is told. */
static void count_descriptor(struct pvmd_queue *q, struct pvmc_frame *f)
{
    if (f->fd < 0)
        return;
    if (q->descriptors >= DESCRIPTORS_MAX || waiting_descriptors >= descriptors_max()) {
        close(f->fd);
        f->fd = -1;
        return;
    }
    q->descriptors++;
    waiting_descriptors++;
}

static void uncount_descriptor(struct pvmd_queue *q, const struct pvmc_frame *f)
{
    if (f->fd < 0)
        return;
    q->descriptors--;
    waiting_descriptors--;
}

/* ---- the list ---- */

static void insert_urgent(struct pvmd_queue *q, struct pvmd_queue_entry *e)
{
    struct pvmd_queue_entry **at = q->last_urgent ? &q->last_urgent->next : &q->first;
    e->next = *at;
    *at = e;
    q->last_urgent = e;
    if (!e->next)
        q->last = e;
}

static void append(struct pvmd_queue *q, struct pvmd_queue_entry *e)
{
    e->next = NULL;
    if (q->last)
        q->last->next = e;
    else
        q->first = e;
    q->last = e;
}

static void give_memory_back(struct pvmd_queue *q)
{
    if (q->first || !q->was_long)
        return;
    q->was_long = false;
    pvmd_trim_later();
}

int pvmd_queue_push(struct pvmd_queue *q, struct pvmc_frame *f)
{
    struct pvmd_queue_entry *e = malloc(sizeof *e);
    if (!e) {
        pvmc_log(PVMC_LOG_ERROR, "no memory to queue a frame for t%x", q->receiver);
        return PVMC_ENOMEM;
    }
    e->frame = pvmc_frame_ref(f);
    count_descriptor(q, f);
    q->bytes += cost(f);
    q->answer_bytes += is_answer(f) ? cost(f) : 0;
    q->was_long = q->was_long || q->bytes > LONG_BYTES;
    if (pvmd_hold_is(&f->h) && !f->h.detour) /* one with a detour has a number already */
        insert_urgent(q, e);
    else
        append(q, e);
    if (q->bytes > high_mark() && !pvmd_hold_is(&f->h))
        hold_sender(q, f);
    return 0;
}

struct pvmc_frame *pvmd_queue_first(const struct pvmd_queue *q)
{
    return q->first ? q->first->frame : NULL;
}

static void drop_first(struct pvmd_queue *q)
{
    struct pvmd_queue_entry *e = q->first;
    q->first = e->next;
    if (!q->first)
        q->last = NULL;
    if (q->last_urgent == e)
        q->last_urgent = NULL;
    q->bytes -= cost(e->frame);
    q->answer_bytes -= is_answer(e->frame) ? cost(e->frame) : 0;
    uncount_descriptor(q, e->frame);
    pvmc_frame_unref(e->frame);
    free(e);
}

void pvmd_queue_pop(struct pvmd_queue *q)
{
    if (!q->first)
        return;
    drop_first(q);
    if (q->held_count && q->bytes < high_mark() / 2)
        release_all(q);
    give_memory_back(q);
}

void pvmd_queue_clear(struct pvmd_queue *q)
{
    while (q->first)
        drop_first(q);
    release_all(q);
    give_memory_back(q);
}
