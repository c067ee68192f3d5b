/*
 * reader.h - reads a trace file: of our collector, or of PVM's program tracer (SDDF).
 */
#ifndef READER_H
#define READER_H

#include <stdio.h>
#include "trace.h"

/*
 * Reads all of it into an empty trace; while a collector still writes the file, waits for its end up to a few seconds.
 * Lines that are damaged are counted and left out. 0, or -1 after a message that says what is wrong with the file.
 */
int reader_read(const char *path, struct trace *t);

/* The rest of `f` as each format; 0, or -1 when it is nothing of the kind. `path` is for messages. */
int reader_read_lines(FILE *f, const char *path, struct trace *t);
int reader_read_sddf(FILE *f, const char *path, struct trace *t);

#endif
