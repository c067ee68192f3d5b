/* processes.c - see processes.h. */
#include "processes.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"

enum {
    PROCESSES_MAX = 8,
    KILL_MS = 20,
    STATUS_UNKNOWN = W_EXITCODE(EXIT_FAILURE, 0), /* of a child whose end the kernel did not keep */
};

static struct {
    sigset_t before;
    bool before_is_known;
    int signal_fd;
    int signal; /* that came first */
    struct sigaction pipe_before;
    struct pvma_process *all[PROCESSES_MAX];
    unsigned count;
} us;

/* nohup ignores SIGHUP, and a shell without job control SIGINT and SIGQUIT for what runs in the background. */
static void add_unless_ignored(sigset_t *set, int signal)
{
    struct sigaction action;
    if (!sigaction(signal, NULL, &action) && action.sa_handler != SIG_IGN)
        sigaddset(set, signal);
}

/* If our caller ignores SIGCHLD, so do we, and the kernel drops the ends of our children: we ask for them again. */
static void take_signals(sigset_t *set)
{
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    add_unless_ignored(set, SIGINT);
    add_unless_ignored(set, SIGQUIT);
    add_unless_ignored(set, SIGTERM);
    add_unless_ignored(set, SIGHUP);
    sigprocmask(SIG_BLOCK, set, us.before_is_known ? NULL : &us.before);
    us.before_is_known = true;
}

/* The terminal sends its signals to both of us: the first one counts. */
static void pass_on(pid_t pid, int signal)
{
    if (signal > 0 && signal != SIGCHLD)
        kill(pid, signal);
}

static bool has_ended(pid_t pid, int *status)
{
    pid_t rc = waitpid(pid, status, WNOHANG);
    if (rc < 0 && errno == ECHILD)
        *status = STATUS_UNKNOWN;
    return rc == pid || (rc < 0 && errno == ECHILD);
}

pid_t pvma_processes_front(int *status)
{
    sigset_t set;
    pid_t front = getpid();
    take_signals(&set);
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != front)
            _exit(EXIT_FAILURE);
        return 0;
    }
    if (pid < 0) {
        pvmc_log(PVMC_LOG_ERROR, "cannot start a process: %s", strerror(errno));
        return -1;
    }
    while (!has_ended(pid, status))
        pass_on(pid, sigwaitinfo(&set, NULL));
    return pid;
}

/* Whoever reads our output may leave: we still have to clean up. */
static void ignore_sigpipe(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &us.pipe_before);
}

int pvma_processes_begin(void)
{
    sigset_t set;
    take_signals(&set);
    ignore_sigpipe();
    us.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (us.signal_fd >= 0 && !prctl(PR_SET_CHILD_SUBREAPER, 1))
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "cannot watch processes: %s", strerror(errno));
    return PVMC_ESYSTEM;
}

/* ---- starting ---- */

static void become_child(pid_t parent, int out, bool aside)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    if (aside) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        setpgid(0, 0);
        dup2(null, STDIN_FILENO);
    }
    if (out >= 0)
        dup2(out, STDOUT_FILENO);
    close(us.signal_fd);
    sigaction(SIGPIPE, &us.pipe_before, NULL);
    sigprocmask(SIG_SETMASK, &us.before, NULL);
}

pid_t pvma_process_fork(struct pvma_process *p, int out, bool aside)
{
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        become_child(parent, out, aside);
    if (pid > 0) {
        *p = (struct pvma_process){.pid = pid};
        if (us.count < PROCESSES_MAX)
            us.all[us.count++] = p;
    }
    if (pid < 0)
        pvmc_log(PVMC_LOG_ERROR, "cannot start a process: %s", strerror(errno));
    return pid;
}

/* ---- watching ---- */

static void note_end(struct pvma_process *p, int status)
{
    if (p->ended)
        return;
    p->ended = true;
    p->status = status;
}

static void reap(void)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (unsigned i = 0; i < us.count; i++)
            if (us.all[i]->pid == pid)
                note_end(us.all[i], status);
    for (unsigned i = 0; pid < 0 && errno == ECHILD && i < us.count; i++)
        note_end(us.all[i], STATUS_UNKNOWN);
}

void pvma_processes_watch(int fd, int limit_ms)
{
    struct pollfd set[] = {{.fd = us.signal_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    struct signalfd_siginfo info;
    reap();
    poll(set, fd < 0 ? 1 : 2, limit_ms);
    while (read(us.signal_fd, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD && !us.signal)
            us.signal = (int)info.ssi_signo;
    reap();
}

bool pvma_process_wait(struct pvma_process *p, int limit_ms)
{
    int64_t end_ns = pvmc_clock_real_ns() + limit_ms * INT64_C(1000000);
    int signal = us.signal;
    reap();
    while (!p->ended && us.signal == signal) {
        int64_t left_ms = (end_ns - pvmc_clock_real_ns()) / 1000000;
        if (limit_ms >= 0 && left_ms <= 0)
            return false;
        pvma_processes_watch(-1, limit_ms < 0 ? -1 : (int)left_ms + 1);
    }
    return p->ended;
}

int pvma_processes_signal(void)
{
    return us.signal;
}

/* ---- ending ---- */

void pvma_process_send(const struct pvma_process *p, int signal)
{
    if (p->pid && !p->ended)
        kill(p->pid, signal);
}

/* Kills our children except one. Returns whether there are any. */
static bool kill_children(pid_t keep)
{
    char path[64];
    bool any = false;
    long pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "re");
    while (f && fscanf(f, "%ld", &pid) == 1)
        if (pid != keep) {
            kill((pid_t)pid, SIGKILL);
            any = true;
        }
    if (f)
        fclose(f);
    return any;
}

/* The children of a process that was killed become ours, and are killed in the next round. */
void pvma_processes_kill(const struct pvma_process *keep)
{
    struct timespec pause = {.tv_nsec = KILL_MS * 1000000L / 20};
    while (kill_children(keep->ended ? 0 : keep->pid)) {
        nanosleep(&pause, NULL);
        reap();
    }
}
