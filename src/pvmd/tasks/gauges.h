/* gauges.h - the gauges that tasks of this host show: see core/message/gauges.h. */
#ifndef PVMD_GAUGES_H
#define PVMD_GAUGES_H

#include <stdbool.h>
#include "core/message/gauges.h"

/* Of one task. */
struct pvmd_gauges;

/*
 * Those that a task has passed as this descriptor (-1: none) on enrolment; it stays the caller's. NULL: memory is out,
 * or that of the task is not what gauges.h of the core says.
 */
struct pvmd_gauges *pvmd_gauges_open(int fd);

/* The task leaves the machine: what it has counted stays in the sums. NULL: does nothing. */
void pvmd_gauges_close(struct pvmd_gauges *g);

/* A copy of what the task shows now. False, and zeros: g is NULL. */
bool pvmd_gauges_read(const struct pvmd_gauges *g, struct pvmc_gauges *out);

/* The messages of all tasks of this host by that route, also of those that have left. */
struct pvmc_gauges_route pvmd_gauges_sum(enum pvmc_gauges_route_index route);

#endif
