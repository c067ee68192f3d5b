/* jobs.h - runs experiments in processes of their own, some at a time. */
#ifndef PVMA_JOBS_H
#define PVMA_JOBS_H

#include "experiment.h"
#include "real.h"

struct job {
    struct report *report;                  /* begun; it is filled in */
    const struct real_experiment *programs; /* run these, and not `run` */
    void (*run)(struct report *report, enum experiment_part part);
    enum experiment_part part;
    bool null;      /* without a network: it fills in the null model's side of `report` instead */
    double seconds; /* filled in: how long it took */
};

/*
 * Runs all jobs, at most `at_once` at a time, in the order of the array; the first should be the longest. What they
 * fill in does not depend on at_once. Returns 0, or -1 after a message on stderr.
 */
int jobs_run(struct job *jobs, unsigned count, unsigned at_once);

#endif
