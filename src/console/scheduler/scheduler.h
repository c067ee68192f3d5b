/*
 * scheduler.h - the job of a batch system that the console runs in. A machine that is started there takes the hosts and
 * slots of the job, and ends with it. To add a batch system, write a file like pbs.c, and a row in scheduler.c and in
 * core/place/job.c.
 */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include <stdbool.h>

/* Whether we run in a job. */
bool scheduler_is_there(void);

/*
 * Before a daemon is started: reads the hosts of the job, and sets the environment that the daemon needs. False after a
 * message if they cannot be read. True outside of jobs.
 */
bool scheduler_prepare(void);

/*
 * Adds the other hosts of the job to the machine that was started after scheduler_prepare(). May take long; SIGINT ends
 * it. False after a message if a host is missing.
 */
bool scheduler_take(void);

/* After the machine was halted: waits until what has brought its hosts is gone, for at most 10 seconds. */
void scheduler_await_end(void);

/* The command add -slurm: asks Slurm for more hosts. argv[0] is "-slurm"; the number and srun's options follow. */
int scheduler_add(int argc, char **argv);

#endif
