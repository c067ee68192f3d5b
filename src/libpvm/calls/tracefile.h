/*
 * tracefile.h - PVM_TRACE: the trace of a whole program goes into one file (doc/tracing.md). A task that was started by
 * hand takes the collector that writes this file for its trace destination, and starts one (pvm-trace collect) if there
 * is none. Tasks that it spawns inherit the destination as usual.
 */
#ifndef PVMI_TRACEFILE_H
#define PVMI_TRACEFILE_H

/* Called at the end of enrolment. Failures are logged, and the program runs without a trace. */
void pvmi_tracefile_enrolled(void);

/* Called when the task is about to leave: logs what the collector could not write. */
void pvmi_tracefile_leaving(void);

#endif
