/*
 * tasker - starts the tasks of this host under gdb: a task that crashes leaves a backtrace instead of nothing.
 *
 * A tasker is a task that starts processes for the daemon. It receives SM_STTASK for each, starts the program with the
 * given environment variables, which include the cookie that identifies the new task to the daemon, and sends SM_TASKX
 * when the process has ended. man pvm_reg_tasker describes the fields of both.
 *
 * Shows   pvm_reg_tasker, SM_STTASK, SM_TASKX, messages with reserved tags, wait4.
 * Build   cc -o tasker tasker.c $(pkg-config --cflags --libs pvm3)
 * Run     ./tasker                     every task of this host runs under gdb, from now on
 *         ./tasker valgrind -q         under another command that takes a program and its arguments
 *         ./tasker env                 unchanged
 *         It runs until it is interrupted (Ctrl-C) or the machine halts.
 * Prints  each start and end, gdb's output, and the output of the tasks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pvm3.h>
#include <pvmproto.h>

enum { WORDS_MAX = 256, TEXT_BYTES = 65536, TASKS_MAX = 1024 };

/* Prints a backtrace if the program crashed, and ends with the program's exit code. */
static char *const gdb[] = {"gdb",
                            "-nx",
                            "-q",
                            "-batch",
                            "-return-child-result",
                            "-iex",
                            "set startup-with-shell off",
                            "-iex",
                            "set debuginfod enabled off",
                            "-ex",
                            "run",
                            "-ex",
                            "thread apply all -s bt",
                            "--args",
                            NULL};

static char *const *wrapper = gdb; /* the command under which programs are started */

/* The running tasks. */
static struct task {
    pid_t pid;
    int tid, daemon;
} tasks[TASKS_MAX];

/* Unpacks a text. It is never freed: only a child that is about to exec another program reads more than one. */
static char *unpack_text(void)
{
    char *text = malloc(TEXT_BYTES);
    if (!text || pvm_upkstr(text) < 0)
        exit(1);
    return text;
}

/* In the child: reads the rest of SM_STTASK and executes the program. */
static void run_program(void)
{
    char *argv[WORDS_MAX + 1], *path = unpack_text();
    int argc = 0, count;
    while (wrapper[argc] && argc < WORDS_MAX / 2) {
        argv[argc] = wrapper[argc];
        argc++;
    }
    pvm_upkint(&count, 1, 1);
    for (int i = 0; i < count; i++) {
        char *word = unpack_text();
        if (argc < WORDS_MAX)
            argv[argc++] = i ? word : path; /* the first argument is the path again */
    }
    argv[argc] = NULL;
    pvm_upkint(&count, 1, 1);
    for (int i = 0; i < count; i++)
        putenv(unpack_text());
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

/* Reports to the daemon that asked. Times are seconds and microseconds of user and system time. */
static void report_end(int daemon, int tid, int status, const struct rusage *used)
{
    int values[6] = {tid, status};
    if (used) {
        values[2] = (int)used->ru_utime.tv_sec;
        values[3] = (int)used->ru_utime.tv_usec;
        values[4] = (int)used->ru_stime.tv_sec;
        values[5] = (int)used->ru_stime.tv_usec;
    }
    pvm_initsend(PvmDataDefault);
    pvm_pkint(values, 6, 1);
    pvm_send(daemon, SM_TASKX);
}

static struct task *free_place(void)
{
    for (int i = 0; i < TASKS_MAX; i++)
        if (!tasks[i].pid)
            return &tasks[i];
    return NULL;
}

static void start(int message)
{
    struct task *task = free_place();
    int tid, flags, daemon;
    pvm_bufinfo(message, NULL, NULL, &daemon);
    pvm_upkint(&tid, 1, 1);
    pvm_upkint(&flags, 1, 1);
    fflush(NULL);
    pid_t pid = task ? fork() : -1;
    if (pid == 0)
        run_program();
    if (pid < 0) {
        fprintf(stderr, "tasker: cannot start t%x\n", tid);
        report_end(daemon, tid, 255 << 8, NULL);
        return;
    }
    *task = (struct task){.pid = pid, .tid = tid, .daemon = daemon};
    printf("tasker: t%x is process %d under %s\n", tid, (int)pid, wrapper[0]);
}

static void reap(void)
{
    struct rusage used;
    int status;
    pid_t pid;
    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0)
        for (int i = 0; i < TASKS_MAX; i++)
            if (tasks[i].pid == pid) {
                printf("tasker: t%x has ended, %s %d\n", tasks[i].tid, WIFEXITED(status) ? "code" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
                report_end(tasks[i].daemon, tasks[i].tid, status, &used);
                tasks[i].pid = 0;
            }
}

int main(int argc, char **argv)
{
    struct timeval pause = {0, 100000}; /* between checks of the children */
    int message;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1)
        wrapper = argv + 1;
    if (pvm_mytid() < 0 || pvm_reg_tasker() < 0)
        return 1;
    pvm_setopt(PvmResvTids, 1); /* required to send SM messages */
    printf("tasker: ready, tasks start under %s\n", wrapper[0]);
    while ((message = pvm_trecv(-1, SM_STTASK, &pause)) >= 0) {
        if (message > 0)
            start(message);
        reap();
    }
    return 1;
}
