/* info.c - requests that need one host's answer at most; TM_TASKS asks all and is in task_list.c. */
#include "info.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "daemon.h"
#include "hoster.h"
#include "hosts.h"
#include "manager.h"
#include "output.h"
#include "rpc.h"
#include "tasker.h"
#include "tasks.h"
#include "trace.h"
#include "virtual.h"

/* ---- hosts ---- */

static int config_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    size_t count;
    struct pvmd_host **hosts = pvmd_host_list(&count);
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        pvmi_buf_put_u32(&b, pvmi_tid_of_host_index(hosts[i]->index));
        pvmi_buf_put_string(&b, hosts[i]->name);
        pvmi_buf_put_string(&b, hosts[i]->arch);
        pvmi_buf_put_i32(&b, hosts[i]->speed);
        pvmi_buf_put_u32(&b, hosts[i]->dsig);
    }
    pvmd_request_answer(r, PvmOk, &b);
    pvmi_buf_free(&b);
    return 0;
}

static int mstat_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    char *name = pvmi_buf_get_string(body);
    int rc = pvmi_buf_end(body);
    if (!rc)
        pvmd_request_answer(r, !*name ? PvmBadParam : pvmd_host_by_name(name) ? PvmOk : PvmNoHost, NULL);
    free(name);
    return rc;
}

/* ---- questions passed on to one host ---- */

/* A request that waits for a host's answer; `otherwise` is what the task hears when that host is no member. */
struct passed {
    struct pvmd_request request;
    int otherwise;
};

static void passed_answered(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    (void)host_index;
    struct passed *p = arg;
    if (code == PvmHostFail)
        pvmd_request_answer(&p->request, p->otherwise, NULL);
    else {
        size_t length = pvmi_buf_left(body);
        struct pvmi_buf rest;
        pvmi_buf_view(&rest, pvmi_buf_get_bytes(body, length), length);
        pvmd_request_answer(&p->request, code, &rest);
    }
    free(p);
}

static int pass_on(const struct pvmd_request *r, pvmi_tid to, enum pvmd_dm what, const struct pvmi_buf *body,
                   int otherwise)
{
    struct passed *p = malloc(sizeof *p);
    if (!p)
        return PVMI_ENOMEM;
    *p = (struct passed){*r, otherwise};
    pvmd_ask(pvmi_tid_host_index(to), what, body, passed_answered, p);
    return 0;
}

/* ---- the state of a task ---- */

static int pstat_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    struct pvmi_buf question = *body;
    pvmi_tid tid = pvmi_buf_get_u32(body);
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    if (!tid || tid & (PVMI_TID_DAEMON | PVMI_TID_MULTICAST) || !(tid & PVMI_TID_LOCAL_MASK)) {
        pvmd_request_answer(r, PvmBadParam, NULL);
        return 0;
    }
    return pass_on(r, tid, PVMD_DM_PSTAT, &question, PvmNoTask);
}

static int pstat_question(const struct pvmd_question *q, struct pvmi_buf *body)
{
    pvmi_tid tid = pvmi_buf_get_u32(body);
    int rc = pvmi_buf_end(body);
    if (!rc)
        pvmd_answer(q, pvmd_task_by_tid(tid) ? PvmOk : PvmNoTask, NULL);
    return rc;
}

/* ---- signals ---- */

static int sendsig_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    struct pvmi_buf question = *body;
    pvmi_tid tid = pvmi_buf_get_u32(body);
    pvmi_buf_get_i32(body);
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    if (!tid || tid & (PVMI_TID_DAEMON | PVMI_TID_MULTICAST) || !(tid & PVMI_TID_LOCAL_MASK)) {
        pvmd_request_answer(r, PvmBadParam, NULL);
        return 0;
    }
    return pass_on(r, tid, PVMD_DM_SENDSIG, &question, PvmOk);
}

/* As with PVM, a task that is gone already is no error, and neither is a signal that does not exist. */
static int sendsig_question(const struct pvmd_question *q, struct pvmi_buf *body)
{
    pvmi_tid tid = pvmi_buf_get_u32(body);
    int number = pvmi_buf_get_i32(body);
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    struct pvmd_task *task = pvmd_task_by_tid(tid);
    pvmd_answer(q, PvmOk, NULL);
    if (task && task->pid > 0 && (number == SIGTERM || number == SIGKILL))
        pvmd_virtual_killed(task->pid);
    if (task && task->pid > 0)
        kill(task->pid, number);
    else if (task && task->tasker && (number == SIGTERM || number == SIGKILL))
        pvmd_task_end(task); /* its tasker may never start it */
    return 0;
}

/* ---- clocks ---- */

static int hostsync_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    pvmi_tid host = pvmi_buf_get_u32(body);
    int rc = pvmi_buf_end(body);
    return rc ? rc : pass_on(r, host, PVMD_DM_HOSTSYNC, NULL, PvmNoHost);
}

