/* runner.c - see runner.h. Each run is a process with a group, a folder and a pipe of its own. */
#include "runner.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/quantity.h"
#include "base/scratch.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "progress.h"

enum { SAID_MAX = 4096, GRACE_MS = 5000, TICK_MS = 500, LIMIT_S = 600, PATH = 512 };

/* A run under way. */
struct worker {
    pid_t pid; /* 0: none */
    int fd;
    struct sweep_run run;
    int64_t end_ns; /* when it has taken too long */
    bool ended;     /* told to end */
    size_t length;  /* of what it has said: its results, or why there are none */
    char said[SAID_MAX];
};

struct runner {
    struct sweep_table *table;
    const struct sweep_order *order;
    struct sweep_outcome *outcome;
    struct progress progress;
    struct worker *workers;
    unsigned running;
    size_t next, last;  /* runs to start: point * most + replication - 1 */
    uint32_t most;      /* runs of a point, at most */
    bool *lost;         /* points with a run that failed */
    char why[SAID_MAX]; /* the last of them */
    int64_t limit_ns;
    char folder[PATH];
    sigset_t signals;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = number;
}

/* ---- in the worker ---- */

/* Messages of a worker go to its runner, by the standard error. */
static void say(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)arg;
    fprintf(stderr, "%s\n", line);
}

__attribute__((noreturn)) static void work(struct runner *r, struct worker *w, int fd)
{
    struct sweep_results results;
    char folder[PATH + 64];
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(folder, sizeof folder, "%s/%zu-%u", r->folder, w->run.point + 1, w->run.replication);
    bool good = !mkdir(folder, 0700) && freopen("/dev/null", "r", stdin) && freopen("/dev/null", "w", stdout) &&
                dup2(fd, STDERR_FILENO) >= 0;
    pvmc_log_to(say, NULL, PVMC_LOG_WARNING);
    if (!good || sweep_workload_run(&w->run, folder, &results))
        _exit(EXIT_FAILURE);
    char mark = 0; /* no text contains it */
    good = write(fd, &mark, 1) == 1 && write(fd, &results, sizeof results) == (ssize_t)sizeof results;
    _exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- starting ---- */

static bool start(struct runner *r, struct worker *w, size_t number)
{
    const struct sweep_experiment *e = r->table->experiment;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    *w = (struct worker){.fd = ends[0], .end_ns = pvmc_clock_real_ns() + r->limit_ns};
    w->run = (struct sweep_run){.experiment = e, .point = number / r->most};
    w->run.replication = (uint32_t)(number % r->most) + 1;
    w->run.seed = (uint64_t)e->seed + w->run.replication - 1; /* common random numbers at all points */
    fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        setpgid(0, 0);
        work(r, w, ends[1]);
    }
    close(ends[1]);
    if (w->pid < 0) {
        w->pid = 0;
        close(ends[0]);
        return false;
    }
    setpgid(w->pid, w->pid); /* whoever is first */
    r->running++;
    return true;
}

static bool is_wanted(const struct runner *r, size_t point)
{
    return !sweep_point_is_skipped(r->table->experiment, point) &&
           (!r->order->wants || r->order->wants(r->table->experiment, point, r->order->arg));
}

/* Whether a run is wanted, and its point has not failed. */
static bool is_due(const struct runner *r, size_t number)
{
    size_t point = number / r->most;
    return is_wanted(r, point) && !r->lost[point] &&
           number % r->most < sweep_point_replications(r->table->experiment, point);
}

static bool find_next(struct runner *r)
{
    while (r->next < r->last && !is_due(r, r->next))
        r->next++;
    return r->next < r->last;
}

static void start_more(struct runner *r)
{
    for (unsigned i = 0; i < r->order->workers && !interrupted && find_next(r); i++) {
        if (r->workers[i].pid)
            continue;
        if (!start(r, &r->workers[i], r->next))
            return; /* when another run has ended */
        r->next++;
    }
}

/* ---- ending ---- */

