/* enrol.c - enrolment and leaving, and the identity of this task. */
#include "enrol.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/message/dsig.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "core/version.h"
#include "core/place/address.h"
#include "libpvm/engine/arrivals.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/gauges.h"
#include "libpvm/engine/handler.h"
#include "libpvm/engine/inbox.h"
#include "libpvm/engine/link.h"
#include "libpvm/base/lock.h"
#include "setopt.h"
#include "output.h"
#include "libpvm/engine/peer.h"
#include "libpvm/base/perror.h"
#include "libpvm/base/shadow.h"
#include "libpvm/route/request.h"
#include "libpvm/route/route.h"
#include "libpvm/trace/trace.h"
#include "tracefile.h"
#include "tracer.h"
#include "libpvm/engine/wait.h"
#include "wiring.h"

#define CONNECT_LIMIT_US 30000000 /* limit for the daemon to take the connection and to answer */
#define EXIT_LIMIT_US    30000000

static char *task_name;
static bool context_given;             /* pvmmyctx has been set by the first enrolment or the environment */
static const void *entering, *leaving; /* the thread that enrols, or leaves */
static struct pvmi_leaver *leavers;
static struct {
    int *tids; /* NULL: not known yet */
    int count;
} siblings;

/* ---- enrolment ---- */

static int connect_patiently(const char *path)
{
    int64_t deadline = pvmc_clock_us() + CONNECT_LIMIT_US;
    long pause_ms = 1;
    int rc;
    while ((rc = pvmi_link_open(path)) == PVMC_EAGAIN && pvmc_clock_us() < deadline) {
        nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000}, NULL);
        if (pause_ms < 100)
            pause_ms *= 2;
    }
    return rc;
}

/*
 * Logs why the daemon cannot be reached. A program that continues without a daemon fails in each call, so the same
 * reason is logged once.
 */
static void explain_once(const char *why)
{
    static char said[256];
    if (strncmp(why, said, sizeof said - 1) == 0)
        return;
    pvmc_log(PVMC_LOG_ERROR, "%s", why);
    snprintf(said, sizeof said, "%.*s", (int)sizeof said - 1, why);
}

static int reach_daemon(void)
{
    char path[PVMC_ADDRESS_PATH_BYTES], why[2 * PVMC_ADDRESS_PATH_BYTES + 256];
    int rc = pvmc_address_find(path, why, sizeof why);
    if (!rc) {
        rc = connect_patiently(path);
        if (rc == PVMC_EUNREACHABLE)
            pvmc_address_explain_stale(path, why, sizeof why);
        else if (rc)
            snprintf(why, sizeof why, "cannot connect to the daemon on %s: %s", path, pvmc_error_text(rc));
    }
    if (rc)
        explain_once(why);
    return rc ? PVMC_EDOWN : 0;
}

static void take_context(uint32_t ctx)
{
    if (!context_given)
        pvmmyctx = pvmi_task_first_context = (int)ctx;
    context_given = true;
}

static int take_identity(struct pvmi_answer *answer)
{
    struct pvmc_buf *b = &answer->body;
    pvmc_tid tid = pvmc_buf_get_u32(b);
    int parent = pvmc_buf_get_i32(b);
    uint32_t ctx = pvmc_buf_get_u32(b);
    pvmi_setopt_inherit(b);
    pvmc_tid manager = pvmc_buf_get_u32(b);
    bool spawned = pvmc_buf_get_u8(b);
    int rc = pvmi_answer_end(answer);
    if (rc)
        return rc;
    pvmi_task.tid = tid;
    pvmi_shadow_enrolled(tid);
    pvmi_task.parent = parent;
    pvmi_task.spawned = spawned;
    pvmi_task.manager = manager;
    take_context(ctx);
    return 0;
}

/* Closes gauges_fd. */
static int introduce(int gauges_fd)
{
    struct pvmc_buf body;
    struct pvmi_answer answer;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, PVMC_TASK_PROTOCOL);
    pvmc_buf_put_u32(&body, (uint32_t)getpid());
    pvmc_buf_put_u32(&body, (uint32_t)pvmc_config_integer(PVMC_SETTING_COOKIE));
    pvmc_buf_put_u32(&body, pvmc_dsig_own());
    pvmc_buf_put_string(&body, task_name ? task_name : program_invocation_short_name);
    int rc = pvmi_request_within(PVMC_TM_CONNECT, &body, gauges_fd, &answer, CONNECT_LIMIT_US);
    if (rc == PVMC_ETIMEOUT)
        pvmc_log(
            PVMC_LOG_ERROR,
            "the daemon does not answer: it is stopped, or it is PVM 3.4's own pvmd; halt that with its own console");
    else if (rc == PVMC_EDOWN)
        pvmc_log(PVMC_LOG_ERROR, "the daemon closed the connection: its log says why");
    else if (rc == PvmBadVersion)
        pvmc_log(PVMC_LOG_ERROR,
                 "the running daemon is another version than this library of dpvm %s; halt it and start this one's",
                 pvmc_version);
    if (rc < 0) {
        pvmi_answer_end(&answer);
        return rc;
    }
    return take_identity(&answer);
}

