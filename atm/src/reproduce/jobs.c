/* jobs.c - see jobs.h. */
#include <errno.h>
#include <stdio.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/clock.h"
#include "jobs.h"
#include "lab/digest.h"
#include "lab/layout.h"
#include "report/carry.h"

enum { JOBS_MAX = 64 };

/* A running job. */
struct run {
    pid_t pid;  /* > 0: it runs */
    FILE *file; /* without a name; the child writes its result into it */
    int64_t start_us;
};

/* Begins the report anew: what other jobs have filled in before this one started is not its own. */
static _Noreturn void work(const struct job *job, FILE *file)
{
    struct report *report = job->report;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    report_begin(report);
    if (job->null)
        layout_without_network();
    if (job->programs)
        real_run_both(job->programs, report);
    else
        job->run(report, job->part);
    report->digest = lab_digest();
    _exit(carry_out(report, file) == 0 ? 0 : 1);
}

static int start(struct job *job, struct run *run)
{
    run->file = tmpfile();
    run->start_us = pvmc_clock_us();
    fflush(NULL);
    run->pid = run->file ? fork() : -1;
    if (run->pid < 0) {
        fprintf(stderr, "atm-sim: cannot start an experiment: %m\n");
        if (run->file)
            fclose(run->file);
        return -1;
    }
    if (run->pid == 0)
        work(job, run->file);
    return 0;
}

static int finish(struct job *job, struct run *run, int status)
{
    int error = -1;

    rewind(run->file);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        error = job->programs ? carry_in_programs(job->report, run->file)
                : job->null   ? carry_in_null(job->report, run->file)
                              : carry_in(job->report, run->file);
    if (error)
        fprintf(stderr, "atm-sim: the experiment %s has failed\n", job->report->name);
    fclose(run->file);
    job->seconds = (double)(pvmc_clock_us() - run->start_us) / 1e6;
    run->pid = 0;
    return error;
}

/* Waits for one of the running jobs. */
static int wait_for_one(struct job *jobs, struct run *runs, unsigned count)
{
    int status;
    pid_t pid;

    do
        pid = wait(&status);
    while (pid < 0 && errno == EINTR);
    for (unsigned i = 0; i < count; i++)
        if (pid > 0 && runs[i].pid == pid)
            return finish(&jobs[i], &runs[i], status);
    return -1;
}

int jobs_run(struct job *jobs, unsigned count, unsigned at_once)
{
    static struct run runs[JOBS_MAX];
    unsigned running = 0;
    int status = 0;

    for (unsigned i = 0; i < count && i < JOBS_MAX; i++) {
        if (running == at_once) {
            status |= wait_for_one(jobs, runs, count);
            running--;
        }
        if (start(&jobs[i], &runs[i]) == 0)
            running++;
        else
            status = -1;
    }
    for (; running > 0; running--)
        status |= wait_for_one(jobs, runs, count);
    return status;
}
