/* calibrate.c - see calibrate.h. */
#include "calibrate.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"

enum { RUNS = 5 };
#define SHORTEST_S 0.05 /* starting a program takes a millisecond */

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void become(const char *command)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* Runs the command and adds up the processor time of all its processes. */
static int measure(const char *command, double *cpu_s)
{
    struct rusage usage;
    int status = 0;
    fflush(NULL);
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, nobody can wait */
    pid_t pid = fork();
    if (!pid)
        become(command);
    while (pid > 0 && wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            pid = -1;
    if (pid < 0 || status) {
        pvmc_log(PVMC_LOG_ERROR, "--calibrate: the command fails: %s", command);
        return PVMC_EPARAM;
    }
    *cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int median_s(const char *command, double *cpu_s)
{
    double all[RUNS];
    int rc = 0;
    for (int i = 0; i < RUNS && !rc; i++)
        rc = measure(command, &all[i]);
    if (rc)
        return rc;
    qsort(all, RUNS, sizeof all[0], by_size);
    *cpu_s = all[RUNS / 2];
    if (*cpu_s >= SHORTEST_S)
        return 0;
    pvmc_log(PVMC_LOG_ERROR,
             "--calibrate: %.3f s of processor time are too short to measure: let the command do its work "
             "several times, and give SECONDS for all of them",
             *cpu_s);
    return PVMC_EPARAM;
}

int pvma_calibrate(const char *text, char *factor, size_t size)
{
    char *command, why[512];
    double wanted_s = strtod(text, &command), cpu_s;
    if (*command != '=' || !command[1] || !(wanted_s > 0) || !isfinite(wanted_s)) {
        pvmc_log(PVMC_LOG_ERROR, "--calibrate=%s: give SECONDS=COMMAND, such as 64='matmul --alone'", text);
        return PVMC_EPARAM;
    }
    int rc = median_s(command + 1, &cpu_s);
    if (rc)
        return rc;
    snprintf(factor, size, "%.6f", wanted_s / cpu_s);
    if (strtod(factor, NULL) > 0 && !pvmc_config_check(PVMC_SETTING_ATM_CPU, factor, why, sizeof why))
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "--calibrate: %.3f s here cannot be %g s there", cpu_s, wanted_s);
    return PVMC_EPARAM;
}
