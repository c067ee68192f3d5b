/* point.h - the points of an experiment: each combination of the values that vary. */
#ifndef SWEEP_POINT_H
#define SWEEP_POINT_H

#include "experiment.h"

/* One run at one point. */
struct sweep_run {
    const struct sweep_experiment *experiment;
    size_t point;
    uint32_t replication; /* from 1 */
    uint64_t seed;
    const char *topology; /* path of the point's topology; NULL: none */
};

/* The number of combinations, also of those that are left out. */
size_t sweep_point_count(const struct sweep_experiment *e);

/* The value of a variable at a point, in which other variables are not yet replaced. The first one varies slowest. */
const char *sweep_point_value(const struct sweep_experiment *e, size_t point, size_t variable);

bool sweep_point_holds(const struct sweep_experiment *e, size_t point, const struct sweep_condition *condition);

/* Whether a `skip` line leaves the point out. */
bool sweep_point_is_skipped(const struct sweep_experiment *e, size_t point);

/* Runs at a point: those of the last `replications` line that holds there. At most at any point. */
uint32_t sweep_point_replications(const struct sweep_experiment *e, size_t point);
uint32_t sweep_replications_most(const struct sweep_experiment *e);

/* "size=64 host=hp": what varies. */
void sweep_point_format(const struct sweep_experiment *e, size_t point, char *text, size_t size);

/*
 * Replaces $name and ${name} by values at the run's point; $$ is a dollar sign, as is one before anything but a letter.
 * Returns a new text, or NULL if it would become longer than SWEEP_TEXT_MAX. Also known: seed, replication, topology.
 */
char *sweep_substitute(const struct sweep_run *run, const char *text);

/* The first name after a dollar sign that is no variable, and its length; NULL: all are. */
const char *sweep_unknown_name(const struct sweep_experiment *e, const char *text, size_t *length);

#endif