static void fail(struct runner *r, struct worker *w, const char *why)
{
    char where[512];
    sweep_point_format(r->table->experiment, w->run.point, where, sizeof where);
    progress_clear(&r->progress);
    fprintf(stderr, "atm-sim: no result%s%s, replication %u: %s\n", *where ? " at " : "", where, w->run.replication,
            strcmp(why, r->why) == 0 ? "the same" : why);
    snprintf(r->why, sizeof r->why, "%s", why);
    if (!r->lost[w->run.point])
        r->outcome->failed++;
    r->lost[w->run.point] = true;
}

/* The results follow the mark at the end of what a worker says. */
static bool take_results(struct worker *w, struct sweep_results *results)
{
    size_t size = sizeof *results;
    if (w->length < size + 1 || w->said[w->length - size - 1] != 0)
        return false;
    memcpy(results, w->said + w->length - size, size);
    return true;
}

static void explain(struct runner *r, struct worker *w, int status)
{
    char why[128];
    size_t length = w->length < SAID_MAX ? w->length : SAID_MAX - 1;
    while (length && w->said[length - 1] == '\n')
        length--;
    w->said[length] = 0;
    if (w->ended)
        snprintf(why, sizeof why, "it took longer than its limit of %.6g s of real time", (double)r->limit_ns / 1e9);
    else
        snprintf(why, sizeof why, "it ended with %s %d", WIFEXITED(status) ? "status" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    fail(r, w, length && !w->ended ? w->said : why);
}

/* A worker has closed its pipe. What it has started and left ends, too. */
static void finish(struct runner *r, struct worker *w)
{
    struct sweep_results results;
    siginfo_t info;
    int status = 0, other;
    waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOWAIT); /* its number stays taken until its group is gone */
    kill(-w->pid, SIGKILL);
    waitpid(w->pid, &status, 0);
    while (waitpid(-w->pid, &other, 0) > 0) /* those that it left are ours, see PR_SET_CHILD_SUBREAPER */
        ;
    close(w->fd);
    w->pid = 0;
    r->running--;
    if (take_results(w, &results)) {
        sweep_table_put(r->table, &w->run, &results);
        r->outcome->done += sweep_table_has(r->table, w->run.point);
        progress_step(&r->progress);
    } else if (!interrupted) {
        explain(r, w, status);
        progress_step(&r->progress);
    }
}

/* Reads what a worker says; of much text the end is kept. */
static void listen_to(struct runner *r, struct worker *w)
{
    if (w->length > SAID_MAX / 2) {
        size_t keep = sizeof(struct sweep_results) + 1;
        size_t drop = w->length - keep;
        memmove(w->said, w->said + drop, keep);
        w->length = keep;
    }
    ssize_t got = read(w->fd, w->said + w->length, SAID_MAX - 1 - w->length);
    if (got > 0)
        w->length += (size_t)got;
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        finish(r, w);
}

/* Ends a worker and what it has started: first kindly. */
static void end(struct worker *w, int number)
{
    if (w->pid)
        kill(-w->pid, number);
    w->ended = true;
}

static void end_late(struct runner *r)
{
    int64_t now = pvmc_clock_real_ns();
    for (unsigned i = 0; i < r->order->workers; i++) {
        struct worker *w = &r->workers[i];
        if (!w->pid || now < w->end_ns)
            continue;
        end(w, w->ended ? SIGKILL : SIGTERM);
        w->end_ns = now + (int64_t)GRACE_MS * 1000000;
    }
}

/* ---- the loop ---- */

static void wait_for_any(struct runner *r)
{
    struct pollfd set[SWEEP_WORKERS_MAX];
    struct worker *who[SWEEP_WORKERS_MAX];
    nfds_t count = 0;
    for (unsigned i = 0; i < r->order->workers; i++) {
        if (!r->workers[i].pid)
            continue;
        who[count] = &r->workers[i];
        set[count++] = (struct pollfd){.fd = r->workers[i].fd, .events = POLLIN};
    }
    struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    if (ppoll(set, count, &tick, &r->signals) <= 0)
        return;
    for (nfds_t i = 0; i < count; i++)
        if (set[i].revents)
            listen_to(r, who[i]);
}

