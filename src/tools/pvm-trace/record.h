/*
 * record.h - a trace file of dpvm, line by line; doc/tracing.md describes it. Written by the collector, read by
 * reader.c.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdio.h>
#include "event.h"

#define RECORD_VERSION 1

/* Each writes one line. Whether all got there is found by ferror() and fflush(). */
void record_begin(FILE *f, int64_t now_us);
void record_host(FILE *f, int tid, const char *name, const char *arch, int64_t offset_us);
void record_task(FILE *f, int tid, int parent, int host, const char *name);
void record_event(FILE *f, const struct event *e);
void record_end(FILE *f, int64_t events, int64_t lost_messages);

/* A text in quotes, as JSON wants it; what is not UTF-8 becomes '?'. */
void record_text(FILE *f, const char *text);

/* The data of an event, as "DST":262148,"MC":7: with a comma before each when `comma`. */
void record_fields(FILE *f, const struct event *e, bool comma);

#endif
