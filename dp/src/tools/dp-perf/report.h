/* report.h - figures as a table, as JSON, as lines for scripts, and as a plot. */
#ifndef REPORT_H
#define REPORT_H

#include "measure.h"
#include "model.h"

void report_points(const struct options *o, const struct wire *wire, const struct point *points, int count);
void report_model(const struct options *o, const struct wire *wire, const struct model *model);

/* Draw the figures into o->plot. Return the exit status; failures are reported. */
int plot_points(const struct options *o, const struct point *points, int count);
int plot_model(const struct options *o, const struct model *model);

#endif