static void run(struct runner *r)
{
    bool stopping = false;
    while (r->running || (!interrupted && find_next(r))) {
        start_more(r);
        if (!r->running)
            break; /* no process can be started */
        progress_show(&r->progress);
        wait_for_any(r);
        if (interrupted && !stopping) {
            stopping = true;
            for (unsigned i = 0; i < r->order->workers; i++) {
                end(&r->workers[i], SIGTERM);
                r->workers[i].end_ns = pvmc_clock_real_ns() + (int64_t)GRACE_MS * 1000000;
            }
        }
        end_late(r);
    }
    progress_clear(&r->progress);
}

static int64_t limit_of(const struct sweep_experiment *e)
{
    pvma_ps limit = LIMIT_S * PVMA_S;
    if (e->limit.text)
        pvma_time_parse(e->limit.text, 1000000 * PVMA_S, &limit);
    return limit / PVMA_NS;
}

/* The wanted points; returns the number of their runs. */
static size_t count_wanted(struct runner *r)
{
    size_t runs = 0;
    for (size_t p = 0; p < r->table->points; p++) {
        if (!is_wanted(r, p))
            continue;
        r->outcome->points++;
        runs += sweep_point_replications(r->table->experiment, p);
    }
    return runs;
}

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

enum { STOP_SIGNALS = sizeof stop_signals / sizeof stop_signals[0] };

/* They arrive only while the loop waits. A hangup that nohup(1) ignores stays so. */
static void catch_signals(struct runner *r, struct sigaction old[STOP_SIGNALS])
{
    struct sigaction action = {.sa_handler = interrupt};
    sigset_t ours;
    sigemptyset(&ours);
    for (unsigned i = 0; i < STOP_SIGNALS; i++)
        sigaddset(&ours, stop_signals[i]);
    sigprocmask(SIG_BLOCK, &ours, &r->signals);
    for (unsigned i = 0; i < STOP_SIGNALS; i++) {
        sigaction(stop_signals[i], &action, &old[i]);
        if (stop_signals[i] == SIGHUP && old[i].sa_handler == SIG_IGN)
            sigaction(stop_signals[i], &old[i], NULL);
    }
}

/* One that still waits is taken here, so that the results are written. */
static void release_signals(const struct runner *r, const struct sigaction old[STOP_SIGNALS])
{
    sigprocmask(SIG_SETMASK, &r->signals, NULL);
    for (unsigned i = 0; i < STOP_SIGNALS; i++)
        sigaction(stop_signals[i], &old[i], NULL);
}

int sweep_run_all(struct sweep_table *table, const struct sweep_order *order, struct sweep_outcome *outcome)
{
    struct sigaction old[STOP_SIGNALS];
    struct runner r = {.table = table,
                       .order = order,
                       .outcome = outcome,
                       .last = table->points * table->most,
                       .most = table->most,
                       .limit_ns = limit_of(table->experiment)};
    *outcome = (struct sweep_outcome){0};
    catch_signals(&r, old); /* before there is something to leave behind */
    if (!pvma_scratch_make("atm-sweep.", r.folder, sizeof r.folder)) {
        pvmc_log(PVMC_LOG_ERROR, "cannot make a folder for the runs, %s: %s", r.folder, strerror(errno));
        release_signals(&r, old);
        return PVMC_ESYSTEM;
    }
    r.workers = pvma_new(order->workers * sizeof *r.workers);
    r.lost = pvma_new(table->points * sizeof *r.lost);
    progress_begin(&r.progress, order->progress, count_wanted(&r));
    sweep_workload_prepare(table->experiment);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    run(&r);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    pvma_scratch_remove(r.folder);
    release_signals(&r, old);
    outcome->stopped = interrupted != 0;
    free(r.workers);
    free(r.lost);
    return 0;
}
