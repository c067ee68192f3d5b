/* exec.c - see exec.h. */
#include "exec.h"
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/hosts.h"
#include "pvmd/tasks/clients.h"
#include "pvmd/base/self.h"
#include "pvmd/base/sweeper.h"
#include "dpvm.h"
#include "environment.h"
#include "input.h"
#include "libraries.h"
#include "pvmd/base/loop.h"
#include "order.h"
#include "output.h"
#include "program.h"
#include "pvmd/net/rpc.h"
#include "pvmd/base/stats.h"
#include "tasker.h"
#include "pvmd/tasks/tasks.h"
#include "pvmd/tasks/trace.h"
#include "pvmd/base/turn.h"
#include "pvmd/base/virtual.h"
#include "why.h"
#include "wrap.h"

#define SLICE             4 /* processes started in one turn of the loop */
#define SPARE_DESCRIPTORS 8 /* for programs that connect by themselves, and for what the daemon does */

/* A DM_EXEC in progress. */
struct job {
    struct pvmd_question question;
    struct pvmd_order order;
    int32_t parent;
    uint32_t first, total; /* among the spawn's tasks: the number of our first one, and the number of all */
    char *directory;
    bool is_prepared;
    struct pvmd_why why; /* of the first failure */
    bool complained;     /* about a lack of descriptors */
    char **argv;         /* argv[0] is executed; the first `owned` texts are the job's, all others the order's */
    size_t owned;
    struct pvmd_environment environment;
    uint32_t done;
    int32_t *results;
    struct job *prev, *next;
};

/* A started process that has not ended. */
struct child {
    pid_t pid;
    pvmc_tid tid;
    UT_hash_handle hh;
};

static struct job *jobs;
static struct child *children;
static ev_child ended;
static struct rlimit descriptors, our_descriptors; /* as we found them, and as we set them */
static int null_fd = -1;

/* ---- limits ---- */

void pvmd_exec_raise_limits(void)
{
    if (getrlimit(RLIMIT_NOFILE, &descriptors))
        return;
    rlim_t most = descriptors.rlim_max < PVMD_DESCRIPTORS_MAX ? descriptors.rlim_max : PVMD_DESCRIPTORS_MAX;
    our_descriptors = (struct rlimit){.rlim_cur = most, .rlim_max = descriptors.rlim_max};
    setrlimit(RLIMIT_NOFILE, &our_descriptors);
}

/* posix_spawn() cannot set limits, so we lower our own meanwhile; nothing else runs in between. */
static int spawn_with_old_limits(pid_t *pid, const struct job *job, const posix_spawn_file_actions_t *actions,
                                 const posix_spawnattr_t *attributes)
{
    setrlimit(RLIMIT_NOFILE, &descriptors);
    int error = posix_spawn(pid, job->argv[0], actions, attributes, job->argv, job->environment.variables);
    setrlimit(RLIMIT_NOFILE, &our_descriptors);
    return error;
}

/* ---- one process ---- */

static int code_of(int error)
{
    switch (error) {
    case ENOMEM:
        return PvmNoMem;
    case EAGAIN:
    case E2BIG:
    case EMFILE:
    case ENFILE:
        return PvmOutOfRes;
    default:
        return PvmNoFile;
    }
}

/* The ends of a process' pipes, by stream: its own and ours. -1: no pipe. */
struct streams {
    int theirs[3], ours[3];
};

/* Signals are as after a login. */
static int start_process(struct job *job, const int streams[3], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigfillset(&defaults); /* our starter may have ignored some, as a shell does for background jobs */
    posix_spawn_file_actions_init(&actions);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_adddup2(&actions, streams[fd], fd);
    posix_spawn_file_actions_addchdir_np(&actions, job->directory);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    bool leads = job->order.flags & PvmTaskStreams; /* a process group, which signals reach as a whole */
    posix_spawnattr_setflags(
        &attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (leads ? POSIX_SPAWN_SETPGROUP : 0)));
    int error =
        pvmc_failpoint(PVMC_FAILPOINT_TASK_START) ? errno : spawn_with_old_limits(pid, job, &actions, &attributes);
    pvmc_failpoint_done(PVMC_FAILPOINT_TASK_START);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error)
        pvmd_why(&job->why, PVMC_LOG_ERROR, "cannot start %s: %s", job->argv[0],
                 pvmd_why_not_executed(job->argv[0], error));
    return error ? code_of(error) : PvmOk;
}

