/* workload.h - what runs at a point of an experiment, and its results. */
#ifndef SWEEP_WORKLOAD_H
#define SWEEP_WORKLOAD_H

#include "point.h"

/* The results of a run. */
struct sweep_results {
    double values[SWEEP_COLUMNS_MAX]; /* by column; NAN: this run has none */
    double warmup_us;                 /* of a load, what was left out */
};

/* Checks the workload's line, its results, and the topology of each point. Returns 0, or PVMC_EFORMAT (logged). */
int sweep_workload_check(const struct sweep_experiment *e);

/* Does once, before the runs of an experiment, what all of them need. */
void sweep_workload_prepare(const struct sweep_experiment *e);

/*
 * Runs once, in a process of its own, with a folder for files. Returns 0, or a PVMC_E code after messages to the log
 * that say why there are no results.
 */
int sweep_workload_run(struct sweep_run *run, const char *folder, struct sweep_results *results);

/* The unit of a column; "" if it has none. */
const char *sweep_workload_unit(const struct sweep_experiment *e, size_t column);

/* ---- the kinds of workloads, for workload.c ---- */

int sweep_load_run(const struct sweep_run *run, struct sweep_results *results);
int sweep_load_check(const struct sweep_run *run); /* at one point */

int sweep_program_run(const struct sweep_run *run, const char *folder, struct sweep_results *results);

int sweep_model_run(const struct sweep_run *run, struct sweep_results *results);
int sweep_model_check(const struct sweep_run *run);
void sweep_model_prepare(const struct sweep_experiment *e);
const char *sweep_model_unit(const struct sweep_experiment *e, const char *column); /* NULL: not one of its results */
const char *sweep_model_results(const struct sweep_experiment *e);                  /* their names, for messages */

/* The text of a point's topology; NULL: there is none, or *error is set (logged). *name is for messages. Free both. */
char *sweep_topology_text(const struct sweep_run *run, char **name, int *error);

#endif
