#include "sweep.h"
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PASS_LIMIT_S = 10, END_LIMIT_S = 20, EXIT_LEAKS = 23, PASSES_MAX = 20000 };

static struct {
    struct scarcity *scarcity;
    const char *preload;
    int deaths, hangs, leaks, wrong;
    double limit_s;
} sweep;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + time.tv_nsec / 1e9;
}

static void sleep_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static void make_file(void)
{
    char path[64];
    int fd = memfd_create("scarcity", 0);
    if (fd < 0 || ftruncate(fd, sizeof(struct scarcity)) < 0)
        err(2, "memfd");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv(SCARCITY_FILE, path, 1);
    sweep.scarcity = scarcity_map();
    if (!sweep.scarcity)
        err(2, "mmap");
}

void sweep_begin(const char *preload, const char *program, int gone_ms)
{
    const char *slowness = getenv("CHECK_SLOWNESS");
    setvbuf(stdout, NULL, _IOLBF, 0);
    make_file();
    setenv(SCARCITY_PROGRAM, program, 1);
    sweep.preload = preload;
    sweep.scarcity->gone_ms = gone_ms;
    sweep.limit_s =
        getenv("SWEEP_LIMIT_S") ? atof(getenv("SWEEP_LIMIT_S")) : PASS_LIMIT_S * (slowness ? atoi(slowness) : 1);
}

pid_t sweep_start(char *const argv[], int out)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        err(2, "fork");
    if (pid)
        return pid;
    setsid();
    if (out >= 0)
        dup2(out, STDOUT_FILENO);
    setenv("LD_PRELOAD", sweep.preload, 1);
    execv(argv[0], argv);
    err(127, "%s", argv[0]);
}

void sweep_arm(void)
{
    sweep.scarcity->text[0] = '\0';
    sweep.scarcity->armed = 1;
}

bool sweep_disarm(void)
{
    bool fired = !sweep.scarcity->armed;
    sweep.scarcity->armed = 0;
    return fired;
}

static void complain(int *count, const char *where, const char *what, int detail)
{
    (*count)++;
    printf("%s: %s %d after a failure at\n%s", where, what, detail, sweep.scarcity->text);
}

/* Waits for our child. False: it has not ended in time and was killed. */
static bool wait_for(pid_t pid, double limit_s, int *status)
{
    double end = now() + limit_s;
    for (int pause_ms = 1; waitpid(pid, status, WNOHANG) == 0; pause_ms = pause_ms < 8 ? pause_ms + 1 : pause_ms) {
        if (now() > end) {
            kill(pid, SIGKILL);
            waitpid(pid, status, 0);
            return false;
        }
        sleep_ms(pause_ms);
    }
    return true;
}

static void count_end(const char *where, int status, int worst_code)
{
    if (WIFSIGNALED(status))
        complain(&sweep.deaths, where, "died of signal", WTERMSIG(status));
    else if (WEXITSTATUS(status) == EXIT_LEAKS)
        complain(&sweep.leaks, where, "leaks, exit code", WEXITSTATUS(status));
    else if (WEXITSTATUS(status) > worst_code)
        complain(&sweep.deaths, where, "exit code", WEXITSTATUS(status));
}

void sweep_wait_end(const char *name, pid_t tested, int worst_code)
{
    int status;
    if (wait_for(tested, 2 * sweep.limit_s, &status))
        count_end(name, status, worst_code);
    else
        complain(&sweep.hangs, name, "still running, seconds:", (int)(2 * sweep.limit_s));
}

static void report(const char *name, int before, double start)
{
    printf("%-12s %4d points %6.1f s\n", name, sweep.scarcity->failures - before, now() - start);
}

void sweep_program(const char *name, char *const argv[], int worst_code)
{
    int before = sweep.scarcity->failures;
    double start = now();
    do {
        sweep_arm();
        sweep_wait_end(name, sweep_start(argv, -1), worst_code);
    } while (sweep_disarm());
    report(name, before, start);
}

static pid_t fork_scenario(const struct sweep_scenario *scenario)
{
    pid_t pid = fork();
    if (pid < 0)
        err(2, "fork");
    if (!pid)
        _exit(scenario->run() ? 1 : 0);
    return pid;
}

/* Runs one pass. True: an allocation has failed. */
static bool pass(const struct sweep_scenario *scenario, pid_t *tested, pid_t (*restart)(void))
{
    int status, end, crashes = sweep.scarcity->crashes;
    sweep_arm();
    bool answered = wait_for(fork_scenario(scenario), sweep.limit_s, &status);
    bool fired = sweep_disarm();
    if (!answered)
        complain(&sweep.hangs, scenario->name, "no answer in seconds:", (int)sweep.limit_s);
    else if (WIFSIGNALED(status) || (!fired && status))
        complain(&sweep.wrong, scenario->name, "wait status without a failed allocation", status);
    bool died = waitpid(*tested, &end, WNOHANG) == *tested;
    if (died)
        complain(&sweep.deaths, scenario->name, "the program has ended with wait status", end);
    if (!died && !answered) {
        kill(*tested, SIGKILL);
        waitpid(*tested, NULL, 0);
    }
    if (!died && sweep.scarcity->crashes > crashes)
        complain(&sweep.deaths, scenario->name, "another process has died, number", sweep.scarcity->crashes);
    if (died || !answered)
        *tested = restart();
    return fired;
}

void sweep_scenario(const struct sweep_scenario *scenario, pid_t *tested, pid_t (*restart)(void))
{
    int before = sweep.scarcity->failures, passes = 0;
    double start = now();
    while (pass(scenario, tested, restart) && ++passes < PASSES_MAX)
        ;
    report(scenario->name, before, start);
}

int sweep_end(const char *name)
{
    printf("%s: %d points, %d deaths, %d hangs, %d leaks, %d other faults\n", name, sweep.scarcity->failures,
           sweep.deaths, sweep.hangs, sweep.leaks, sweep.wrong);
    return sweep.scarcity->failures == 0 || sweep.deaths + sweep.hangs + sweep.leaks + sweep.wrong > 0;
}
