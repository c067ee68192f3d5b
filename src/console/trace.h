/* trace.h - names of the events that can be traced. */
#ifndef TRACE_H
#define TRACE_H

/* The i-th name, in alphabetical order; NULL behind the last. */
const char *trace_event_name(int i);

/* Gives the tasks that the console spawns the default trace mask. Called once connected. */
void trace_set_up(void);

#endif
