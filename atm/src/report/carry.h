/* carry.h - brings what an experiment has filled in from the process that ran it to another. */
#ifndef PVMA_CARRY_H
#define PVMA_CARRY_H

#include <stdio.h>
#include "report.h"

/* Writes what is filled in. Return 0, or -1 if the file could not be written or read to its end. */
int carry_out(const struct report *report, FILE *file);

/* Reads it into the report from whose process the writer was forked, after report_begin(). */
int carry_in(struct report *report, FILE *file);

/* Reads the result of the null model: its rows and verdicts become the null side of these. */
int carry_in_null(struct report *report, FILE *file);

/* Reads what real programs gave: their rows and verdicts, each with its null model. */
int carry_in_programs(struct report *report, FILE *file);

#endif
