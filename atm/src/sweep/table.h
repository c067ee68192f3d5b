/* table.h - the results of all runs of an experiment, in the order of its points. */
#ifndef SWEEP_TABLE_H
#define SWEEP_TABLE_H

#include <stdio.h>
#include "statistics.h"
#include "workload.h"

struct sweep_table {
    const struct sweep_experiment *experiment;
    size_t points;
    uint32_t most;                 /* runs of a point */
    struct sweep_results *results; /* point * most + replication - 1 */
    bool *done;                    /* of each run */
};

void sweep_table_begin(struct sweep_table *table, const struct sweep_experiment *e);
void sweep_table_end(struct sweep_table *table);

void sweep_table_put(struct sweep_table *table, const struct sweep_run *run, const struct sweep_results *results);

/* Whether all runs of a point are done. */
bool sweep_table_has(const struct sweep_table *table, size_t point);

/* A column's mean at a point that is done; NAN if a run has no such result. */
struct sweep_estimate sweep_table_estimate(const struct sweep_table *table, size_t point, size_t column);

/* Prints the points that are done, in columns for people or as CSV. */
void sweep_table_print(const struct sweep_table *table, FILE *out);
void sweep_table_csv(const struct sweep_table *table, FILE *out);

/* Where a plot is drawn. */
void sweep_table_plot_path(const struct sweep_experiment *e, size_t plot, const char *folder, char *path, size_t size);

/* Draws each plot as FOLDER/NAME-PLOT.svg. Returns 0, or -1 after a message on stderr. */
int sweep_table_draw(const struct sweep_table *table, const char *folder);

#endif
