/*
 * chrome.h - a trace as Chrome's and Perfetto's viewers load it (trace event format, JSON).
 */
#ifndef CHROME_H
#define CHROME_H

#include <stdio.h>
#include "pairs.h"

/* A process per host, a track per task, a slice per call with what it was given and gave, an arrow per message, and
 * counters of what is under way. */
void chrome_write(FILE *f, const struct timeline *t, const struct pairs *p);

#endif