/* Started processes that may still connect, and then need a descriptor. */
static rlim_t awaited_connections(void)
{
    rlim_t n = 0;
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        n += task->running && task->cookie;
    return n;
}

/* Whether too few descriptors are left when fd is the highest in use. */
static bool are_few_left(int fd)
{
    struct rlimit limit;
    rlim_t used = (rlim_t)fd + 1 + SPARE_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) || used < limit.rlim_cur / 2)
        return false;
    return used + awaited_connections() > limit.rlim_cur;
}

static int out_of_descriptors(struct job *job)
{
    if (!job->complained)
        pvmd_why(&job->why, PVMC_LOG_ERROR,
                 "out of descriptors: %s is not started; start the daemon with a higher limit "
                 "(ulimit -n) for more tasks",
                 job->order.file);
    job->complained = true;
    return PvmOutOfRes;
}

/* A pipe for this stream of the process; our end does not block. False: out of descriptors. */
static bool new_pipe(struct streams *s, int stream)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    s->theirs[stream] = ends[stream != STDIN_FILENO];
    s->ours[stream] = ends[stream == STDIN_FILENO];
    fcntl(s->ours[stream], F_SETFL, O_NONBLOCK);
    return !are_few_left(ends[1]);
}

static void close_all(const int fds[3])
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Whether the next process to be started is given input. */
static bool has_input(const struct job *job)
{
    return job->order.flags & PvmTaskInputAll || (job->order.flags & PvmTaskInput && job->first + job->done == 0);
}

static int open_streams(struct job *job, struct streams *s)
{
    bool apart = job->order.flags & (PvmTaskStreams | PVMD_ORDER_APART);
    *s = (struct streams){{-1, -1, -1}, {-1, -1, -1}};
    bool good = new_pipe(s, STDOUT_FILENO) && (!apart || new_pipe(s, STDERR_FILENO)) &&
                (!has_input(job) || new_pipe(s, STDIN_FILENO));
    if (good)
        return PvmOk;
    close_all(s->theirs);
    close_all(s->ours);
    return out_of_descriptors(job);
}

/* Without a pipe, standard input is empty, and standard error goes where standard output goes. */
static int start_with(struct job *job, const struct streams *s, pid_t *pid)
{
    const int *theirs = s->theirs;
    int all[] = {theirs[STDIN_FILENO] < 0 ? null_fd : theirs[STDIN_FILENO], theirs[STDOUT_FILENO],
                 theirs[STDERR_FILENO] < 0 ? theirs[STDOUT_FILENO] : theirs[STDERR_FILENO]};
    return start_process(job, all, pid);
}

static uint32_t new_cookie(void)
{
    static uint32_t latest;
    while (!latest)
        if (getrandom(&latest, sizeof latest, GRND_NONBLOCK) < 0)
            latest = (uint32_t)getpid();
    latest = (latest + 1) & INT32_MAX;
    return latest ? latest : (latest = 1);
}

/* The spawned name. libgpvm3 spawns its group server by path, but PVM lists only the name. */
static const char *listed_name(const char *file)
{
    return pvmd_program_is_group_server(file) ? PVMD_GROUP_SERVER : file;
}

/* The flags that the spawner has given. */
static uint32_t given_flags(const struct job *job)
{
    return job->order.flags & ~(uint32_t)PVMD_ORDER_APART;
}

static struct pvmd_task *new_task(const struct job *job)
{
    struct pvmd_task *task = pvmd_task_new(listed_name(job->order.file));
    if (!task)
        return NULL;
    task->parent = job->parent;
    task->flags = PVMD_TASK_FORKED;
    task->cookie = new_cookie();
    task->context = job->order.context;
    task->output = job->order.output;
    task->trace = job->order.trace;
    task->spawn_flags = (int32_t)given_flags(job);
    task->siblings_from = job->question.host_index;
    return task;
}

static int set_cookie(struct job *job, uint32_t cookie)
{
    char variable[32];
    snprintf(variable, sizeof variable, "PVMEPID=%u", cookie);
    pvmd_sweeper_expect();
    return pvmd_environment_set(&job->environment, variable) ? PvmNoMem : PvmOk;
}

