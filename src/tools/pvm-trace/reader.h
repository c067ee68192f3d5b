/*
 * reader.h - reads a trace file, written by our collector or by PVM's tracer (SDDF).
 */
#ifndef READER_H
#define READER_H

#include <stdio.h>
#include "trace.h"

/*
 * Reads the whole file into an empty trace. If a collector is still writing it, first waits at most 5 seconds for its
 * end. Damaged lines are skipped and counted. 0, or -1 after a message that says what is wrong with the file.
 */
int reader_read(const char *path, struct trace *t);

/* Read the rest of `f` in each format; 0, or -1 when it has another format. `path` is for messages. */
int reader_read_lines(FILE *f, const char *path, struct trace *t);
int reader_read_sddf(FILE *f, const char *path, struct trace *t);

#endif
