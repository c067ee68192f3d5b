/* sweeper.c - see sweeper.h. */
#include "sweeper.h"
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "core/config.h"
#include "core/log.h"
#include "address_file.h"
#include "self.h"
#include "sweep.h"

#define LOOKS_AFTER_KILL 4   /* a process that the daemon was just starting has no environment yet */
#define RESTART_S        0.2 /* until one that has ended is replaced, so that its end cannot keep us busy */

/* What the sweeper reads when the daemon has gone. */
struct shared {
    bool ended;       /* in good order */
    bool has_started; /* a process, or is about to */
    int64_t grace_us;
    char address_path[PATH_MAX], socket_path[PATH_MAX], draft_path[PATH_MAX];
    uint8_t known[PVMD_PIDS_MAX]; /* enum pvmd_known; the kernel provides only what is used */
};

static struct shared *shared; /* NULL: there is no sweeper */
static int lifeline = -1;     /* closes with the daemon */
static pid_t sweeper;
static ev_child ended;
static ev_timer later;

/* ---- the sweeper ---- */

/* Nothing of the daemon stays with it: no descriptor, no folder, no terminal, and no signal but SIGKILL. */
static void let_go(int fd)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_NAME, PVMD_SWEEPER_NAME);
    setsid();
    if (chdir("/"))
        _exit(1);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i <= STDERR_FILENO; i++)
        dup2(null, i);
    dup2(fd, STDERR_FILENO + 1);
    close_range(STDERR_FILENO + 2, ~0U, 0);
}

static void __attribute__((noreturn)) run(int fd)
{
    char byte;
    let_go(fd);
    while (read(STDERR_FILENO + 1, &byte, 1) < 0 && errno == EINTR)
        continue;
    if (*shared->draft_path)
        unlink(shared->draft_path); /* at once: the next daemon may soon write its own */
    struct pvmd_sweep sweep = {.socket_path = shared->socket_path,
                               .known = shared->known,
                               .grace_us = shared->grace_us,
                               .looks = shared->ended ? 1 : LOOKS_AFTER_KILL};
    if (shared->has_started) /* a look at all processes of a computer with many daemons takes long */
        pvmd_sweep(&sweep);
    if (!shared->ended)
        pvmd_address_file_remove_dead(shared->address_path, shared->socket_path);
    _exit(0);
}

/* ---- the daemon ---- */

static int share(void)
{
    void *memory =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return errno;
    shared = memory;
    shared->grace_us = pvmc_config_us(PVMC_SETTING_END_TIMEOUT);
    return 0;
}

/* 0 or an errno. */
static int start(void)
{
    int fds[2], error = shared ? 0 : share();
    if (!error && pipe2(fds, O_CLOEXEC))
        error = errno;
    if (error)
        return error;
    sweeper = fork();
    if (sweeper == 0)
        run(fds[0]);
    error = sweeper < 0 ? errno : 0;
    close(fds[0]);
    if (error)
        close(fds[1]);
    else
        lifeline = fds[1];
    return error;
}

void pvmd_sweeper_start(void)
{
    int error = start();
    if (error)
        pvmc_log(PVMC_LOG_ERROR, "cannot start the sweeper: %s; processes of tasks may outlive this daemon",
                 strerror(error));
}

static void restart(EV_P_ ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events;
    pvmd_sweeper_start();
    pvmd_sweeper_watch();
}

static void on_end(EV_P_ ev_child *watcher, int events)
{
    (void)events;
    ev_child_stop(EV_A_ watcher);
    close(lifeline);
    lifeline = -1;
    pvmc_log(PVMC_LOG_WARNING, "replacing the sweeper, process %d: it has ended", (int)watcher->rpid);
    ev_timer_init(&later, restart, RESTART_S, 0.);
    ev_timer_start(EV_A_ & later);
}

void pvmd_sweeper_watch(void)
{
    if (lifeline < 0)
        return;
    ev_child_init(&ended, on_end, sweeper, 0);
    ev_child_start(pvmd.loop, &ended);
}

void pvmd_sweeper_know_files(const char *address_path, const char *socket_path)
{
    if (!shared)
        return;
    shared->grace_us = pvmc_config_us(PVMC_SETTING_END_TIMEOUT); /* the master's, in a slave */
    snprintf(shared->address_path, sizeof shared->address_path, "%s", address_path);
    snprintf(shared->socket_path, sizeof shared->socket_path, "%s", socket_path);
}

void pvmd_sweeper_know_draft(const char *path)
{
    if (shared)
        snprintf(shared->draft_path, sizeof shared->draft_path, "%s", path);
}

static void set_known(pid_t pid, enum pvmd_known how)
{
    if (shared && pid > 0 && pid < PVMD_PIDS_MAX)
        shared->known[pid] = (uint8_t)how;
}

void pvmd_sweeper_expect(void)
{
    if (shared)
        shared->has_started = true;
}

void pvmd_sweeper_started(pid_t pid)
{
    pvmd_sweeper_expect();
    set_known(pid, PVMD_STARTED);
}

void pvmd_sweeper_told(pid_t pid)
{
    if (shared && pid > 0 && pid < PVMD_PIDS_MAX && shared->known[pid])
        shared->known[pid] = PVMD_TOLD;
}

void pvmd_sweeper_ended(pid_t pid)
{
    set_known(pid, PVMD_UNKNOWN);
}

void pvmd_sweeper_begin(void)
{
    if (shared)
        shared->ended = true;
    if (lifeline >= 0)
        close(lifeline);
    lifeline = -1;
}
