/*
 * job.h - jobs: the tasks of one spawn command, and what they and their children print.
 *
 * A job's output comes as messages in the console's context, with a tag of the job's own. A job is over when each of
 * its tasks has ended its output; a task whose host is lost counts as ended.
 */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stdio.h>

enum job_style {
    JOB_NUMBERED, /* "[1:t40001] text", EOF lines, and "[1] finished" at the end */
    JOB_TIDS,     /* "[t40001] text" */
    JOB_PLAIN,    /* the text alone */
};

struct job;

/* A new job whose output goes to stdout. The tasks that are spawned next belong to it. NULL when memory is out. */
struct job *job_new(enum job_style style);

/* Sends the job's output to a file, which is closed with the job. */
void job_redirect(struct job *job, FILE *out);

/*
 * Traces the job's tasks: to `file`, which is closed with the job, or, NULL, to stdout. `only_there`: what they print
 * is part of the trace and goes nowhere else. False: memory is out.
 */
bool job_trace_to(struct job *job, FILE *file, bool only_there);

/* The current receive buffer is a trace message of the job with that number. */
void job_trace(int number);

int job_number(const struct job *job);

/* pvm_spawn() returned: these tasks (n may be 0: the job is given up) were started. The job may be over and freed now.
 */
void job_launched(struct job *job, const int *tids, int n);

/* The current receive buffer is output of the job with that number. */
void job_output(int number);

/* The receive buffer tells that a host is gone: its tasks print no more. */
void job_host_deleted(void);

/* Whether any job runs. */
bool job_any(void);

/* Calls with each task of each running job, by job and tid. */
void job_each(void (*each)(int number, const int *tids, int n, void *arg), void *arg);

/* Tasks that were lost with their hosts, in all jobs so far. */
int job_tasks_lost(void);

/* Frees all. The tasks go on. */
void job_forget_all(void);

#endif
