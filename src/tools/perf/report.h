/* report.h - what pvm-perf prints: a table, row by row as it is measured, or JSON at the end. */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "options.h"
#include "team.h"

enum { SERIES_MAX = TRANSPORTS_MAX * ENCODING_COUNT };

/* A column: the same points in one encoding over one transport. */
struct series {
    const char *transport; /* value of PVM_TRANSPORT */
    int encoding;
    const struct team_link *link; /* what was really used; filled before the first row, again before the end */
};

struct row {
    int tasks, queued, bytes;
    struct outcome outcomes[SERIES_MAX];
};

struct report;

/* o and series[count] stay the caller's and must outlive the report. Exits when out of memory, as all here. */
struct report *report_open(const struct options *o, const struct series *series, int count);

/* A row is complete. */
void report_row(struct report *r, const struct row *row);

/* Prints what is left and frees the report. */
void report_close(struct report *r);

#endif
