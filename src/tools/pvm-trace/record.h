/*
 * record.h - writes the lines of dpvm's trace files (doc/tracing.md), for the collector; reader.c reads them.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdio.h>
#include "event.h"

#define RECORD_VERSION 1

/* Each writes one line. Check for errors with fflush() and ferror(). */
void record_begin(FILE *f, int64_t now_us);
void record_host(FILE *f, int tid, const char *name, const char *arch, int64_t offset_us);
void record_task(FILE *f, int tid, int parent, int host, const char *name);
void record_event(FILE *f, const struct event *e);
void record_end(FILE *f, int64_t events, int64_t lost_messages);

/* Writes a text as a JSON string; if it is not valid UTF-8, all but plain ASCII becomes '?'. */
void record_text(FILE *f, const char *text);

/* Writes the fields of an event, such as "DST":262148,"MC":7; `comma` puts a comma before the first, too. */
void record_fields(FILE *f, const struct event *e, bool comma);

#endif
