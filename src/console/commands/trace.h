/* trace.h - the trace mask of spawned tasks, and names of events. */
#ifndef TRACE_H
#define TRACE_H

/* The i-th name in alphabetical order; NULL after the last. */
const char *trace_event_name(int i);

/* Sets the default trace mask for spawned tasks. Called after enrolment. */
void trace_set_up(void);

#endif
