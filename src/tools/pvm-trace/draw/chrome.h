/*
 * chrome.h - writes a trace for Chrome's and Perfetto's viewers (trace event format, JSON).
 */
#ifndef CHROME_H
#define CHROME_H

#include <stdio.h>
#include "tools/pvm-trace/pairs.h"

/* A process per host, a track per task, a slice per call with its arguments and results, an arrow per message, and
 * counters of messages in flight. */
void chrome_write(FILE *f, const struct timeline *t, const struct pairs *p);

#endif
