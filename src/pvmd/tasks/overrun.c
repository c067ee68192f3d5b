/* overrun.c - see overrun.h. */
#include "overrun.h"
#include <stdlib.h>
#include "core/buf.h"
#include "core/config.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "clients.h"
#include "pvmd/base/stats.h"

/* What a task may have in transit when it is told to hold: its socket's buffer, and all up to its next check. */
#define UNDER_WAY_BYTES ((size_t)2 << 20)

/* A receiver that a task was told to hold. */
struct pvmd_overrun {
    pvmc_tid receiver; /* a task or a host */
    size_t bytes;      /* received for it since */
    UT_hash_handle hh;
};

static size_t bytes_max(void)
{
    size_t half = (size_t)pvmc_config_integer(PVMC_SETTING_QUEUE_MAX) / 2;
    return half > UNDER_WAY_BYTES ? half : UNDER_WAY_BYTES;
}

static bool is_over(const struct pvmd_overrun *o)
{
    return o->bytes > bytes_max();
}

static struct pvmd_overrun *find(const struct pvmd_task *task, pvmc_tid receiver)
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

static void begin(struct pvmd_task *task, pvmc_tid receiver)
{
    struct pvmd_overrun *o = find(task, receiver) ? NULL : calloc(1, sizeof *o);
    if (!o)
        return;
    o->receiver = receiver;
    if (!PVMC_HASH_ADD(hh, task->overruns, receiver, o))
        free(o); /* the hold is then not enforced, but every libpvm obeys it */
}

void pvmd_overrun_told(struct pvmd_task *task, const struct pvmc_frame *f)
{
    struct pvmc_buf body;
    pvmc_buf_view(&body, f->piece_count ? f->pieces[0].iov_base : NULL, f->piece_count ? f->pieces[0].iov_len : 0);
    pvmc_tid receiver = pvmc_buf_get_u32(&body);
    struct pvmd_overrun *o = find(task, receiver);
    if (f->h.tag == (int32_t)PVMC_TC_HOLD)
        begin(task, receiver);
    else if (o)
        forget(task, o);
    settle(task);
}

static void complain(const struct pvmd_task *task, const struct pvmd_overrun *o)
{
    pvmd_stats.overruns++;
    pvmc_log(PVMC_LOG_WARNING,
             "t%x (pid %d) ignores the hold on t%x: its messages are not read until the hold is released", task->tid,
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

/* Whether the frame may go to the receiver. */
static bool count(struct pvmd_task *task, struct pvmd_overrun *o, const struct pvmc_frame_header *h)
{
    bool is_control = h->ctx == PVMC_CTX_TC;
    size_t bytes = sizeof(struct pvmc_frame) + h->length;
    if (!o)
        return true;
    if (is_control && o->bytes + bytes > bytes_max())
        return false;
    charge(task, o, bytes);
    return true;
}

/* A multicast must wait until no receiver is held, so its frame counts for each held receiver. */
static void count_for_all(struct pvmd_task *task, const struct pvmc_frame_header *h)
{
    for (struct pvmd_overrun *o = task->overruns; o; o = o->hh.next)
        count(task, o, h);
}

bool pvmd_overrun_takes(struct pvmd_task *task, const struct pvmc_frame_header *h)
{
    if (!pvmc_tid_is_multicast(h->dst))
        return count(task, find(task, h->dst), h) && count(task, find(task, pvmc_tid_host(h->dst)), h);
    count_for_all(task, h);
    return true;
}

void pvmd_overrun_charge(pvmc_tid sender, pvmc_tid receiver, size_t bytes)
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
            if (pvmc_tid_host_index(o->receiver) == index)
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
