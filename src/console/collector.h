/*
 * collector.h - the console and PVM_TRACE or a registered tracer: programs that the console starts are traced, the
 * console itself is not. libpvm starts the collector (doc/tracing.md) when the console enrols.
 */
#ifndef COLLECTOR_H
#define COLLECTOR_H

#include <stdbool.h>

/* Whether spawned tasks are traced to a file. */
bool collector_wanted(void);

/* Turns off events of the console itself. Called before enrolment if collector_wanted(), and after it. */
void collector_spare_console(void);

/* Traces tasks spawned from now on to that file or tracer, or not at all without. First called before any "spawn -@".
 */
void collector_trace_spawned(void);

/* Waits, for at most 10 seconds, until the collector has written the whole trace of a program that has ended. */
void collector_await(void);

#endif
