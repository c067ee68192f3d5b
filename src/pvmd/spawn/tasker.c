/* tasker.c - see tasker.h. */
#include "tasker.h"
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "pvmd/tasks/clients.h"
#include "pvmd/base/self.h"
#include "pvmproto.h"
#include "pvmd/tasks/service.h"
#include "pvmd/base/stats.h"

extern char **environ;

static pvmc_tid tasker;

pvmc_tid pvmd_tasker(void)
{
    return tasker;
}

void pvmd_tasker_set(pvmc_tid tid)
{
    struct pvmd_task *task = pvmd_task_by_tid(tid);
    if (task)
        task->was_tasker = true;
    tasker = tid;
}

/* ---- SM_STTASK ---- */

static bool is_of_daemon(const char *variable)
{
    for (char **e = environ; *e; e++)
        if (!strcmp(*e, variable))
            return true;
    return false;
}

/*
 * A process inherits the tasker's own environment, so only PVM's variables and those that the spawner exports are sent.
 * PVM 3.4 sends as few, and taskers keep them in arrays.
 */
static bool is_sent(const char *variable)
{
    return !strncmp(variable, "PVM", 3) || !is_of_daemon(variable);
}

static void put_environment(struct pvmc_message **m, char *const *environment)
{
    int count = 0;
    for (char *const *e = environment; *e; e++)
        count += is_sent(*e);
    pvmd_service_put_int(m, count);
    for (char *const *e = environment; *e; e++)
        if (is_sent(*e))
            pvmd_service_put_text(m, *e);
}

int pvmd_tasker_give(struct pvmd_task *task, const struct pvmd_tasker_order *order)
{
    static int32_t wid;
    wid = wid == INT32_MAX ? 1 : wid + 1;
    struct pvmc_message *m = pvmd_service_new(SM_STTASK, wid);
    int argc = 0;
    while (order->argv[argc])
        argc++;
    pvmd_service_put_int(&m, (int)task->tid);
    pvmd_service_put_int(&m, (int)order->flags);
    pvmd_service_put_text(&m, order->argv[0]);
    pvmd_service_put_int(&m, argc);
    for (int i = 0; i < argc; i++)
        pvmd_service_put_text(&m, order->argv[i]);
    put_environment(&m, order->environment);
    pvmd_service_put_int(&m, (int)order->instance);
    pvmd_service_put_int(&m, (int)order->here);
    pvmd_service_put_int(&m, (int)order->total);
    task->tasker = tasker;
    task->flags &= ~(unsigned)PVMD_TASK_FORKED;
    if (!pvmd_service_send(m, tasker))
        return PvmNoMem;
    pvmd_stats.spawned++;
    return PvmOk;
}

/* ---- SM_TASKX ---- */

static ev_timer soon;

/*
 * Processes first what the tasks sent before they ended. A task whose connection is still open then, held by a process
 * other than the tasker's child, ends with its connection, whatever the tasker says.
 */
static void end_told(EV_P_ ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events;
    pvmd_clients_progress();
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->exit_told && !task->ep)
            pvmd_task_end(task);
}

static void end_soon(struct pvmd_task *task)
{
    task->exit_told = true;
    ev_timer_set(&soon, 0., 0.);
    ev_timer_start(pvmd.loop, &soon);
}

static int take_exit(struct pvmc_message *m)
{
    int rc = 0, rest = 0, values[5];
    struct pvmd_task *task = pvmd_task_by_tid((pvmc_tid)pvmd_service_get_int(m, &rc));
    if (rc)
        return rc;
    for (unsigned i = 0; i < 5; i++)
        values[i] = pvmd_service_get_int(m, &rest); /* not all taskers send all */
    if (!task)
        return 0; /* we know already, because its connection has closed */
    if (task->tasker != m->src) {
        pvmc_log(PVMC_LOG_WARNING, "tasker t%x reports the end of t%x, which it did not start", m->src, task->tid);
        return 0;
    }
    task->status = values[0];
    memcpy(task->times, values + 1, sizeof task->times);
    end_soon(task);
    return 0;
}

/* A former tasker may still have tasks. */
static bool has_tasks(pvmc_tid src)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->tasker == src)
            return true;
    return false;
}

static bool may_send(pvmc_tid src)
{
    return src && (src == tasker || has_tasks(src));
}

/* ---- its end ---- */

void pvmd_tasker_task_left(const struct pvmd_task *left)
{
    pvmc_tid tid = left->tid;
    if (!left->was_tasker)
        return;
    if (tid == tasker) {
        pvmc_log(PVMC_LOG_INFO, "tasker t%x has ended: this daemon starts processes itself again", tid);
        tasker = 0;
    }
    pvmd_service_forget(tid);
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->tasker == tid && !task->ep)
            pvmd_task_end(task);
}

void pvmd_tasker_start(void)
{
    ev_timer_init(&soon, end_told, 0., 0.);
    pvmd_service_handle(SM_TASKX, may_send, take_exit);
}
