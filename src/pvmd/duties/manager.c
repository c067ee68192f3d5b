/* manager.c - see manager.h. What the manager has daemons do is in manager_orders.c. */
#include "manager.h"
#include <stdlib.h>
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "manager_orders.h"
#include "membership.h"
#include "pvmproto.h"
#include "rpc.h"
#include "service.h"
#include "watch.h"

static pvmi_tid manager;
static struct pvmd_watch *watch;

pvmi_tid pvmd_manager(void)
{
    return manager;
}

/* ---- who it is ---- */

static void tell_task(struct pvmd_task *task)
{
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, manager);
    pvmd_task_tell(task, PVMI_CTX_TC, (int32_t)PVMI_TC_MANAGER, 0, &body);
    pvmi_buf_free(&body);
    task->managed = manager && task->tid != manager;
}

/* Those that ask a manager ask the new one, or nobody. The others go on as they began. */
static void tell_tasks(void)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->managed)
            tell_task(task);
}

static void set_manager(pvmi_tid tid);

static void manager_ended(void *arg, pvmi_tid tid)
{
    (void)arg;
    watch = NULL; /* freed by watch.c */
    pvmi_log(PVMI_LOG_INFO, "resource manager t%x has ended: tasks ask their daemons again", tid);
    set_manager(0);
}

static void mark(pvmi_tid tid, bool on)
{
    struct pvmd_task *task = pvmd_task_by_tid(tid);
    if (task)
        task->flags = on ? task->flags | PVMD_TASK_RM : task->flags & ~(unsigned)PVMD_TASK_RM;
}

static void set_manager(pvmi_tid tid)
{
    if (tid == manager)
        return;
    pvmd_watch_cancel(watch);
    pvmd_service_forget(manager);
    mark(manager, false);
    manager = tid;
    mark(manager, true);
    watch = manager ? pvmd_watch(manager, manager_ended, NULL) : NULL;
    tell_tasks();
}

/* ---- the master decides ---- */

static void tell_host(unsigned host_index)
{
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, manager);
    pvmd_ask(host_index, PVMD_DM_MANAGER_IS, &body, NULL, NULL);
    pvmi_buf_free(&body);
}

static int manager_is(const struct pvmd_question *q, struct pvmi_buf *body)
{
    pvmi_tid tid = pvmi_buf_get_u32(body);
    int rc = pvmi_buf_end(body);
    if (!rc && q->host_index == pvmd.master_index)
        set_manager(tid);
    return rc;
}

/* Only a manager that is there no longer, or that hands the duty over, makes room for another one. */
static int manager_question(const struct pvmd_question *q, struct pvmi_buf *body)
{
    pvmi_tid old = pvmi_buf_get_u32(body), new = pvmi_buf_get_u32(body);
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    if (manager && manager != old && manager != new) {
        pvmd_answer(q, PvmAlready, NULL);
        return 0;
    }
    if (manager == old || new)
        set_manager(new);
    struct pvmi_buf news;
    pvmi_buf_init(&news);
    pvmi_buf_put_u32(&news, manager);
    pvmd_ask_all(PVMD_DM_MANAGER_IS, &news, NULL, NULL, NULL);
    pvmi_buf_free(&news);
    pvmd_answer(q, PvmOk, NULL);
    return 0;
}

void pvmd_manager_change(pvmi_tid old, pvmi_tid new, pvmd_answered *answered, void *arg)
{
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, old);
    pvmi_buf_put_u32(&body, new);
    pvmd_ask(pvmd.master_index, PVMD_DM_MANAGER, &body, answered, arg);
    pvmi_buf_free(&body);
}

/* ---- registration ---- */

static void registered(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    (void)host_index, (void)body;
    struct pvmd_request *r = arg;
    struct pvmd_task *task = pvmd_task_by_tid(r->tid);
    if (!code && task && manager != task->tid)
        set_manager(task->tid); /* the master's news may come after its answer */
    pvmd_request_answer(r, code == PvmHostFail ? PvmDSysErr : code, NULL);
    free(r);
}

static void given_up(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    (void)host_index, (void)body;
    pvmd_request_answer(arg, code == PvmHostFail ? PvmDSysErr : code, NULL);
    free(arg);
}

void pvmd_manager_register(const struct pvmd_request *r, bool on)
{
    struct pvmd_request *copy = malloc(sizeof *copy);
    if (!copy) {
        pvmd_request_answer(r, PvmNoMem, NULL);
        return;
    }
    *copy = *r;
    pvmd_manager_change(on ? 0 : r->tid, on ? r->tid : 0, on ? registered : given_up, copy);
}

void pvmd_manager_ended(pvmi_tid tid)
{
    pvmd_manager_change(tid, 0, NULL, NULL);
}

/* ---- what it hears ---- */

void pvmd_manager_task_enrolled(struct pvmd_task *task, bool spawned)
{
    task->managed = manager;
    if (!manager || spawned)
        return;
    struct pvmi_message *m = pvmd_service_new(SM_EXECACK, 0);
    pvmd_service_put_int(&m, 1);
    pvmd_service_put_int(&m, (int)task->tid);
    pvmd_service_send(m, manager);
}

void pvmd_manager_task_ended(const struct pvmd_task *task)
{
    if (!manager || task->tid == manager)
        return;
    struct pvmi_message *m = pvmd_service_new(SM_TASKX, 0);
    pvmd_service_put_int(&m, (int)task->tid);
    pvmd_service_put_int(&m, task->status);
    for (unsigned i = 0; i < sizeof task->times / sizeof *task->times; i++)
        pvmd_service_put_int(&m, task->times[i]);
    pvmd_service_send(m, manager);
}

void pvmd_manager_host_joined(const struct pvmd_host *host)
{
    if (manager && pvmd_is_master() && host->index != pvmd.host_index)
        tell_host(host->index);
}

/* From its own daemon only. */
void pvmd_manager_host_left(unsigned index)
{
    if (!manager || pvmi_tid_host(manager) != pvmd_host_tid())
        return;
    struct pvmi_message *m = pvmd_service_new(SM_HOSTX, 0);
    pvmd_service_put_int(&m, (int)pvmi_tid_of_host_index(index));
    pvmd_service_send(m, manager);
}

void pvmd_manager_start(void)
{
    pvmd_dm_handle(PVMD_DM_MANAGER, manager_question);
    pvmd_dm_handle(PVMD_DM_MANAGER_IS, manager_is);
    pvmd_manager_orders_start();
}

void pvmd_manager_stop(void)
{
    watch = NULL; /* watch.c frees it */
    manager = 0;
    pvmd_manager_orders_stop();
}
