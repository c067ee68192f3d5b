/*
 * processor.h - moves the thread to another processor if it shares its own while another one is idle; tells whether
 * one is spare.
 *
 * Two tasks that yield to each other on one processor may stay there for tens of milliseconds: see "How a task waits"
 * in doc/performance.md.
 */
#ifndef PVMI_PROCESSOR_H
#define PVMI_PROCESSOR_H

#include <stdbool.h>

/*
 * wait.c calls it after each yield; `taken` tells whether another process ran meanwhile. After many such yields in a
 * row it may move the thread. The set of processors on which it may run stays as it was.
 */
void pvmi_processor_yielded(bool taken);

/*
 * Whether the processors suffice for all threads that want to run, the caller among them. A look at /proc, some
 * microseconds. Called by wait.c.
 */
bool pvmi_processor_is_spare(void);

#endif
