/* tasks.c - the registry of tasks, and the way of frames to their sockets. */
#include "tasks.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "../core/config.h"
#include "../core/error.h"
#include "../core/log.h"
#include "clients.h"
#include "daemon.h"
#include "hoster.h"
#include "manager.h"
#include "multicast.h"
#include "notify.h"
#include "output.h"
#include "overrun.h"
#include "relay.h"
#include "stats.h"
#include "tasker.h"
#include "trace.h"
#include "virtual.h"
#include "watch.h"

struct pvmd_task *pvmd_tasks;

/* ---- the registry ---- */

struct pvmd_task *pvmd_task_by_tid(pvmi_tid tid)
{
    struct pvmd_task *task;
    HASH_FIND_INT(pvmd_tasks, &tid, task);
    return task;
}

struct pvmd_task *pvmd_task_by_cookie(uint32_t cookie)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (cookie && task->cookie == cookie)
            return task;
    return NULL;
}

/* Numbers go up and come back to 1 after the last; those in use are skipped. 0 when all are. */
static pvmi_tid next_tid(void)
{
    static uint32_t latest;
    for (uint32_t tries = 0; tries < PVMI_TID_LOCAL_MASK; tries++) {
        latest = latest % PVMI_TID_LOCAL_MASK + 1;
        if (!pvmd_task_by_tid(pvmd_host_tid() | latest))
            return pvmd_host_tid() | latest;
    }
    return 0;
}

struct pvmd_task *pvmd_task_new(const char *name)
{
    int64_t limit = pvmi_config_integer(PVMI_SETTING_MAX_TASKS);
    if (limit > 0 && HASH_COUNT(pvmd_tasks) >= limit) {
        pvmi_log(PVMI_LOG_WARNING, "no task more than PVM_MAX_TASKS=%lld", (long long)limit);
        return NULL;
    }
    struct pvmd_task *task = calloc(1, sizeof *task);
    if (task) {
        task->name = strdup(name);
        task->tid = next_tid();
    }
    if (!task || !task->name || !task->tid || !PVMI_HASH_ADD(hh, pvmd_tasks, tid, task)) {
        pvmi_log(PVMI_LOG_ERROR, "no memory or no number for one more task");
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

/* What it did for the machine, it does no longer. */
static void end_duties(struct pvmd_task *task)
{
    if (task->flags & PVMD_TASK_HOSTER)
        pvmd_hoster_ended(task->tid);
    if (task->flags & PVMD_TASK_RM)
        pvmd_manager_ended(task->tid);
    if (task->was_tasker)
        pvmd_tasker_ended(task->tid);
    task->flags &= ~(unsigned)(PVMD_TASK_HOSTER | PVMD_TASK_RM | PVMD_TASK_TASKER);
    task->was_tasker = false;
}

/* Nothing more comes from it, and nothing goes to it. */
static void cut_off(struct pvmd_task *task)
{
    end_duties(task);
    task->ep = NULL;
    task->cookie = 0;
    task->flags = (task->flags & ~PVMD_TASK_CONNECTED) | PVMD_TASK_CLOSING;
    pvmd_overrun_clear(task);
    pvmd_unfinished_abort(&task->unfinished);
    pvmd_multicast_sender_ended(task->tid);
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
    pvmi_tid tid = task->tid;
    cut_off(task);
    pvmd_output_drain(tid);
    pvmd_output_shell_ends(task);
    pvmd_trace_end(task);
    pvmd_manager_task_ended(task);
    HASH_DEL(pvmd_tasks, task);
    pvmd_virtual_gone(task->pid);
    pvmd_stats.ended++;
    pvmd_notify_owner_ended(tid);
    pvmd_watch_task_ended(tid);
    free(task->name);
    free(task);
}

void pvmd_tasks_terminate(void)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->pid > 0)
            kill(task->pid, SIGTERM);
}

void pvmd_tasks_stop(void)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next) {
        HASH_DEL(pvmd_tasks, task);
        task->queue.held_count = 0;
        pvmd_queue_clear(&task->queue);
        pvmd_overrun_clear(task);
        free(task->unfinished.latest);
        free(task->name);
        free(task);
    }
}

/* ---- sending ---- */

void pvmd_task_send(struct pvmd_task *task, struct pvmi_frame *f)
{
    if (task->flags & PVMD_TASK_CLOSING) {
        pvmd_stats.dropped++;
        return;
    }
    int rc = !task->ep || task->queue.first ? PVMI_EAGAIN : task->ep->transport->ops->send(task->ep, f);
    if (rc != PVMI_EAGAIN)
        return; /* taken; or the task is dying, which we hear soon */
    pvmd_stats.queued++;
    if (pvmd_queue_push(&task->queue, f))
        pvmd_task_cut(task->tid);
    if (pvmd_queue_is_full_of_answers(&task->queue))
        pvmd_client_pause(task, PVMD_PAUSE_ANSWERS, true);
}

void pvmd_task_cut(pvmi_tid tid)
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
    struct pvmi_frame *f;
    while ((f = pvmd_queue_first(&task->queue))) {
        if (task->ep->transport->ops->send(task->ep, f) == PVMI_EAGAIN)
            return;
        pvmd_queue_pop(&task->queue);
    }
    pvmd_client_pause(task, PVMD_PAUSE_ANSWERS, false);
}

void pvmd_task_tell(struct pvmd_task *task, uint32_t ctx, int32_t tag, int32_t wid, const struct pvmi_buf *body)
{
    struct pvmi_message *m = pvmi_message_new(PVMI_ENC_DEFAULT);
    int rc = m ? 0 : PVMI_ENOMEM;
    if (!rc && body)
        rc = pvmi_buf_error(body) ? PVMI_ENOMEM : pvmi_message_pack_bytes(m, body->data, body->length);
    if (rc) {
        pvmi_message_unref(m);
        pvmd_task_cut(task->tid);
        return;
    }
    m->src = PVMI_TID_DAEMON;
    m->dst = task->tid;
    m->ctx = ctx;
    m->tag = tag;
    m->wid = wid;
    pvmd_relay_message(m);
    pvmi_message_unref(m);
}
