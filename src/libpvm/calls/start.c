/* start.c - pvm_start_pvmd: starts a daemon of this user on this host, and waits until tasks can reach it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/place/address.h"
#include "libpvm/base/call.h"
#include "libpvm/base/perror.h"
#include "core/place/program.h"
#include "enrol.h"

#define ARGUMENTS_MAX 1024

struct start {
    char program[PATH_MAX];
    char **argv;  /* for exec, ends with NULL */
    int out[2];   /* pipe: the daemon's standard output */
    int fault[2]; /* pipe: errno of a failed exec */
};

/* Gives up the terminal of the session, if it has one. False: cannot. */
static bool leave_terminal(void)
{
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal < 0)
        return errno == ENXIO;
    bool left = !ioctl(terminal, TIOCNOTTY);
    close(terminal);
    return left;
}

/*
 * Leaves what the keyboard and the end of the terminal send signals to, but stays in the session if it can: Linux may
 * share the processors between sessions first, and then the daemon's tasks could not yield to ours.
 */
static void leave_job(void)
{
    if (!leave_terminal())
        setsid();
    else
        setpgid(0, 0);
}

/* Becomes the daemon: not our child, without a terminal, with its standard output connected to us until it is ready. */
static void become_daemon(const struct start *s)
{
    leave_job();
    if (fork())
        _exit(0);
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(s->out[1], STDOUT_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC); /* otherwise a caller's pipe would never end */
    execv(s->program, s->argv);
    int error = errno;
    ssize_t written = write(s->fault[1], &error, sizeof error);
    _exit(written > 0 ? 1 : 2);
}

static void close_end(int pipe_ends[2], int end)
{
    if (pipe_ends[end] >= 0)
        close(pipe_ends[end]);
    pipe_ends[end] = -1;
}

static int check_fault(struct start *s)
{
    int error = 0;
    close_end(s->fault, 1);
    if (read(s->fault[0], &error, sizeof error) != sizeof error)
        return 0; /* exec has closed it */
    pvmc_log(PVMC_LOG_ERROR, "cannot run %s: %s", s->program, strerror(error));
    return PvmCantStart;
}

/* Reads the line with the daemon's address. With `to_end`, also waits until the daemon closes its output. */
static int await_ready(const struct start *s, bool to_end, int64_t deadline_us)
{
    char line[PVMC_ADDRESS_PATH_BYTES];
    size_t have = 0;
    bool ready = false;
    for (;;) {
        struct pollfd fd = {.fd = s->out[0], .events = POLLIN};
        int64_t left_us = deadline_us - pvmc_clock_us();
        if (left_us <= 0) {
            pvmc_log(PVMC_LOG_ERROR, "%s did not get ready in time; PVM_START_TIMEOUT sets the limit", s->program);
            return PvmCantStart;
        }
        if (poll(&fd, 1, (int)(left_us / 1000) + 1) < 1)
            continue;
        ssize_t n = read(s->out[0], line + have, sizeof line - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return ready ? 0 : PvmCantStart; /* its standard error has the reason */
        ready = ready || memchr(line + have, '\n', n);
        have = have + n < sizeof line ? have + n : 0;
        if (ready && !to_end)
            return 0;
    }
}

static int start_daemon(struct start *s, bool to_end)
{
    int64_t deadline_us = pvmc_clock_us() + pvmc_config_us(PVMC_SETTING_START_TIMEOUT);
    pid_t child = fork();
    if (child < 0) {
        pvmc_log(PVMC_LOG_ERROR, "cannot fork: %s", strerror(errno));
        return PVMC_ESYSTEM;
    }
    if (!child)
        become_daemon(s);
    close_end(s->out, 1);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    int rc = check_fault(s);
    return rc ? rc : await_ready(s, to_end, deadline_us);
}

static int run(struct start *s, bool to_end)
{
    s->out[0] = s->out[1] = s->fault[0] = s->fault[1] = -1;
    int rc = pipe2(s->out, O_CLOEXEC) || pipe2(s->fault, O_CLOEXEC) ? PVMC_ESYSTEM : start_daemon(s, to_end);
    for (int end = 0; end < 2; end++) {
        close_end(s->out, end);
        close_end(s->fault, end);
    }
    return rc;
}

/* Whether a daemon takes connections. */
static bool daemon_runs(void)
{
    char path[PVMC_ADDRESS_PATH_BYTES], why[2 * PVMC_ADDRESS_PATH_BYTES + 256];
    if (pvmi_task.state == PVMI_TASK_IN)
        return true;
    return !pvmc_address_find(path, why, sizeof why) && pvmc_address_listener(path) != 0;
}

static int start(int argc, char **argv, bool block)
{
    struct start s;
    char *arguments[ARGUMENTS_MAX + 2] = {s.program};
    if (argc < 0 || argc > ARGUMENTS_MAX || (argc && !argv))
        return PVMC_EPARAM;
    if (pvmi_task.state == PVMI_TASK_LOST)
        return PVMC_EDOWN;
    if (daemon_runs())
        return PvmDupHost;
    if (pvmc_program_find("pvmd3", s.program, sizeof s.program)) {
        pvmc_log(PVMC_LOG_ERROR, "found no pvmd3 in %s/lib, nor beside this program, nor in PATH; set PVM_ROOT",
                 pvmc_config_root());
        return PvmCantStart;
    }
    if (argc)
        memcpy(arguments + 1, argv, argc * sizeof *argv);
    s.argv = arguments;
    return run(&s, block);
}

int pvm_start_pvmd(int argc, char **argv, int block)
{
    PVMI_BEGIN(TEV_START_PVMD, PVMI_INT(BF, block), PVMI_STRINGS(AS, argv, argv && argc > 0 ? argc : 0));
    int rc = pvmi_return("pvm_start_pvmd", start(argc, argv, block));
    PVMI_END(TEV_START_PVMD, PVMI_INT(CC, rc));
    return rc;
}
