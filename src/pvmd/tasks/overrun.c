/* overrun.c - see overrun.h. */
#include "overrun.h"
#include <stdlib.h>
#include "../core/buf.h"
#include "../core/config.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "clients.h"
#include "stats.h"

/* What a task may have under way when it is told: its socket's buffer, and what it sends between two looks. */
#define UNDER_WAY_BYTES ((size_t)2 << 20)

/* A receiver that a task was told to hold. */
struct pvmd_overrun {
    pvmi_tid receiver; /* a task or a host */
    size_t bytes;      /* that came for it since */
    UT_hash_handle hh;
};

static size_t bytes_max(void)
{
    size_t half = (size_t)pvmi_config_integer(PVMI_SETTING_QUEUE_MAX) / 2;
    return half > UNDER_WAY_BYTES ? half : UNDER_WAY_BYTES;
}

static bool is_over(const struct pvmd_overrun *o)
{
    return o->bytes > bytes_max();
}

static struct pvmd_overrun *find(const struct pvmd_task *task, pvmi_tid receiver)
{
    struct pvmd_overrun *o;
    HASH_FIND_INT(task->overruns, &receiver, o);
    return o;
}

static void settle(struct pvmd_task *task)
{
    const struct pvmd_overrun *o = task->overruns;
    while (o && !is_over(o))
        o = o->hh.next;
    pvmd_client_pause(task, PVMD_PAUSE_OVERRUN, o);
}

static void forget(struct pvmd_task *task, struct pvmd_overrun *o)
{
    HASH_DEL(task->overruns, o);
    free(o);
}

static void begin(struct pvmd_task *task, pvmi_tid receiver)
{
    struct pvmd_overrun *o = find(task, receiver) ? NULL : calloc(1, sizeof *o);
    if (!o)
        return;
    o->receiver = receiver;
    if (!PVMI_HASH_ADD(hh, task->overruns, receiver, o))
        free(o); /* the hold is a request then, as it is for every honest task */
}

void pvmd_overrun_told(struct pvmd_task *task, const struct pvmi_frame *f)
{
    struct pvmi_buf body;
    pvmi_buf_view(&body, f->piece_count ? f->pieces[0].iov_base : NULL, f->piece_count ? f->pieces[0].iov_len : 0);
    pvmi_tid receiver = pvmi_buf_get_u32(&body);
    struct pvmd_overrun *o = find(task, receiver);
    if (f->h.tag == (int32_t)PVMI_TC_HOLD)
        begin(task, receiver);
    else if (o)
        forget(task, o);
    settle(task);
}

static void complain(const struct pvmd_task *task, const struct pvmd_overrun *o)
{
    pvmd_stats.overruns++;
    pvmi_log(PVMI_LOG_WARNING,
             "t%x (pid %d) sends to t%x, which it was told to hold: it is not read until that is released", task->tid,
             (int)task->pid, o->receiver);
}

static void charge(struct pvmd_task *task, struct pvmd_overrun *o, size_t bytes)
{
    bool was_over = is_over(o);
    o->bytes += bytes;
    if (was_over || !is_over(o))
        return;
    complain(task, o);
    pvmd_client_pause(task, PVMD_PAUSE_OVERRUN, true);
}

/* True while the receiver may be sent to. */
static bool count(struct pvmd_task *task, struct pvmd_overrun *o, const struct pvmi_frame_header *h)
{
    bool is_control = h->ctx == PVMI_CTX_TC;
    size_t bytes = sizeof(struct pvmi_frame) + h->length;
    if (!o)
        return true;
    if (is_control && o->bytes + bytes > bytes_max())
        return false;
    charge(task, o, bytes);
    return true;
}

/* Whoever sends to many waits until none of them is held: its frame counts for each that is. */
static void count_for_all(struct pvmd_task *task, const struct pvmi_frame_header *h)
{
    for (struct pvmd_overrun *o = task->overruns; o; o = o->hh.next)
        count(task, o, h);
}

bool pvmd_overrun_takes(struct pvmd_task *task, const struct pvmi_frame_header *h)
{
    if (!pvmi_tid_is_multicast(h->dst))
        return count(task, find(task, h->dst), h) && count(task, find(task, pvmi_tid_host(h->dst)), h);
    count_for_all(task, h);
    return true;
}

void pvmd_overrun_charge(pvmi_tid sender, pvmi_tid receiver, size_t bytes)
{
    struct pvmd_task *task = pvmd_task_by_tid(sender);
    struct pvmd_overrun *o = task ? find(task, receiver) : NULL;
    if (o)
        charge(task, o, bytes);
}

void pvmd_overrun_host_left(unsigned index)
{
    struct pvmd_task *task, *next_task;
    HASH_ITER (hh, pvmd_tasks, task, next_task) {
        struct pvmd_overrun *o, *next;
        HASH_ITER (hh, task->overruns, o, next)
            if (pvmi_tid_host_index(o->receiver) == index)
                forget(task, o);
        settle(task);
    }
}

void pvmd_overrun_clear(struct pvmd_task *task)
{
    struct pvmd_overrun *o, *next;
    HASH_ITER (hh, task->overruns, o, next)
        forget(task, o);
}
