/* runner.h - runs the points of an experiment in processes, as many at once as wanted. */
#ifndef SWEEP_RUNNER_H
#define SWEEP_RUNNER_H

#include "table.h"

enum { SWEEP_WORKERS_MAX = 1024 };

struct sweep_order {
    unsigned workers;                                                         /* at once */
    bool (*wants)(const struct sweep_experiment *e, size_t point, void *arg); /* NULL: all points */
    void *arg;
    bool progress; /* a line on stderr that shows how far it is */
};

struct sweep_outcome {
    size_t points, done, failed; /* points that were wanted; those with all results; those without, after a message */
    bool stopped;                /* by SIGINT or SIGTERM */
};

/*
 * Runs all wanted points and fills in the table. A run that fails is told on stderr with its variables, and the others
 * go on. A signal ends all runs, and the points that are done stay. Returns 0, or PVMC_ESYSTEM (logged): nothing ran.
 */
int sweep_run_all(struct sweep_table *table, const struct sweep_order *order, struct sweep_outcome *outcome);

#endif