static void remember_child(struct pvmd_task *task)
{
    struct child *child = calloc(1, sizeof *child);
    if (child)
        *child = (struct child){.pid = task->pid, .tid = task->tid};
    task->running = child && PVMC_HASH_ADD(hh, children, pid, child);
    if (!task->running)
        free(child); /* its end then shows when its connection closes */
}

/* Without our debugger or wrapper, because a tasker starts tasks in its own way. */
static int give_to_tasker(struct job *job, struct pvmd_task *task)
{
    int code = set_cookie(job, task->cookie);
    if (!code)
        code = pvmd_tasker_give(task, &(struct pvmd_tasker_order){.argv = job->argv + job->owned - 1,
                                                                  .environment = job->environment.variables,
                                                                  .flags = given_flags(job),
                                                                  .instance = job->first + job->done,
                                                                  .here = job->order.count,
                                                                  .total = job->total});
    if (!code)
        pvmd_trace_new(task);
    return code;
}

static int start_task(struct job *job, struct pvmd_task *task)
{
    struct streams streams;
    if (pvmd_tasker())
        return give_to_tasker(job, task);
    int code = open_streams(job, &streams);
    if (code)
        return code;
    code = set_cookie(job, task->cookie);
    if (!code)
        code = start_with(job, &streams, &task->pid);
    close_all(streams.theirs);
    if (code) {
        close_all(streams.ours);
        return code;
    }
    pvmd_sweeper_started(task->pid);
    pvmd_stats.spawned++;
    task->started_us = pvmc_clock_us();
    pvmd_virtual_expect(task->pid);
    remember_child(task);
    pvmd_trace_new(task);
    pvmd_output_new(task, streams.ours[STDOUT_FILENO], streams.ours[STDERR_FILENO]);
    if (streams.ours[STDIN_FILENO] >= 0)
        pvmd_input_new(task, streams.ours[STDIN_FILENO]);
    return PvmOk;
}

/* The new task's tid, or an error. */
static int32_t start_one(struct job *job)
{
    struct pvmd_task *task = new_task(job);
    if (!task) {
        pvmd_why(&job->why, PVMC_LOG_DEBUG, "no room for another task (PVM_MAX_TASKS, or memory)");
        return PvmOutOfRes;
    }
    int code = start_task(job, task);
    if (!code)
        return (int32_t)task->tid;
    task->trace.tid = 0; /* it was never started */
    pvmd_task_end(task);
    return code;
}

/* ---- jobs ---- */

static void job_free(struct job *job)
{
    for (size_t i = 0; i < job->owned; i++)
        free(job->argv[i]);
    free(job->argv);
    free(job->directory);
    free(job->results);
    pvmd_environment_free(&job->environment);
    pvmd_order_free(&job->order);
    free(job);
}

static void job_answer(struct job *job)
{
    int started = 0;
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, job->order.count);
    for (uint32_t i = 0; i < job->order.count; i++) {
        pvmc_buf_put_i32(&b, job->results[i]);
        started += job->results[i] > 0;
    }
    pvmc_buf_put_string(&b, started < (int)job->order.count ? job->why.text : "");
    pvmd_answer(&job->question, started, &b);
    pvmc_buf_free(&b);
    job_free(job);
    pvmd_virtual_release();
}

/* Makes argv of the process: [debugger or wrapper] program arguments. Returns PvmOk or why nothing can be started. */
static int make_argv(struct job *job)
{
    const char *wrapper = pvmd_environment_get(&job->environment, "PVM_WRAP");
    char *program = pvmd_program_find(job->order.file, job->directory, &job->why);
    int code = program ? pvmd_wrap_find(&job->order, wrapper, &job->argv, &job->owned, &job->why) : PvmNoFile;
    size_t entries = job->owned + 1 + job->order.argument_count + 1;
    char **argv = code ? NULL : realloc(job->argv, entries * sizeof *argv);
    if (!argv) {
        free(program);
        return code ? code : PvmNoMem;
    }
    pvmd_libraries_warn(&job->environment, program, job->directory);
    argv[job->owned++] = program;
    for (uint32_t i = 0; i < job->order.argument_count; i++)
        argv[job->owned + i] = job->order.arguments[i];
    argv[entries - 1] = NULL;
    job->argv = argv;
    return PvmOk;
}