/* pvmi_condition: no thread is enrolling or leaving. */
static bool is_settled(void *arg)
{
    (void)arg;
    return pvmi_task.state != PVMI_TASK_ENTERS && pvmi_task.state != PVMI_TASK_LEAVES;
}

/* Waits while another thread enrols. */
static void wait_for_other_thread(void)
{
    while (pvmi_task.state == PVMI_TASK_ENTERS && entering != pvmi_lock_self())
        pvmi_wait_until(is_settled, NULL, PVMI_WAIT_FOREVER);
}

/* Closes what enrolment has opened. */
static void let_go(void)
{
    pvmi_link_close();
    pvmi_gauges_close();
    pvmi_task = (struct pvmi_task){.state = PVMI_TASK_OUT};
}

int pvmi_enrol(void)
{
    wait_for_other_thread();
    if (pvmi_task.state != PVMI_TASK_OUT)
        return pvmi_task.state == PVMI_TASK_IN ? 0 : PVMC_EDOWN;
    pvmi_task.state = PVMI_TASK_ENTERS;
    entering = pvmi_lock_self();
    pvmi_wiring_install();
    int gauges_fd = pvmi_gauges_open(), rc = pvmi_route_start();
    if (!rc)
        rc = reach_daemon();
    if (!rc)
        rc = introduce(gauges_fd);
    else if (gauges_fd >= 0)
        close(gauges_fd);
    if (rc) {
        let_go();
        return rc;
    }
    pvmi_task.state = PVMI_TASK_IN;
    pvmi_route_enrolled(true);
    unsetenv("PVMEPID"); /* it was meant for this process, not for programs that it starts */
    if (!pvmi_task.spawned)
        pvmc_config_warn_unknown(); /* a spawned task has the daemon's environment, about which the daemon has warned */
    pvmi_setopt_announce();
    pvmi_tracefile_enrolled();
    pvmi_tracer_attach();
    pvmi_trace_update();
    return pvmi_task.state == PVMI_TASK_IN ? 0 : PVMC_EDOWN; /* another thread may have left meanwhile */
}

void pvmi_enrol_undo(void)
{
    if (pvmi_task.state == PVMI_TASK_LEAVES && leaving == pvmi_lock_self())
        pvmi_task.state = PVMI_TASK_IN;
    if (pvmi_task.state != PVMI_TASK_ENTERS || entering != pvmi_lock_self())
        return;
    let_go();
}

/* ---- leaving ---- */

void pvmi_enrol_on_leave(struct pvmi_leaver *l)
{
    if (l->is_listed)
        return;
    l->is_listed = true;
    LL_PREPEND(leavers, l);
}

/* Turns the process back into one that is no task. The program's buffers, options and handlers stay. */
static void forget_machine(void)
{
    pvmi_link_close();
    __atomic_fetch_and(&pvmi_call_watch, ~(unsigned)PVMI_WATCH_DESCRIPTORS,
                       __ATOMIC_RELAXED); /* the descriptor is closed */
    pvmi_handler_clear();
    pvmi_arrivals_clear();
    pvmi_inbox_clear();
    pvmi_peer_forget_all();
    const struct pvmi_leaver *l;
    LL_FOREACH (leavers, l)
        l->left();
    pvmi_output_clear();
    pvmi_trace_forget();
    pvmi_setopt_forget();
    free(siblings.tids);
    siblings.tids = NULL;
    pvmi_gauges_close();
    pvmi_task = (struct pvmi_task){.state = PVMI_TASK_OUT};
}

/* While handlers still run: sends what others must hear, and reports our exit to the program if it asked. */
static int last_duties(bool wait_for_output)
{
    int rc = wait_for_output ? pvmi_output_drain() : 0;
    const struct pvmi_leaver *l;
    LL_FOREACH (leavers, l)
        l->leaves();
    pvmi_arrivals_take_in_all();
    pvmi_handler_run();
    pvmi_trace_finish();
    return rc;
}

/* Whether another thread or a handler has left the machine while this one waited. */
static bool has_left_meanwhile(unsigned epoch)
{
    if (pvmi_task.state != PVMI_TASK_LEAVES)
        return epoch != pvmi_link_epoch;
    pvmi_wait_until(is_settled, NULL, PVMI_WAIT_FOREVER);
    return true;
}

