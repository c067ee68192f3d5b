/*
 * paje.h - writes a trace in Paje's format, for ViTE, pj_dump and similar tools.
 */
#ifndef PAJE_H
#define PAJE_H

#include <stdio.h>
#include "tools/pvm-trace/pairs.h"

/* Containers machine, host and task; a state per call, a link per message, variables for messages in flight. */
void paje_write(FILE *f, const struct timeline *t, const struct pairs *p);

#endif
