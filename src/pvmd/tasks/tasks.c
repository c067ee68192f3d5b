/* tasks.c - the registry of tasks, and sending frames to their sockets. */
#include "tasks.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "core/config.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "clients.h"
#include "gauges.h"
#include "pvmd/base/events.h"
#include "pvmd/base/self.h"
#include "pvmd/base/sweeper.h"
#include "overrun.h"
#include "pvmd/frames/relay.h"
#include "pvmd/base/stats.h"

struct pvmd_task *pvmd_tasks;

/* ---- the registry ---- */

#define RECENT_COUNT 64 /* a power of two */

/* Found lately: most frames go to the same few tasks. */
static struct pvmd_task *recent[RECENT_COUNT];

static struct pvmd_task **recent_place(pvmc_tid tid)
{
    return &recent[tid % RECENT_COUNT];
}

static void forget_recent(const struct pvmd_task *task)
{
    if (*recent_place(task->tid) == task)
        *recent_place(task->tid) = NULL;
}

static __attribute__((noinline)) struct pvmd_task *find(pvmc_tid tid)
{
    struct pvmd_task *task;
    HASH_FIND_INT(pvmd_tasks, &tid, task);
    if (task)
        *recent_place(tid) = task;
    return task;
}

static inline struct pvmd_task *by_tid(pvmc_tid tid)
{
    struct pvmd_task *task = *recent_place(tid);
    return task && task->tid == tid ? task : find(tid);
}

struct pvmd_task *pvmd_task_by_tid(pvmc_tid tid)
{
    return by_tid(tid);
}

struct pvmd_task *pvmd_task_by_cookie(uint32_t cookie)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (cookie && task->cookie == cookie)
            return task;
    return NULL;
}

/* Numbers go up, and start again at 1 after the last; those in use are skipped. 0: all are in use. */
static pvmc_tid next_tid(void)
{
    static uint32_t latest;
    for (uint32_t tries = 0; tries < PVMC_TID_LOCAL_MASK; tries++) {
        latest = latest % PVMC_TID_LOCAL_MASK + 1;
        if (!pvmd_task_by_tid(pvmd_host_tid() | latest))
            return pvmd_host_tid() | latest;
    }
    return 0;
}

struct pvmd_task *pvmd_task_new(const char *name)
{
    int64_t limit = pvmc_config_integer(PVMC_SETTING_MAX_TASKS);
    if (limit > 0 && HASH_COUNT(pvmd_tasks) >= limit) {
        pvmc_log(PVMC_LOG_WARNING, "no more tasks: PVM_MAX_TASKS=%lld is reached", (long long)limit);
        return NULL;
    }
    struct pvmd_task *task = calloc(1, sizeof *task);
    if (task) {
        task->name = strdup(name);
        task->tid = next_tid();
    }
    if (!task || !task->name || !task->tid || !PVMC_HASH_ADD(hh, pvmd_tasks, tid, task)) {
        pvmc_log(PVMC_LOG_ERROR, "no memory or no task id for one more task");
        if (task)
            free(task->name);
        free(task);
        return NULL;
    }
    task->parent = PvmNoParent;
    task->spawn_flags = -1;
    pvmd_queue_init(&task->queue, task->tid);
    return task;
}

/* The task sends and receives nothing any more. */
static void cut_off(struct pvmd_task *task)
{
    const unsigned past = PVMD_TASK_HOSTER | PVMD_TASK_RM | PVMD_TASK_TASKER | PVMD_TASK_CONNECTED;
    pvmd_tell_task_left(task);
    pvmd_gauges_close(task->gauges);
    task->gauges = NULL;
    task->was_tasker = false;
    task->ep = NULL;
    task->cookie = 0;
    task->flags = (task->flags & ~past) | PVMD_TASK_CLOSING;
    pvmd_overrun_clear(task);
    pvmd_unfinished_abort(&task->unfinished);
    pvmd_tell_sender_ended(task->tid);
    pvmd_queue_clear(&task->queue);
}

