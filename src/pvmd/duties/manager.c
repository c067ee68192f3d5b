/* manager.c - see manager.h. The manager's orders to daemons are in manager_orders.c. */
#include "manager.h"
#include <stdlib.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "manager_orders.h"
#include "pvmproto.h"
#include "pvmd/quorum/petition.h"
#include "pvmd/tasks/service.h"
#include "pvmd/tasks/watch.h"

static struct pvmd_watch *watch;

/* ---- which task it is ---- */

static void tell_task(struct pvmd_task *task)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, pvmd.manager);
    pvmd_task_tell(task, PVMC_CTX_TC, (int32_t)PVMC_TC_MANAGER, 0, &body);
    pvmc_buf_free(&body);
    task->managed = pvmd.manager && task->tid != pvmd.manager;
}

/* Tasks that ask a manager now ask the new one, or their daemon. All others still ask their daemon. */
static void tell_tasks(void)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->managed)
            tell_task(task);
}

static void set_manager(pvmc_tid tid);

static void manager_ended(void *arg, pvmc_tid tid)
{
    (void)arg;
    watch = NULL; /* freed by watch.c */
    pvmc_log(PVMC_LOG_INFO, "resource manager t%x has ended: tasks ask their daemons again", tid);
    set_manager(0);
}

static void mark(pvmc_tid tid, bool on)
{
    struct pvmd_task *task = pvmd_task_by_tid(tid);
    if (task)
        task->flags = on ? task->flags | PVMD_TASK_RM : task->flags & ~(unsigned)PVMD_TASK_RM;
}

static void set_manager(pvmc_tid tid)
{
    if (tid == pvmd.manager)
        return;
    pvmd_watch_cancel(watch);
    pvmd_service_forget(pvmd.manager);
    mark(pvmd.manager, false);
    pvmd.manager = tid;
    mark(pvmd.manager, true);
    watch = pvmd.manager ? pvmd_watch(pvmd.manager, manager_ended, NULL) : NULL;
    tell_tasks();
}

/* ---- the master decides ---- */

/* The manager can be replaced only if it has ended or hands its duty over. */
static int manager_petition(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    pvmc_tid old = pvmc_buf_get_u32(body), new = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    if (pvmd.manager && pvmd.manager != old && pvmd.manager != new) {
        pvmd_petition_answer(p, PvmAlready, NULL);
        return 0;
    }
    if (pvmd.manager == old || new)
        set_manager(new);
    struct pvmc_buf news;
    pvmc_buf_init(&news);
    pvmc_buf_put_u32(&news, pvmd.manager);
    pvmd_petition_changed(p, PVMD_TABLE_MANAGER, &news, PvmOk, NULL);
    pvmc_buf_free(&news);
    return 0;
}

static int get_manager(struct pvmc_buf *b)
{
    pvmc_tid tid = pvmc_buf_get_u32(b);
    int rc = pvmc_buf_end(b);
    if (!rc)
        set_manager(tid);
    return rc;
}

static void save(void (*piece)(const struct pvmc_buf *part))
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, pvmd.manager);
    piece(&b);
    pvmc_buf_free(&b);
}

static void clear(void)
{
    /* get_manager() replaces it */
}

static const struct pvmd_table table = {.apply = get_manager, .save = save, .clear = clear, .load = get_manager};

void pvmd_manager_change(pvmc_tid old, pvmc_tid new, pvmd_answered *answered, void *arg)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, old);
    pvmc_buf_put_u32(&body, new);
    pvmd_ask_master(PVMD_DM_MANAGER, &body, answered, arg);
    pvmc_buf_free(&body);
}

/* ---- registration ---- */

static void registered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)host_index, (void)body;
    struct pvmd_request *r = arg;
    struct pvmd_task *task = pvmd_task_by_tid(r->tid);
    if (!code && task && pvmd.manager != task->tid)
        set_manager(task->tid); /* the change may come after the answer */
    pvmd_request_answer(r, code == PvmHostFail ? PvmDSysErr : code, NULL);
    free(r);
}

static void given_up(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
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

void pvmd_manager_task_left(const struct pvmd_task *task)
{
    if (task->flags & PVMD_TASK_RM)
        pvmd_manager_change(task->tid, 0, NULL, NULL);
}

/* ---- notices to the manager ---- */

/* The manager learns of a spawned task from its spawner. */
void pvmd_manager_task_enrolled(struct pvmd_task *task)
{
    task->managed = pvmd.manager;
    if (!pvmd.manager || pvmd_task_is_spawned(task))
        return;
    struct pvmc_message *m = pvmd_service_new(SM_EXECACK, 0);
    pvmd_service_put_int(&m, 1);
    pvmd_service_put_int(&m, (int)task->tid);
    pvmd_service_send(m, pvmd.manager);
}

void pvmd_manager_task_ends(const struct pvmd_task *task)
{
    if (!pvmd.manager || task->tid == pvmd.manager)
        return;
    struct pvmc_message *m = pvmd_service_new(SM_TASKX, 0);
    pvmd_service_put_int(&m, (int)task->tid);
    pvmd_service_put_int(&m, task->status);
    for (unsigned i = 0; i < sizeof task->times / sizeof *task->times; i++)
        pvmd_service_put_int(&m, task->times[i]);
    pvmd_service_send(m, pvmd.manager);
}

/* Only the manager's own daemon tells it. */
void pvmd_manager_host_left(unsigned index)
{
    if (!pvmd.manager || pvmc_tid_host(pvmd.manager) != pvmd_host_tid())
        return;
    struct pvmc_message *m = pvmd_service_new(SM_HOSTX, 0);
    pvmd_service_put_int(&m, (int)pvmc_tid_of_host_index(index));
    pvmd_service_send(m, pvmd.manager);
}

void pvmd_manager_start(void)
{
    pvmd_table_register(PVMD_TABLE_MANAGER, &table);
    pvmd_petition_handle(PVMD_DM_MANAGER, manager_petition);
    pvmd_manager_orders_start();
}

void pvmd_manager_stop(void)
{
    watch = NULL; /* watch.c frees it */
    pvmd.manager = 0;
    pvmd_manager_orders_stop();
}
