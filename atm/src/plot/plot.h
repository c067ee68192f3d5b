/* plot.h - figures as SVG, drawn by gnuplot: one style for all, which colour-blind people can read. */
#ifndef PVMA_PLOT_H
#define PVMA_PLOT_H

#include <stdbool.h>
#include <stdio.h>

struct plot_axes {
    const char *title, *x, *y;
    bool log_x, log_y;
    bool bytes; /* x with a logarithm: in powers of two, such as 4 Ki */
};

enum plot_mark {
    PLOT_LINE, /* small points, joined: x and y */
    PLOT_BARS, /* the same with confidence intervals: x, y and the ends */
    PLOT_RING, /* large and hollow, not joined: x and y */
};

/* Whether there is a gnuplot. */
bool plot_is_possible(void);

/* Starts gnuplot; NULL after a message on stderr. */
FILE *plot_open(void);

/* Begins the figure that is written to `path`. */
void plot_begin(FILE *gnuplot, const char *path, const struct plot_axes *axes);

/*
 * Announces a curve; `number`, from 1, chooses colour and mark. `first`: of its figure. After the last one call
 * plot_data(), then for each curve in this order write its points, a line each, and call plot_curve_end().
 */
void plot_curve(FILE *gnuplot, bool first, unsigned number, enum plot_mark mark, const char *name);
void plot_data(FILE *gnuplot);
void plot_curve_end(FILE *gnuplot);

/* Draws everything. Returns 0, or -1 after a message on stderr. */
int plot_close(FILE *gnuplot);

#endif