static int hostsync_question(const struct pvmd_question *q, struct pvmi_buf *body)
{
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    struct timeval now;
    struct pvmi_buf b;
    gettimeofday(&now, NULL);
    pvmi_buf_init(&b);
    pvmi_buf_put_u64(&b, (uint64_t)now.tv_sec);
    pvmi_buf_put_u32(&b, (uint32_t)now.tv_usec);
    pvmd_answer(q, PvmOk, &b);
    pvmi_buf_free(&b);
    return 0;
}

/* ---- options ---- */

/* Where one option's value is kept; NULL for those that the daemon need not know. */
static int32_t *option_place(struct pvmd_task *task, int what)
{
    switch (what) {
    case PvmSelfOutputTid:
        return (int32_t *)&task->output.tid;
    case PvmSelfOutputContext:
        return (int32_t *)&task->output.ctx;
    case PvmSelfOutputCode:
        return &task->output.tag;
    case PvmSelfTraceTid:
        return (int32_t *)&task->trace.tid;
    case PvmSelfTraceContext:
        return (int32_t *)&task->trace.ctx;
    case PvmSelfTraceCode:
        return &task->trace.tag;
    default:
        return NULL;
    }
}

static void set_option(struct pvmd_task *task, int what, int32_t value)
{
    int32_t *place = option_place(task, what);
    if (!place)
        return;
    *place = value;
    pvmd_output_redirect(task->tid, &task->output);
    if (what == PvmSelfOutputTid)
        pvmd_output_shell_begins(task);
    if (what == PvmSelfTraceTid)
        pvmd_trace_new(task);
}

static int setopt_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    int what = pvmi_buf_get_i32(body);
    int32_t value = pvmi_buf_get_i32(body);
    int rc = pvmi_buf_end(body);
    if (rc)
        return rc;
    set_option(pvmd_task_by_tid(r->tid), what, value);
    pvmd_request_answer(r, PvmOk, NULL);
    return 0;
}

/* ---- roles ---- */

static unsigned role_flag(uint8_t role)
{
    static const unsigned flags[] = {[PVMI_ROLE_RM] = PVMD_TASK_RM,
                                     [PVMI_ROLE_HOSTER] = PVMD_TASK_HOSTER,
                                     [PVMI_ROLE_TASKER] = PVMD_TASK_TASKER,
                                     [PVMI_ROLE_TRACER] = PVMD_TASK_TRACER};
    return role < sizeof flags / sizeof flags[0] ? flags[role] : 0;
}

static bool is_taken(unsigned flag, pvmi_tid by_other_than)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->flags & flag && task->tid != by_other_than)
            return true;
    return false;
}

/* Who does what for this daemon. */
static void set_duty(const struct pvmd_task *task, unsigned flag, pvmi_tid tid)
{
    if (flag == PVMD_TASK_TASKER && (tid || pvmd_tasker() == task->tid))
        pvmd_tasker_set(tid);
    if (flag == PVMD_TASK_HOSTER && (tid || pvmd_hoster() == task->tid))
        pvmd_hoster_set(tid);
}

/* One task of this host has each role; that there is one tracer of the machine is seen to by the mailbox. */
static int take_role(struct pvmd_task *task, unsigned flag, bool on)
{
    if (!on) {
        task->flags &= ~flag;
        set_duty(task, flag, 0);
        return PvmOk;
    }
    if (flag == PVMD_TASK_HOSTER && !pvmd_is_master())
        return PvmHostrNMstr;
    if (is_taken(flag, task->tid))
        return PvmAlready;
    task->flags |= flag;
    set_duty(task, flag, task->tid);
    return PvmOk;
}

static int register_request(const struct pvmd_request *r, struct pvmi_buf *body)
{
    unsigned flag = role_flag(pvmi_buf_get_u8(body));
    bool on = pvmi_buf_get_u8(body);
    int rc = pvmi_buf_end(body);
    if (rc || !flag)
        return rc ? rc : PVMI_EFORMAT;
    if (flag == PVMD_TASK_RM)
        pvmd_manager_register(r, on);
    else
        pvmd_request_answer(r, take_role(pvmd_task_by_tid(r->tid), flag, on), NULL);
    return 0;
}

void pvmd_info_start(void)
{
    pvmd_tm_handle(PVMI_TM_CONFIG, config_request);
    pvmd_tm_handle(PVMI_TM_MSTAT, mstat_request);
    pvmd_tm_handle(PVMI_TM_PSTAT, pstat_request);
    pvmd_tm_handle(PVMI_TM_SENDSIG, sendsig_request);
    pvmd_tm_handle(PVMI_TM_HOSTSYNC, hostsync_request);
    pvmd_tm_handle(PVMI_TM_SETOPT, setopt_request);
    pvmd_tm_handle(PVMI_TM_REGISTER, register_request);
    pvmd_dm_handle(PVMD_DM_PSTAT, pstat_question);
    pvmd_dm_handle(PVMD_DM_SENDSIG, sendsig_question);
    pvmd_dm_handle(PVMD_DM_HOSTSYNC, hostsync_question);
}
