/*
 * collector.h - the console and PVM_TRACE: the programs that it starts are traced, it is not. libpvm has started the
 * collector (doc/tracing.md) when the console enrolled.
 */
#ifndef COLLECTOR_H
#define COLLECTOR_H

#include <stdbool.h>

/* Whether what we spawn goes into a trace file. */
bool collector_wanted(void);

/* No events of our own. Called before enrolment. */
void collector_spare_console(void);

/* What is spawned from now on goes there, or, without PVM_TRACE, is not traced. First called before any "spawn -@". */
void collector_trace_spawned(void);

/* Waits until the collector has written all of a program that has ended, up to some seconds. */
void collector_await(void);

#endif
