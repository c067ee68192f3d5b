/*
 * trace.h - the daemon's own trace events for a task's trace destination: newtask, spntask and endtask of pvmtev(7).
 * Tasks send the events of their calls themselves.
 */
#ifndef PVMD_TRACE_H
#define PVMD_TRACE_H

#include "tasks.h"

/* A task has been started here, or has chosen its trace destination itself. */
void pvmd_trace_new(const struct pvmd_task *task);

/* A task that was spawned from here has been started somewhere; `to` is its trace destination. */
void pvmd_trace_spawned(const struct pvmd_collector *to, pvmc_tid tid, int32_t parent);

/* A task of this host has ended. */
void pvmd_trace_task_ends(const struct pvmd_task *task);

void pvmd_trace_stop(void);

#endif
