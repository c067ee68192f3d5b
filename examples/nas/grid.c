/* grid.c - see grid.h. Sums along a row serve three points each, so they are computed once, into a row of sums. */
#include "grid.h"
#include <stdlib.h>
#include <string.h>
#include "../kernels/team.h"

enum { ROW_MAX = 1024 + 2 };

static size_t row_length(const struct grid *g)
{
    return (size_t)g->n + 2;
}

static size_t size(const struct grid *g)
{
    return (size_t)(g->planes + 2) * row_length(g) * row_length(g);
}

struct grid grid_new(int n, int first, int planes)
{
    struct grid g = {n, first, planes, NULL};

    if (n + 2 > ROW_MAX)
        team_fail("a grid of %d x %d x %d points is too large", n, n, n);
    g.at = team_alloc((long)size(&g), sizeof *g.at);
    grid_clear(&g); /* the first use of a page takes longer, and would count as the kernel's time */
    return g;
}

void grid_free(struct grid *g)
{
    free(g->at);
    g->at = NULL;
}

void grid_clear(struct grid *g)
{
    memset(g->at, 0, size(g) * sizeof *g->at);
}

double *grid_plane(const struct grid *g, int p)
{
    return g->at + (size_t)(p + 1) * row_length(g) * row_length(g);
}

/* Row y of plane p; both may be -1. Its first element is x = -1. */
static double *row(const struct grid *g, int p, int y)
{
    return grid_plane(g, p) + (size_t)(y + 1) * row_length(g);
}

void grid_wrap(struct grid *g)
{
    size_t bytes = row_length(g) * sizeof *g->at;
    int n = g->n;

    for (int p = 0; p < g->planes; p++) {
        for (int y = 0; y < n; y++) {
            double *line = row(g, p, y);
            line[0] = line[n];
            line[n + 1] = line[1];
        }
        memcpy(row(g, p, -1), row(g, p, n - 1), bytes);
        memcpy(row(g, p, n), row(g, p, 0), bytes);
    }
}

void grid_copy_plane(struct grid *g, int from, int to)
{
    memcpy(grid_plane(g, to), grid_plane(g, from), row_length(g) * row_length(g) * sizeof *g->at);
}

/* ---- operators ---- */

/* The eight rows around a row, those that share a plane or a row number with it apart from the diagonal ones. */
struct around {
    const double *near[4], *far[4];
};

static struct around around(const struct grid *g, int p, int y)
{
    return (struct around){{row(g, p, y - 1), row(g, p, y + 1), row(g, p - 1, y), row(g, p + 1, y)},
                           {row(g, p - 1, y - 1), row(g, p - 1, y + 1), row(g, p + 1, y - 1), row(g, p + 1, y + 1)}};
}

static void add_four(const double *const rows[4], double *restrict sums, int count)
{
    const double *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];

    for (int x = 0; x < count; x++)
        sums[x] = a[x] + b[x] + c[x] + d[x];
}

/* A has the coefficients -8/3 at the point, 0 at its faces, 1/6 at its edges and 1/12 at its corners. */
static void residual_row(const double *restrict u, const double *v, const double *restrict near,
                         const double *restrict far, double *r, int n)
{
    for (int x = 1; x <= n; x++)
        r[x] = v[x] + 8.0 / 3.0 * u[x] - 1.0 / 6.0 * (far[x] + near[x - 1] + near[x + 1]) -
               1.0 / 12.0 * (far[x - 1] + far[x + 1]);
}

void grid_residual(const struct grid *u, const struct grid *v, struct grid *r)
{
    double near[ROW_MAX], far[ROW_MAX];

    for (int p = 0; p < u->planes; p++)
        for (int y = 0; y < u->n; y++) {
            struct around rows = around(u, p, y);
            add_four(rows.near, near, u->n + 2);
            add_four(rows.far, far, u->n + 2);
            residual_row(row(u, p, y), row(v, p, y), near, far, row(r, p, y), u->n);
        }
}

/* S has -3/8 at the point, 1/32 at its faces, -1/64 at its edges and 0 at its corners. */
static void smooth_row(const double *restrict r, const double *restrict near, const double *restrict far,
                       double *restrict u, int n)
{
    for (int x = 1; x <= n; x++)
        u[x] += -3.0 / 8.0 * r[x] + 1.0 / 32.0 * (r[x - 1] + r[x + 1] + near[x]) -
                1.0 / 64.0 * (far[x] + near[x - 1] + near[x + 1]);
}

