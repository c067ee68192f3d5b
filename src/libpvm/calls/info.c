/* info.c - questions about the machine: its hosts, tasks and clocks. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/message/proto.h"
#include "core/message/tid.h"
#include "dpvm.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/lock.h"
#include "libpvm/engine/link.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "enrol.h"

/* ---- pvm_config, pvm_archcode ---- */

struct host_list {
    struct pvmhostinfo *hosts;
    int count;
};

static _Thread_local struct host_list shown_hosts; /* what the last pvm_config() returned */

static void free_hosts(struct host_list *l)
{
    for (int i = 0; i < l->count; i++) {
        free(l->hosts[i].hi_name);
        free(l->hosts[i].hi_arch);
    }
    free(l->hosts);
    *l = (struct host_list){0};
}

__attribute__((destructor)) static void free_shown_hosts(void)
{
    free_hosts(&shown_hosts);
}

static int read_hosts(struct pvmc_buf *b, void *arg)
{
    struct host_list *l = arg;
    uint32_t n = pvmc_buf_get_u32(b);
    if (n > PVMC_HOST_INDEX_MAX)
        return PVMC_EFORMAT;
    l->hosts = calloc(n ? n : 1, sizeof *l->hosts);
    if (!l->hosts)
        return PVMC_ENOMEM;
    for (l->count = 0; l->count < (int)n && !pvmc_buf_error(b); l->count++) {
        struct pvmhostinfo *h = &l->hosts[l->count];
        h->hi_tid = pvmc_buf_get_i32(b);
        h->hi_name = pvmc_buf_get_string(b);
        h->hi_arch = pvmc_buf_get_string(b);
        h->hi_speed = pvmc_buf_get_i32(b);
        h->hi_dsig = pvmc_buf_get_i32(b);
    }
    return pvmc_buf_error(b) ? PVMC_EFORMAT : 0;
}

static int ask_hosts(struct host_list *l)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    rc = pvmi_request_read(PVMC_TM_CONFIG, NULL, read_hosts, l);
    if (rc)
        free_hosts(l);
    return rc;
}

/* The number of data formats among the hosts. */
static int count_formats(const struct host_list *l)
{
    int formats = 0;
    for (int i = 0; i < l->count; i++) {
        int j = 0;
        while (j < i && l->hosts[j].hi_dsig != l->hosts[i].hi_dsig)
            j++;
        formats += j == i;
    }
    return formats;
}

static int show_hosts(int *nhost, int *narch, struct pvmhostinfo **hosts)
{
    struct host_list l = {0};
    int rc = ask_hosts(&l);
    if (rc)
        return rc;
    free_hosts(&shown_hosts);
    shown_hosts = l;
    pvmi_lock_at_thread_end(free_shown_hosts);
    if (nhost)
        *nhost = l.count;
    if (narch)
        *narch = count_formats(&l);
    if (hosts)
        *hosts = l.hosts;
    return 0;
}

int pvm_config(int *nhost, int *narch, struct pvmhostinfo **hosts)
{
    PVMI_BEGIN(TEV_CONFIG);
    int rc = pvmi_return("pvm_config", show_hosts(nhost, narch, hosts));
    PVMI_END(TEV_CONFIG, PVMI_INT(NH, rc ? 0 : shown_hosts.count), PVMI_INT(NA, rc ? 0 : count_formats(&shown_hosts)),
             PVMI_INT(CC, rc));
    return rc;
}

static int format_of(const char *arch)
{
    struct host_list l = {0};
    if (!arch)
        return PVMC_EPARAM;
    int rc = ask_hosts(&l);
    if (rc)
        return rc;
    rc = PVMC_ENOTFOUND;
    for (int i = 0; i < l.count; i++)
        if (!strcmp(l.hosts[i].hi_arch, arch))
            rc = l.hosts[i].hi_dsig;
    free_hosts(&l);
    return rc;
}

int pvm_archcode(char *arch)
{
    PVMI_BEGIN(TEV_ARCHCODE, PVMI_STRING(AN, arch));
    int rc = pvmi_return("pvm_archcode", format_of(arch));
    PVMI_END(TEV_ARCHCODE, PVMI_INT(AC, rc));
    return rc;
}

/* ---- pvm_tasks, pvm_pstat ---- */

struct task_list {
    struct pvmtaskinfo *tasks;
    int count;
};

