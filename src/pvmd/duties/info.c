/* info.c - requests that at most one host answers; TM_TASKS asks all and is in task_list.c. */
#include "info.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "dpvm.h"
#include "pvmd/base/self.h"
#include "pvmd/launch/hoster.h"
#include "pvmd/base/hosts.h"
#include "manager.h"
#include "pvmd/spawn/output.h"
#include "pvmd/net/rpc.h"
#include "pvmd/spawn/tasker.h"
#include "pvmd/tasks/tasks.h"
#include "pvmd/tasks/trace.h"
#include "virtual_time.h"

/* ---- hosts ---- */

static int config_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    size_t count;
    struct pvmd_host **hosts = pvmd_host_list(&count);
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        pvmc_buf_put_u32(&b, pvmc_tid_of_host_index(hosts[i]->index));
        pvmc_buf_put_string(&b, hosts[i]->name);
        pvmc_buf_put_string(&b, hosts[i]->arch);
        pvmc_buf_put_i32(&b, hosts[i]->speed);
        pvmc_buf_put_u32(&b, hosts[i]->dsig);
    }
    pvmd_request_answer(r, PvmOk, &b);
    pvmc_buf_free(&b);
    return 0;
}

static int mstat_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    char *name = pvmc_buf_get_string(body);
    int rc = pvmc_buf_end(body);
    if (!rc)
        pvmd_request_answer(r, !*name ? PvmBadParam : pvmd_host_by_name(name) ? PvmOk : PvmNoHost, NULL);
    free(name);
    return rc;
}

static int slots_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    pvmc_tid where = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    size_t count;
    struct pvmd_host **hosts = pvmd_host_list(&count);
    int64_t slots = where ? PvmNoHost : 0; /* 4095 hosts with PVMD_SLOTS_MAX each fit in an int */
    for (size_t i = 0; i < count; i++)
        if (!where)
            slots += hosts[i]->slots;
        else if (pvmc_tid_of_host_index(hosts[i]->index) == where)
            slots = hosts[i]->slots;
    pvmd_request_answer(r, (int)slots, NULL);
    return 0;
}

/* ---- questions passed on to one host ---- */

/* A request that waits for a host's answer; `otherwise` is the code for the task if that host is no member. */
struct passed {
    struct pvmd_request request;
    int otherwise;
};

static void passed_answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)host_index;
    struct passed *p = arg;
    if (code == PvmHostFail)
        pvmd_request_answer(&p->request, p->otherwise, NULL);
    else {
        size_t length = pvmc_buf_left(body);
        struct pvmc_buf rest;
        pvmc_buf_view(&rest, pvmc_buf_get_bytes(body, length), length);
        pvmd_request_answer(&p->request, code, &rest);
    }
    free(p);
}

static int pass_on(const struct pvmd_request *r, pvmc_tid to, enum pvmd_dm what, const struct pvmc_buf *body,
                   int otherwise)
{
    struct passed *p = malloc(sizeof *p);
    if (!p)
        return PVMC_ENOMEM;
    *p = (struct passed){*r, otherwise};
    pvmd_ask(pvmc_tid_host_index(to), what, body, passed_answered, p);
    return 0;
}

/* ---- the state of a task ---- */

static int pstat_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    struct pvmc_buf question = *body;
    pvmc_tid tid = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    if (!tid || tid & (PVMC_TID_DAEMON | PVMC_TID_MULTICAST) || !(tid & PVMC_TID_LOCAL_MASK)) {
        pvmd_request_answer(r, PvmBadParam, NULL);
        return 0;
    }
    return pass_on(r, tid, PVMD_DM_PSTAT, &question, PvmNoTask);
}

static int pstat_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    pvmc_tid tid = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    if (!rc)
        pvmd_answer(q, pvmd_task_by_tid(tid) ? PvmOk : PvmNoTask, NULL);
    return rc;
}

/* ---- signals ---- */

static int sendsig_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    struct pvmc_buf question = *body;
    pvmc_tid tid = pvmc_buf_get_u32(body);
    pvmc_buf_get_i32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    if (!tid || tid & (PVMC_TID_DAEMON | PVMC_TID_MULTICAST) || !(tid & PVMC_TID_LOCAL_MASK)) {
        pvmd_request_answer(r, PvmBadParam, NULL);
        return 0;
    }
    return pass_on(r, tid, PVMD_DM_SENDSIG, &question, PvmOk);
}

/* Whether its process was started as the leader of a process group. */
static bool leads_group(const struct pvmd_task *task)
{
    return task->running && task->spawn_flags > 0 && task->spawn_flags & PvmTaskStreams;
}

/* A process that has left its group gets the signal alone. */
static void signal_process(const struct pvmd_task *task, int number)
{
    if (!leads_group(task) || kill(-task->pid, number))
        kill(task->pid, number);
}