void grid_smooth(const struct grid *r, struct grid *u)
{
    double near[ROW_MAX], far[ROW_MAX];

    for (int p = 0; p < r->planes; p++)
        for (int y = 0; y < r->n; y++) {
            struct around rows = around(r, p, y);
            add_four(rows.near, near, r->n + 2);
            add_four(rows.far, far, r->n + 2);
            smooth_row(row(r, p, y), near, far, row(u, p, y), r->n);
        }
}

/* A coarse point lies on the second of each two fine ones. */
static void restrict_row(const double *restrict center, const double *restrict near, const double *restrict far,
                         double *restrict coarse, int n)
{
    for (int x = 1; x <= n; x++) {
        int i = 2 * x;
        coarse[x] = 0.5 * center[i] + 0.25 * (center[i - 1] + center[i + 1] + near[i]) +
                    0.125 * (near[i - 1] + near[i + 1] + far[i]) + 0.0625 * (far[i - 1] + far[i + 1]);
    }
}

void grid_restrict(const struct grid *fine, struct grid *coarse, int begin, int end)
{
    double near[ROW_MAX], far[ROW_MAX];

    for (int plane = begin; plane < end; plane++)
        for (int y = 0; y < coarse->n; y++) {
            int p = 2 * plane + 1 - fine->first, line = 2 * y + 1;
            struct around rows = around(fine, p, line);
            add_four(rows.near, near, fine->n + 2);
            add_four(rows.far, far, fine->n + 2);
            restrict_row(row(fine, p, line), near, far, row(coarse, plane - coarse->first, y), coarse->n);
        }
}

/* Adds a row of coarse points and the means of each two to a row of fine ones. */
static void interpolate_row(const double *restrict coarse, double *restrict fine, int n, double weight)
{
    for (int x = 0; x <= n; x++) {
        fine[2 * x] += weight * coarse[x];
        fine[2 * x + 1] += weight * 0.5 * (coarse[x] + coarse[x + 1]);
    }
}

/* The coarse plane or row at, or just before, a fine one. */
static int coarse_below(int fine)
{
    return (fine + 1) / 2 - 1;
}

/*
 * A fine row with an even number lies between two coarse ones, and so does a plane. It gets the mean of the one, two or
 * four coarse rows at it.
 */
static void interpolate_into(const struct grid *coarse, const struct grid *fine, int p, int y)
{
    double sums[ROW_MAX];
    int plane = coarse_below(p + fine->first) - coarse->first, line = coarse_below(y);
    int planes = (p + fine->first) % 2 == 0 ? 2 : 1, lines = y % 2 == 0 ? 2 : 1;
    const double *a = row(coarse, plane, line), *b = row(coarse, plane, line + lines - 1);
    const double *c = row(coarse, plane + planes - 1, line), *d = row(coarse, plane + planes - 1, line + lines - 1);

    if (planes * lines == 1) {
        interpolate_row(a, row(fine, p, y), coarse->n, 1);
    } else if (planes * lines == 2) {
        for (int x = 0; x <= coarse->n + 1; x++)
            sums[x] = a[x] + d[x];
        interpolate_row(sums, row(fine, p, y), coarse->n, 0.5);
    } else {
        for (int x = 0; x <= coarse->n + 1; x++)
            sums[x] = a[x] + b[x] + c[x] + d[x];
        interpolate_row(sums, row(fine, p, y), coarse->n, 0.25);
    }
}

void grid_interpolate(const struct grid *coarse, struct grid *fine)
{
    for (int p = -1; p <= fine->planes; p++)
        for (int y = -1; y <= fine->n; y++)
            interpolate_into(coarse, fine, p, y);
}

double grid_squares(const struct grid *g)
{
    double sum = 0;

    for (int p = 0; p < g->planes; p++)
        for (int y = 0; y < g->n; y++) {
            const double *line = row(g, p, y);
            for (int x = 1; x <= g->n; x++)
                sum += line[x] * line[x];
        }
    return sum;
}