int pvmi_enrol_leave(bool wait_for_output)
{
    int rc = pvmi_task_need();
    unsigned epoch = pvmi_link_epoch;
    if (!rc)
        pvmi_tracefile_leaving();
    if (!rc)
        rc = last_duties(wait_for_output);
    if (has_left_meanwhile(epoch))
        return 0;
    if (!rc) {
        pvmi_task.state = PVMI_TASK_LEAVES;
        leaving = pvmi_lock_self();
        pvmi_handler_defer();
        rc = pvmi_route_leave();
        if (!rc)
            rc = pvmi_request_within(PVMC_TM_EXIT, NULL, -1, NULL, EXIT_LIMIT_US);
        pvmi_handler_allow();
    }
    if (pvmi_receive_buffer.mid)
        pvmi_buffer_free(pvmi_receive_buffer.mid);
    forget_machine();
    return rc;
}

/*
 * A forked child is another process: it must neither use its parent's connection nor keep it open. Messages outlive
 * pvm_exit(), so their memory must become the child's own in any case.
 */
static void after_fork(void)
{
    pvmi_lock_after_fork(true);
    pvmc_mem_after_fork();
    if (pvmi_task.state != PVMI_TASK_OUT)
        forget_machine();
}

static void go_on_after_fork(void)
{
    pvmi_lock_after_fork(false);
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_atfork(pvmi_lock_before_fork, go_on_after_fork, after_fork);
    if (*pvmc_config_text(PVMC_SETTING_CONTEXT))
        take_context((uint32_t)pvmc_config_integer(PVMC_SETTING_CONTEXT));
}

__attribute__((destructor)) static void end(void)
{
    forget_machine();
    free(task_name);
    task_name = NULL;
}

/* ---- siblings ---- */

void pvmi_enrol_take_siblings(struct pvmc_message *m)
{
    int n = 0, kept = 0;
    if (siblings.tids || pvmc_message_unpack(m, PVM_INT, &n, 1, 1) || n < 1 || (uint64_t)n > m->length)
        return;
    int *tids = malloc(n * sizeof *tids);
    if (!tids || pvmc_message_unpack(m, PVM_INT, tids, n, 1)) {
        free(tids);
        return;
    }
    for (int i = 0; i < n; i++)
        if (tids[i] > 0)
            tids[kept++] = tids[i];
    siblings.tids = tids;
    siblings.count = kept;
}

static bool know_siblings(void *arg)
{
    (void)arg;
    return siblings.tids;
}

static int find_siblings(int **tids)
{
    static int alone;
    int rc = pvmi_task_need();
    if (!rc && pvmi_task.spawned && !siblings.tids)
        rc = pvmi_wait_until(know_siblings, NULL, PVMI_WAIT_FOREVER);
    if (rc)
        return rc;
    alone = (int)pvmi_task.tid;
    if (tids)
        *tids = siblings.tids ? siblings.tids : &alone;
    return siblings.tids ? siblings.count : 1;
}

/* ---- public calls ---- */

int pvm_mytid(void)
{
    PVMI_BEGIN(TEV_MYTID);
    bool enters = pvmi_task.state == PVMI_TASK_OUT;
    int need = pvmi_task.state == PVMI_TASK_LOST ? 0 : pvmi_task_need();
    int rc = pvmi_return("pvm_mytid", need ? need : (int)pvmi_task.tid);
    PVMI_END(TEV_MYTID, PVMI_INT(MT, rc));
    if (enters && !pvmi_watched) /* whether it is traced was unknown when it began */
        pvmi_trace_late(TEV_MYTID, PVMI_DATA(PVMI_INT(MT, rc)));
    return rc;
}

int pvm_parent(void)
{
    PVMI_BEGIN(TEV_PARENT);
    int need = pvmi_task_need(), rc = pvmi_return_answer("pvm_parent", need ? need : pvmi_task.parent);
    PVMI_END(TEV_PARENT, PVMI_INT(PT, rc));
    return rc;
}

int pvm_siblings(int **tids)
{
    int *list = NULL;
    PVMI_BEGIN(TEV_SIBLINGS);
    int rc = pvmi_return("pvm_siblings", find_siblings(&list));
    PVMI_END(TEV_SIBLINGS, PVMI_INTS(SIB, list, list ? rc : 0));
    if (tids && list)
        *tids = list;
    return rc;
}

int pvm_exit(void)
{
    PVMI_BEGIN(TEV_EXIT);
    int rc = pvmi_return("pvm_exit", pvmi_enrol_leave(true));
    PVMI_END(TEV_EXIT, PVMI_INT(CC, rc));
    return rc;
}

char *pvm_version(void)
{
    PVMI_BEGIN(TEV_VERSION);
    PVMI_END(TEV_VERSION, PVMI_STRING(VER, PVM_VER));
    return PVM_VER;
}

int pvmi_enrol_set_name(const char *name)
{
    char *copy = name ? strdup(name) : NULL;
    if (name && !copy)
        return PVMC_ENOMEM;
    free(task_name);
    task_name = copy;
    return 0;
}
