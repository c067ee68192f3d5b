/* stored.h - a file with the results of a run, with which later ones are compared. */
#ifndef PVMA_STORED_H
#define PVMA_STORED_H

#include <stdio.h>
#include "report.h"

/* Whether stored_check() and stored_write() can use the file, before a long run. Return 0, or -1 after a message. */
int stored_can_check(const char *path);
int stored_can_write(const char *path);

/*
 * Writes a line of CSV for each value of a model or a real program with its tolerance, for that of its null model, for
 * each claim and digest. The tolerance of a model's value is 0.1 %, or the half width of its confidence interval if
 * that is more. Programs are the same to the nanosecond in each run, so that of theirs is 0. Returns 0, or -1 after a
 * message on stderr.
 */
int stored_write(const struct report *const *reports, unsigned count, const char *path);

/*
 * Compares the reports with such a file and prints the differences: values beyond their stored tolerance, other
 * verdicts and digests, new and missing lines, and how to record them on purpose. With `models_only`, lines of programs
 * may be missing. Returns 0 if there are none; -1 if there are, or after a message on stderr.
 */
int stored_check(const struct report *const *reports, unsigned count, const char *path, bool models_only, FILE *out);

#endif
