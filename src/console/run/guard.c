/* guard.c - see guard.h. Each message to the guard is two ints: a kind and a number. */
#include "guard.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pvm3.h"

enum kind { DAEMON, MACHINE_IS_OURS, TASK, END };

struct note {
    int kind, number;
};

enum { TASKS_MAX = 1 << 18, HALTING_MS = 500, GRACE_S = 2 };

static int to_guard = -1;
static pid_t guard;

/* ---- in the guard ---- */

static struct {
    int daemon; /* pidfd; -1: unknown */
    bool machine_is_ours, end;
    int *tids;
    int count;
} told = {.daemon = -1};

static void take_task(int tid)
{
    if (told.count == TASKS_MAX)
        return;
    int *bigger = realloc(told.tids, ((size_t)told.count + 1) * sizeof(*bigger));
    if (bigger == NULL)
        return;
    told.tids = bigger;
    told.tids[told.count++] = tid;
}

static void take_note(const struct note *note)
{
    if (note->kind == DAEMON)
        told.daemon = pidfd_open(note->number, 0);
    else if (note->kind == MACHINE_IS_OURS)
        told.machine_is_ours = true;
    else if (note->kind == TASK)
        take_task(note->number);
    else if (note->kind == END)
        told.end = true;
}

static bool is_told(int tid)
{
    for (int i = 0; i < told.count; i++)
        if (told.tids[i] == tid)
            return true;
    return false;
}

/* Adds all descendants of the known tasks. */
static void take_descendants(void)
{
    struct pvmtaskinfo *tasks;
    int n, before;

    if (pvm_tasks(0, &n, &tasks) < 0)
        return;
    do {
        before = told.count;
        for (int i = 0; i < n; i++)
            if (tasks[i].ti_ptid > 0 && is_told(tasks[i].ti_ptid) && !is_told(tasks[i].ti_tid))
                take_task(tasks[i].ti_tid);
    } while (told.count > before);
}

static void signal_tasks(int number)
{
    for (int i = 0; i < told.count; i++)
        pvm_sendsig(told.tids[i], number);
}

/* Whether the daemon runs and is not about to end, which may be why `pvm run` ended. */
static bool is_machine_there(void)
{
    struct pollfd ended = {.fd = told.daemon, .events = POLLIN};

    return told.daemon >= 0 && poll(&ended, 1, HALTING_MS) == 0;
}

static void take_away(void)
{
    if (!is_machine_there())
        return;
    pvm_setopt(PvmAutoErr, 0);
    if (told.machine_is_ours) {
        signal(SIGTERM, SIG_IGN); /* pvm_halt() sends it to every task, including this one */
        pvm_halt();
        return;
    }
    take_descendants();
    signal_tasks(SIGTERM);
    sleep(GRACE_S);
    signal_tasks(SIGKILL);
    pvm_exit();
}

/* Detaches from the caller's descriptors and terminal, so that Ctrl-C there does not end the guard. */
static void leave_caller(void)
{
    int null = open("/dev/null", O_RDWR);

    setsid();
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
}

static void run_guard(int from_run)
{
    struct note note;

    leave_caller();
    while (read(from_run, &note, sizeof(note)) == sizeof(note))
        take_note(&note);
    if (!told.end)
        take_away();
    free(told.tids);
    _exit(0);
}

/* ---- in pvm run ---- */

void guard_start(void)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    guard = fork();
    if (guard == 0) {
        close(ends[1]);
        run_guard(ends[0]);
    }
    close(ends[0]);
    if (guard < 0)
        close(ends[1]);
    else
        to_guard = ends[1];
}

static void tell(enum kind kind, int number)
{
    struct note note = {kind, number};
    ssize_t sent;

    if (to_guard < 0)
        return;
    do
        sent = send(to_guard, &note, sizeof(note), MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
}

void guard_machine(pid_t daemon, bool ours)
{
    if (daemon > 0)
        tell(DAEMON, daemon);
    if (ours)
        tell(MACHINE_IS_OURS, 0);
}

void guard_tasks(const int *tids, int n)
{
    for (int i = 0; i < n; i++)
        tell(TASK, tids[i]);
}

void guard_end(bool done)
{
    if (to_guard < 0)
        return;
    if (done)
        tell(END, 0);
    close(to_guard);
    to_guard = -1;
    waitpid(guard, NULL, 0);
}
