/*
 * setopt.h - what the daemon must know of options: destinations of output and traces, and PvmNoReset.
 */
#ifndef PVMI_SETOPT_H
#define PVMI_SETOPT_H

#include "core/buf.h"

/*
 * On enrolment, adopts the daemon's destinations for output and traces of this task. Tasks that it spawns inherit them
 * unless the program has set theirs.
 */
void pvmi_setopt_inherit(struct pvmc_buf *answer);

/* After enrolment: tells the daemon about earlier settings, such as PvmNoReset. */
void pvmi_setopt_announce(void);

/* Sends trace events of this task and of tasks it spawns to a task from now on: 0, or why the daemon was not told. */
int pvmi_setopt_trace_to(int tid, int context, int tag);

/* The same for output. */
int pvmi_setopt_output_to(int tid, int context, int tag);

/* On leaving: destinations are tasks of the machine that is left. */
void pvmi_setopt_forget(void);

#endif
