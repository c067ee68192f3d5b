/*
 * paje.h - a trace in Paje's format, for ViTE, pj_dump and their like.
 */
#ifndef PAJE_H
#define PAJE_H

#include <stdio.h>
#include "pairs.h"

/* Containers machine, host, task; a state per call, a link per message, variables of what is under way. */
void paje_write(FILE *f, const struct timeline *t, const struct pairs *p);

#endif