/* As in PVM, neither a task that has ended nor an unknown signal is an error. */
static int sendsig_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    pvmc_tid tid = pvmc_buf_get_u32(body);
    int number = pvmc_buf_get_i32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    struct pvmd_task *task = pvmd_task_by_tid(tid);
    pvmd_answer(q, PvmOk, NULL);
    if (task && task->pid > 0 && (number == SIGTERM || number == SIGKILL))
        pvmd_virtual_time_killed(task->pid);
    if (task && task->pid > 0)
        signal_process(task, number);
    else if (task && task->tasker && !task->ep && (number == SIGTERM || number == SIGKILL))
        pvmd_task_end(task); /* it may never be started by its tasker */
    return 0;
}

/* ---- input ---- */

static int input_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    size_t length;
    struct pvmc_buf question = *body;
    pvmc_tid tid = pvmc_buf_get_u32(body);
    pvmc_buf_get_blob(body, &length);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    if (!pvmc_tid_is_task(tid)) {
        pvmd_request_answer(r, PvmBadParam, NULL);
        return 0;
    }
    return pass_on(r, tid, PVMD_DM_INPUT, &question, PvmNoTask);
}

/* ---- clocks ---- */

static int hostsync_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    pvmc_tid host = pvmc_buf_get_u32(body);
    int rc = pvmc_buf_end(body);
    return rc ? rc : pass_on(r, host, PVMD_DM_HOSTSYNC, NULL, PvmNoHost);
}

static int hostsync_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    struct timeval now;
    struct pvmc_buf b;
    gettimeofday(&now, NULL);
    pvmc_buf_init(&b);
    pvmc_buf_put_u64(&b, (uint64_t)now.tv_sec);
    pvmc_buf_put_u32(&b, (uint32_t)now.tv_usec);
    pvmd_answer(q, PvmOk, &b);
    pvmc_buf_free(&b);
    return 0;
}

/* ---- options ---- */

/* The place of an option's value; NULL if the daemon need not know it. */
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

static int setopt_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    int what = pvmc_buf_get_i32(body);
    int32_t value = pvmc_buf_get_i32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    set_option(pvmd_task_by_tid(r->tid), what, value);
    pvmd_request_answer(r, PvmOk, NULL);
    return 0;
}

/* ---- roles ---- */

static unsigned role_flag(uint8_t role)
{
    static const unsigned flags[] = {[PVMC_ROLE_RM] = PVMD_TASK_RM,
                                     [PVMC_ROLE_HOSTER] = PVMD_TASK_HOSTER,
                                     [PVMC_ROLE_TASKER] = PVMD_TASK_TASKER,
                                     [PVMC_ROLE_TRACER] = PVMD_TASK_TRACER};
    return role < sizeof flags / sizeof flags[0] ? flags[role] : 0;
}

static bool is_taken(unsigned flag, pvmc_tid by_other_than)
{
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        if (task->flags & flag && task->tid != by_other_than)
            return true;
    return false;
}

/* The tasks that do a duty for this daemon. */
static void set_duty(const struct pvmd_task *task, unsigned flag, pvmc_tid tid)
{
    if (flag == PVMD_TASK_TASKER && (tid || pvmd_tasker() == task->tid))
        pvmd_tasker_set(tid);
    if (flag == PVMD_TASK_HOSTER && (tid || pvmd_hoster() == task->tid))
        pvmd_hoster_set(tid);
}

/* One task of this host has each role. The mailbox ensures that the machine has one tracer. */
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

static int register_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    unsigned flag = role_flag(pvmc_buf_get_u8(body));
    bool on = pvmc_buf_get_u8(body);
    int rc = pvmc_buf_end(body);
    if (rc || !flag)
        return rc ? rc : PVMC_EFORMAT;
    if (flag == PVMD_TASK_RM)
        pvmd_manager_register(r, on);
    else
        pvmd_request_answer(r, take_role(pvmd_task_by_tid(r->tid), flag, on), NULL);
    return 0;
}

void pvmd_info_start(void)
{
    pvmd_tm_handle(PVMC_TM_CONFIG, config_request);
    pvmd_tm_handle(PVMC_TM_MSTAT, mstat_request);
    pvmd_tm_handle(PVMC_TM_SLOTS, slots_request);
    pvmd_tm_handle(PVMC_TM_PSTAT, pstat_request);
    pvmd_tm_handle(PVMC_TM_SENDSIG, sendsig_request);
    pvmd_tm_handle(PVMC_TM_INPUT, input_request);
    pvmd_tm_handle(PVMC_TM_HOSTSYNC, hostsync_request);
    pvmd_tm_handle(PVMC_TM_SETOPT, setopt_request);
    pvmd_tm_handle(PVMC_TM_REGISTER, register_request);
    pvmd_dm_handle(PVMD_DM_PSTAT, pstat_question);
    pvmd_dm_handle(PVMD_DM_SENDSIG, sendsig_question);
    pvmd_dm_handle(PVMD_DM_HOSTSYNC, hostsync_question);
}
