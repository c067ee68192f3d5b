/*
 * job.h - jobs: the tasks of one spawn command, and the output of these tasks and their children.
 *
 * A job's output arrives as messages in the console's context, with a tag for each job. A job is finished when all its
 * tasks have closed their output; a task whose host is lost counts as ended.
 */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stdio.h>

enum job_style {
    JOB_NUMBERED, /* "[1:t40001] text", EOF lines, and "[1] finished" at the end */
    JOB_TIDS,     /* "[t40001] text" */
    JOB_TAGS,     /* "[t40001]<stdout> text" */
    JOB_PLAIN,    /* the text alone */
};

struct job;

/* A new job with output to stdout. Tasks spawned next belong to it. NULL when out of memory. */
struct job *job_new(enum job_style style);

/*
 * What the job's tasks print on standard error goes to stderr, and status() is called with the wait status of each
 * process when it ends, before the job is finished. For tasks that are spawned with PvmTaskStreams.
 */
void job_keep_apart(struct job *job, void (*status)(int tid, int status));

/* Redirects the job's output to a file, which the job closes. */
void job_redirect(struct job *job, FILE *out);

/*
 * Traces the job's tasks to `file`, which the job closes, or to stdout if it is NULL. `only_there`: their output goes
 * only to the trace. False when out of memory.
 */
bool job_trace_to(struct job *job, FILE *file, bool only_there);

/* Handles a trace message of this job in the current receive buffer. */
void job_trace(int number);

int job_number(const struct job *job);

/* pvm_spawn() has started these tasks; n = 0 abandons the job. The job may be finished and freed on return. */
void job_launched(struct job *job, const int *tids, int n);

/* Handles an output message of this job in the current receive buffer. */
void job_output(int number);

/* Handles a notice in the receive buffer that a host is gone, and its tasks with it. */
void job_host_deleted(void);

/* Whether there are unfinished jobs. */
bool job_any(void);

/* Calls each() for every unfinished job, with its running tasks sorted by tid. */
void job_each(void (*each)(int number, const int *tids, int n, void *arg), void *arg);

/* Number of tasks lost with their hosts so far, in all jobs. */
int job_tasks_lost(void);

/* Frees all jobs. Their tasks keep running. */
void job_forget_all(void);

#endif
