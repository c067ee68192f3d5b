/*
 * sddf.h - trace messages (pvmtev(7)) as text in the form of PVM's tracers, SDDF: each kind of event is described once,
 * and then each event is a line.
 */
#ifndef SDDF_H
#define SDDF_H

#include <stdbool.h>
#include <stdio.h>

struct sddf;

/*
 * A trace, which begins with its date and the machine's hosts. To `file`, which is closed with it, or, NULL, to stdout
 * with the job's number before each line. NULL: memory is out.
 */
struct sddf *sddf_new(int job, FILE *file);

/*
 * The current receive buffer is a trace message: writes its events. Calls task(arg, tid, ended) for each task that it
 * tells of the begin or end of. False: the message, or its rest, cannot be read.
 */
bool sddf_message(struct sddf *s, void (*task)(void *arg, int tid, bool ended), void *arg);

/* What a task has printed, or a word about its output, as an event. */
void sddf_output(struct sddf *s, int tid, const char *text, size_t length);

void sddf_free(struct sddf *s);

#endif
