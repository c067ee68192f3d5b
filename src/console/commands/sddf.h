/*
 * sddf.h - writes trace messages (pvmtev(7)) in SDDF, the text format of PVM's tracers: each kind of event is described
 * once, and each event is one line.
 */
#ifndef SDDF_H
#define SDDF_H

#include <stdbool.h>
#include <stdio.h>

struct sddf;

/*
 * A trace, which starts with the date and the machine's hosts. It is written to `file`, which it closes, or, if that is
 * NULL, to stdout with the job's number before each line. NULL when out of memory.
 */
struct sddf *sddf_new(int job, FILE *file);

/*
 * Writes the events of the trace message in the current receive buffer. Calls task(arg, tid, ended) for each start or
 * end of a task. False when the message is malformed; events before the error are written.
 */
bool sddf_message(struct sddf *s, void (*task)(void *arg, int tid, bool ended), void *arg);

/* Writes output of a task, or a state of its output, as an event. */
void sddf_output(struct sddf *s, int tid, const char *text, size_t length);

void sddf_free(struct sddf *s);

#endif
