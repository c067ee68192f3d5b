/* report.h - the output of pvm-perf: a table, printed row by row as it is measured, or JSON at the end. */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "options.h"
#include "team.h"

enum { SERIES_MAX = TRANSPORTS_MAX * ENCODING_COUNT };

/* A column: all points in one encoding over one transport. */
struct series {
    const char *transport; /* value of PVM_TRANSPORT */
    int encoding;
    const struct team_link *link; /* the routes used; filled in before the first row and again at the end */
};

struct row {
    int tasks, queued, bytes;
    struct outcome outcomes[SERIES_MAX];
};

struct report;

/* The caller keeps o and series[count], which must outlive the report. All functions exit when out of memory. */
struct report *report_open(const struct options *o, const struct series *series, int count);

/* Adds a complete row. */
void report_row(struct report *r, const struct row *row);

/* Prints and draws the rest and frees the report. 0, or -1 after a message when the picture could not be drawn. */
int report_close(struct report *r);

#endif