static int prepare(struct job *job)
{
    bool must = job->order.flags & PvmTaskDirectory;
    job->directory = pvmd_program_directory(job->order.where, must, &job->why);
    if (!job->directory && must)
        return PvmNoFile;
    if (!job->directory || pvmd_environment_make(&job->order, &job->environment))
        return PvmNoMem;
    return pvmd_libraries_set(&job->environment) ? PvmNoMem : make_argv(job);
}

static void fail_all(struct job *job, int code)
{
    for (; job->done < job->order.count; job->done++)
        job->results[job->done] = code;
}

/* Prepares what all of the job's processes share; a large preparation takes a slice. */
static void begin(struct job *job)
{
    int code = prepare(job);
    if (code)
        fail_all(job, code);
    job->is_prepared = true;
}

/* The rest of the job is for other hosts, if there are any that may take it. */
static void refuse_rest(struct job *job)
{
    pvmd_why(&job->why, PVMC_LOG_DEBUG, "it is leaving the machine");
    fail_all(job, PvmNoHost);
}

/* Carries out a slice of the job. True: it is finished, and freed. */
static bool job_run(struct job *job)
{
    if (pvmd_host_self()->draining)
        refuse_rest(job);
    else if (!job->is_prepared)
        begin(job);
    for (int i = 0; i < SLICE && job->done < job->order.count && !pvmd_turn_is_long(); i++, job->done++)
        job->results[job->done] = start_one(job);
    if (job->done < job->order.count)
        return false;
    job_answer(job);
    return true;
}

static bool run_slice(void)
{
    struct job *job = jobs;
    DL_DELETE(jobs, job);
    if (!job_run(job))
        DL_APPEND(jobs, job); /* the other jobs take their turn */
    return jobs;
}

static struct pvmd_work slices = {.step = run_slice};

static void job_begin(struct job *job)
{
    pvmd_virtual_hold();
    if (!jobs && !pvmd_turn_is_long() && job_run(job))
        return;
    DL_APPEND(jobs, job);
    pvmd_work_begin(&slices);
}

static int exec_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return PVMC_ENOMEM;
    job->question = *q;
    int rc = pvmd_order_get(body, &job->order);
    job->parent = pvmc_buf_get_i32(body);
    job->first = pvmc_buf_get_u32(body);
    job->total = pvmc_buf_get_u32(body);
    if (!rc)
        rc = pvmc_buf_end(body);
    if (!rc && (!job->order.count || job->order.count > PVMD_ORDER_COUNT_MAX))
        rc = PVMC_EFORMAT;
    job->results = rc ? NULL : calloc(job->order.count, sizeof *job->results);
    if (!job->results) {
        job_free(job);
        return rc ? rc : PVMC_ENOMEM;
    }
    job_begin(job);
    return 0;
}

/* ---- processes that end ---- */

/*
 * Processes first what the process sent before it ended. A task whose connection is still open then, for example held
 * by a process under a debugger, ends with its connection.
 */
static void child_ended(const struct child *child, int status)
{
    struct pvmd_task *task = pvmd_task_by_tid(child->tid);
    if (!task)
        return;
    task->running = false;
    task->status = status;
    pvmd_clients_progress();
    task = pvmd_task_by_tid(child->tid);
    if (task && !task->ep)
        pvmd_task_end(task);
}

static void on_child(EV_P_ ev_child *watcher, int events)
{
    (void)loop;
    (void)events;
    struct child *child;
    pid_t pid = watcher->rpid;
    pvmd_sweeper_ended(pid);
    HASH_FIND_INT(children, &pid, child);
    if (!child)
        return; /* a launcher's process */
    HASH_DEL(children, child);
    child_ended(child, watcher->rstatus);
    free(child);
}

void pvmd_exec_start(void)
{
    null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ev_child_init(&ended, on_child, 0, 0);
    ev_child_start(pvmd.loop, &ended);
    pvmd_dm_handle(PVMD_DM_EXEC, exec_question);
}

void pvmd_exec_stop(void)
{
    struct job *job, *next_job;
    pvmd_work_stop(&slices);
    DL_FOREACH_SAFE (jobs, job, next_job) {
        DL_DELETE(jobs, job);
        job_free(job);
    }
    struct child *child, *next;
    HASH_ITER (hh, children, child, next) {
        HASH_DEL(children, child);
        free(child);
    }
    if (null_fd >= 0)
        close(null_fd);
}
