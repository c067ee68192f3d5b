/*
 * perfetto.h - Perfetto's own trace format, for ui.perfetto.dev and trace_processor: what chrome.h writes, in less
 * than half of the bytes.
 */
#ifndef PERFETTO_H
#define PERFETTO_H

#include <stdio.h>
#include "tools/pvm-trace/pairs.h"

/*
 * Writes the trace: a process for each host, a thread for each task, a slice for each call with its arguments and
 * results, a flow from each send to an instant at its arrival, counters of the messages and bytes in flight.
 */
void perfetto_write(FILE *f, const struct timeline *t, const struct pairs *p);

#endif