void pvmd_task_leave(struct pvmd_task *task)
{
    cut_off(task);
    if (!task->running)
        pvmd_task_end(task);
}

void pvmd_task_end(struct pvmd_task *task)
{
    cut_off(task);
    pvmc_failpoint(PVMC_FAILPOINT_TASK_END);
    pvmd_tell_task_ends(task);
    HASH_DEL(pvmd_tasks, task);
    forget_recent(task);
    pvmd_stats.ended++;
    pvmd_tell_task_ended(task);
    pvmc_failpoint_done(PVMC_FAILPOINT_TASK_END);
    free(task->name);
    free(task);
}

void pvmd_tasks_terminate(void)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->pid > 0 && !kill(task->pid, SIGTERM))
            pvmd_sweeper_told(task->pid);
}

void pvmd_tasks_stop(void)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next) {
        HASH_DEL(pvmd_tasks, task);
        forget_recent(task);
        task->queue.held_count = 0;
        pvmd_queue_clear(&task->queue);
        pvmd_overrun_clear(task);
        free(task->unfinished.latest);
        pvmd_gauges_close(task->gauges);
        free(task->name);
        free(task);
    }
}

/* ---- sending ---- */

void pvmd_task_send(struct pvmd_task *task, struct pvmc_frame *f)
{
    if (task->flags & PVMD_TASK_CLOSING) {
        pvmd_stats.dropped++;
        return;
    }
    int rc = !task->ep || task->queue.first ? PVMC_EAGAIN : task->ep->transport->ops->send(task->ep, f);
    if (rc != PVMC_EAGAIN)
        return; /* accepted; or the connection is broken, which the transport will report */
    pvmd_stats.queued++;
    if (pvmd_queue_push(&task->queue, f))
        pvmd_task_cut(task->tid);
    if (pvmd_queue_is_full_of_answers(&task->queue))
        pvmd_client_pause(task, PVMD_PAUSE_ANSWERS, true);
}

bool pvmd_task_forward(pvmc_tid dst, const uint8_t *wire, uint32_t payload_bytes)
{
    const struct pvmd_task *task = by_tid(dst);
    if (!task || !task->ep || task->queue.first || task->flags & PVMD_TASK_CLOSING)
        return false;
    if (task->ep->transport->ops->send_wire(task->ep, wire, PVMC_FRAME_HEADER_BYTES + (size_t)payload_bytes))
        return false;
    pvmd_stats.frames++;
    pvmd_stats.bytes += payload_bytes;
    return true;
}

void pvmd_task_cut(pvmc_tid tid)
{
    struct pvmd_task *task = pvmd_task_by_tid(tid);
    if (!task)
        return;
    task->flags |= PVMD_TASK_CUT;
    if (task->ep)
        pvmd_client_cut(task->ep->owner);
}

void pvmd_task_drain(struct pvmd_task *task)
{
    struct pvmc_frame *f;
    while ((f = pvmd_queue_first(&task->queue))) {
        if (task->ep->transport->ops->send(task->ep, f) == PVMC_EAGAIN)
            return;
        pvmd_queue_pop(&task->queue);
    }
    pvmd_client_pause(task, PVMD_PAUSE_ANSWERS, false);
}

void pvmd_task_tell(struct pvmd_task *task, uint32_t ctx, int32_t tag, int32_t wid, const struct pvmc_buf *body)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    int rc = m ? 0 : PVMC_ENOMEM;
    if (!rc && body)
        rc = pvmc_buf_error(body) ? PVMC_ENOMEM : pvmc_message_pack_bytes(m, body->data, body->length);
    if (rc) {
        pvmc_message_unref(m);
        pvmd_task_cut(task->tid);
        return;
    }
    m->src = PVMC_TID_DAEMON;
    m->dst = task->tid;
    m->ctx = ctx;
    m->tag = tag;
    m->wid = wid;
    pvmd_relay_message(m);
    pvmc_message_unref(m);
}
