/*
 * stopwatch.h - the processor time that the program itself uses between two calls of the library.
 *
 * What starting and stopping cost is subtracted, and a stretch below PVMA_STOPWATCH_GRAIN_NS counts as nothing: so long
 * may a stretch without computing look when the process has just got its core, and a factor of a thousand (PVM_ATM_CPU)
 * would turn microseconds into milliseconds.
 */
#ifndef PVMA_STOPWATCH_H
#define PVMA_STOPWATCH_H

#include <stdint.h>

#define PVMA_STOPWATCH_GRAIN_NS 3000

/* The program runs from now on. Call it last. */
void pvma_stopwatch_start(void);

/* Returns the nanoseconds that the program has used since the start; 0 if the stopwatch is not running. Call it first.
 */
int64_t pvma_stopwatch_stop(void);

#endif