static _Thread_local struct task_list shown_tasks; /* what the last pvm_tasks() returned */

static void free_tasks(struct task_list *l)
{
    for (int i = 0; i < l->count; i++)
        free(l->tasks[i].ti_a_out);
    free(l->tasks);
    *l = (struct task_list){0};
}

__attribute__((destructor)) static void free_shown_tasks(void)
{
    free_tasks(&shown_tasks);
}

static int read_tasks(struct pvmc_buf *b, void *arg)
{
    struct task_list *l = arg;
    uint32_t n = pvmc_buf_get_u32(b);
    if (n > pvmc_buf_left(b) / 24)
        return PVMC_EFORMAT;
    l->tasks = calloc(n ? n : 1, sizeof *l->tasks);
    if (!l->tasks)
        return PVMC_ENOMEM;
    for (l->count = 0; l->count < (int)n && !pvmc_buf_error(b); l->count++) {
        struct pvmtaskinfo *t = &l->tasks[l->count];
        t->ti_tid = pvmc_buf_get_i32(b);
        t->ti_ptid = pvmc_buf_get_i32(b);
        t->ti_host = pvmc_buf_get_i32(b);
        t->ti_flag = pvmc_buf_get_i32(b);
        t->ti_a_out = pvmc_buf_get_string(b);
        t->ti_pid = pvmc_buf_get_i32(b);
    }
    return pvmc_buf_error(b) ? PVMC_EFORMAT : 0;
}

static int ask_tasks(int where, struct task_list *l)
{
    struct pvmc_buf body;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, (uint32_t)where);
    rc = pvmi_request_read(PVMC_TM_TASKS, &body, read_tasks, l);
    if (rc)
        free_tasks(l);
    return rc;
}

static int show_tasks(int where, int *ntask, struct pvmtaskinfo **tasks)
{
    struct task_list l = {0};
    int rc = ask_tasks(where, &l);
    if (rc)
        return rc;
    free_tasks(&shown_tasks);
    shown_tasks = l;
    pvmi_lock_at_thread_end(free_shown_tasks);
    if (ntask)
        *ntask = l.count;
    if (tasks)
        *tasks = l.tasks;
    return 0;
}

int pvm_tasks(int where, int *ntask, struct pvmtaskinfo **tasks)
{
    PVMI_BEGIN(TEV_TASKS, PVMI_INT(TW, where));
    int rc = pvmi_return("pvm_tasks", show_tasks(where, ntask, tasks));
    PVMI_END(TEV_TASKS, PVMI_INT(CC, rc), PVMI_INT(TNT, rc ? 0 : shown_tasks.count));
    return rc;
}

/* Asks the daemon about a task or host. */
static int ask_about(int tag, int tid)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, (uint32_t)tid);
    return pvmi_request(tag, &body, NULL);
}

static int ask_task_state(int tid)
{
    return pvmi_tid_names_task((pvmc_tid)tid) ? ask_about((int)PVMC_TM_PSTAT, tid) : PVMC_EPARAM;
}

int pvm_pstat(int tid)
{
    PVMI_BEGIN(TEV_PSTAT, PVMI_INT(TT, tid));
    int rc = pvmi_return_answer("pvm_pstat", ask_task_state(tid));
    PVMI_END(TEV_PSTAT, PVMI_INT(TST, rc));
    return rc;
}

/* ---- hosts ---- */

static int ask_host_state(const char *host)
{
    if (!host || !*host)
        return PVMC_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_string(&body, host);
    return pvmi_request(PVMC_TM_MSTAT, &body, NULL);
}

int pvm_mstat(char *host)
{
    PVMI_BEGIN(TEV_MSTAT, PVMI_STRING(HN, host));
    int rc = pvmi_return_answer("pvm_mstat", ask_host_state(host));
    PVMI_END(TEV_MSTAT, PVMI_INT(HS, rc));
    return rc;
}

int pvm_tidtohost(int tid)
{
    PVMI_BEGIN(TEV_TIDTOHOST, PVMI_INT(TID, tid));
    int rc = (int)pvmc_tid_host((pvmc_tid)tid);
    PVMI_END(TEV_TIDTOHOST, PVMI_INT(HPT, rc));
    return rc;
}

int pvm_hostslots(int host)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_hostslots", host < 0 ? PVMC_EPARAM : ask_about((int)PVMC_TM_SLOTS, host));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

