/*
 * trace.h - what this daemon tells the trace destination of a task: that it is there, who spawned it, how it ended
 * (events newtask, spntask, endtask of pvmtev(7)). Tasks tell of their calls themselves.
 */
#ifndef PVMD_TRACE_H
#define PVMD_TRACE_H

#include "tasks.h"

/* A task has been started here, or has chosen its trace destination by itself. */
void pvmd_trace_new(const struct pvmd_task *task);

/* A task that was spawned from here has been started somewhere; `to` is its trace destination. */
void pvmd_trace_spawned(const struct pvmd_collector *to, pvmi_tid tid, int32_t parent);

/* A task of this host ends. */
void pvmd_trace_end(const struct pvmd_task *task);

void pvmd_trace_stop(void);

#endif
