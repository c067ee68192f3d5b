/* plot.h - draws the points of a report as curves, by gnuplot. */
#ifndef PERF_PLOT_H
#define PERF_PLOT_H

#include <stddef.h>

struct plot;

/*
 * Starts gnuplot, which will write an SVG picture to `path`. Returns NULL with the reason in why[size] if the file
 * cannot be written or gnuplot is missing. Called before anything is measured. plot_close() frees it.
 */
struct plot *plot_open(const char *path, char *why, size_t size);

/* The texts of title and axes. x_doubles: the x axis is logarithmic. y_grows: so is the y axis. */
void plot_axes(struct plot *p, const char *title, const char *x_label, const char *y_label, int x_doubles, int y_grows);

/* A curve with n points; n may be 0. Called after plot_axes(). */
void plot_curve(struct plot *p, const char *name, const double *x, const double *y, int n);

/* Draws all curves. 0, or -1 after a message on stderr; the file is then not complete. */
int plot_close(struct plot *p);

#endif
