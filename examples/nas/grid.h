/*
 * grid.h - one level of MG's grids at one task, and the operators of its V-cycle.
 *
 * A level has n x n x n points and is periodic. It is cut into slabs of whole planes, and each task has one slab.
 * Around them lie the points of the next ones: a plane below and one above, and in each plane a row and a column at
 * each side.
 */
#ifndef NAS_GRID_H
#define NAS_GRID_H

#include <stddef.h>

struct grid {
    int n;
    int first, planes; /* of this task */
    double *at;        /* (planes + 2) x (n + 2) x (n + 2) */
};

/* All points are 0. */
struct grid grid_new(int n, int first, int planes);
void grid_free(struct grid *g);
void grid_clear(struct grid *g);

/* Plane p of the slab, from -1 to g->planes, with the points around it. */
double *grid_plane(const struct grid *g, int p);

/* Sets the points at the sides of all inner planes from the opposite ones. */
void grid_wrap(struct grid *g);

void grid_copy_plane(struct grid *g, int from, int to);

/* The operators. They read the points around a slab, and set only those inside, unless they say otherwise. */
void grid_residual(const struct grid *u, const struct grid *v, struct grid *r); /* r = v - A u; r may be v */
void grid_smooth(const struct grid *r, struct grid *u);                         /* u += S r */

/* coarse = restricted fine, for the planes of coarse from `begin` to end - 1, counted from the first of all. */
void grid_restrict(const struct grid *fine, struct grid *coarse, int begin, int end);

/* fine += interpolated coarse, also around the slab of fine. coarse has at least the planes that these need. */
void grid_interpolate(const struct grid *coarse, struct grid *fine);

double grid_squares(const struct grid *g); /* their sum */

#endif