static int64_t wall_clock_us(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * 1000000 + now.tv_usec;
}

/* As PVM defines it: microseconds are 0..999999, the seconds carry the sign. */
static struct timeval to_timeval(int64_t us)
{
    int64_t seconds = us / 1000000, rest = us % 1000000;
    if (rest < 0) {
        rest += 1000000;
        seconds--;
    }
    return (struct timeval){.tv_sec = seconds, .tv_usec = rest};
}

#define CLOCK_MAX_S ((uint64_t)1 << 40) /* no clock is later */

/* Reads the host's clock, in microseconds. */
static int ask_clock(int host, int64_t *clock_us)
{
    struct pvmc_buf body;
    struct pvmi_answer answer;
    uint64_t seconds = 0;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, (uint32_t)host);
    int rc = pvmi_request(PVMC_TM_HOSTSYNC, &body, &answer);
    if (rc >= 0) {
        seconds = pvmc_buf_get_u64(&answer.body);
        *clock_us = (int64_t)(seconds % CLOCK_MAX_S) * 1000000 + pvmc_buf_get_u32(&answer.body);
    }
    int end = pvmi_answer_end(&answer);
    if (rc < 0)
        return rc;
    return seconds < CLOCK_MAX_S ? end : PVMC_EFORMAT;
}

static int sample_clock(int host, struct timeval *clock, struct timeval *delta)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    int64_t before = wall_clock_us(), there = before, difference = 0;
    if (pvmc_tid_host((pvmc_tid)host) != pvmc_tid_host(pvmi_task.tid)) { /* our own host has the same clock */
        rc = ask_clock(host, &there);
        if (rc)
            return rc;
        difference = before + (wall_clock_us() - before) / 2 - there;
    }
    *clock = to_timeval(there);
    *delta = to_timeval(difference);
    return 0;
}

int pvm_hostsync(int host, struct timeval *clock, struct timeval *delta)
{
    struct timeval there = {0}, difference = {0};
    PVMI_BEGIN(TEV_HOSTSYNC, PVMI_INT(HPT, host));
    int rc = pvmi_return("pvm_hostsync", sample_clock(host, &there, &difference));
    PVMI_END(TEV_HOSTSYNC, PVMI_INT(CC, rc), PVMI_INT(HCS, (int)there.tv_sec), PVMI_INT(HCU, (int)there.tv_usec),
             PVMI_INT(HDS, (int)difference.tv_sec), PVMI_INT(HDU, (int)difference.tv_usec));
    if (!rc && clock)
        *clock = there;
    if (!rc && delta)
        *delta = difference;
    return rc;
}

/* ---- pvm_tickle ---- */

#define TICKLE_MAX 10 /* old programs reserve room for as many numbers */

static int tickle(int narg, const int *argp, int *nresp, int *resp)
{
    if (narg < 1 || narg > TICKLE_MAX || !argp)
        return PVMC_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    struct pvmi_answer answer;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, (uint32_t)narg);
    for (int i = 0; i < narg; i++)
        pvmc_buf_put_i32(&body, argp[i]);
    rc = pvmi_request(PVMC_TM_TICKLE, &body, &answer);
    int n = rc < 0 ? 0 : (int)pvmc_buf_get_u32(&answer.body), kept = 0;
    for (int i = 0; i < n && !pvmc_buf_error(&answer.body); i++) {
        int value = pvmc_buf_get_i32(&answer.body);
        if (resp && kept < TICKLE_MAX)
            resp[kept++] = value;
    }
    if (nresp)
        *nresp = kept;
    int end = pvmi_answer_end(&answer);
    return rc < 0 ? rc : end;
}

int pvm_tickle(int narg, int *argp, int *nresp, int *resp)
{
    int answers[TICKLE_MAX], n = 0;
    PVMI_BEGIN(TEV_TICKLE, PVMI_INTS(TA, argp, argp && narg > 0 && narg <= TICKLE_MAX ? narg : 0));
    int rc = pvmi_return("pvm_tickle", tickle(narg, argp, &n, answers));
    PVMI_END(TEV_TICKLE, PVMI_INT(CC, rc), PVMI_INTS(TR, answers, n));
    if (nresp)
        *nresp = n;
    if (resp && n)
        memcpy(resp, answers, n * sizeof *resp);
    return rc;
}
