/*
 * pde2 - PDE2 of the GENESIS suite: multigrid for Poisson's equation in two dimensions.
 *
 * Solves -(u_xx + u_yy) = f on the unit square, with u = 0 on its edges. The finest grid has n x n meshes; each coarser
 * one has half as many in both directions. Full multigrid: it begins on the coarsest grid, and takes each solution to
 * the next finer grid, where V-cycles improve it. A V-cycle relaxes (red-black Gauss-Seidel), solves for the correction
 * on the next coarser grid, adds it and relaxes again.
 *
 * Each of px x py tasks has the same part of the square on all grids. After every step that changes values the tasks
 * exchange the sides of their parts with the neighbours. A part of m x m meshes has m + 1 points on a side, so most
 * messages, those of the coarse grids, are very short.
 *
 *   y1  h  h  h  h  h  h  h       A part owns its points x0 .. x1 - 1 and y0 .. y1 - 1. The halo is one line of points
 *       o  o  o  o  o  o  h       on each side (h). A message has all points of a line from y0 to y1, or x0 to x1. The
 *       o  o  o  o  o  o  h       last of them belongs to a third task, and nobody uses it: a corner of the halo counts
 *   y0  o  o  o  o  o  o  h       only in the interpolation of red points, which are relaxed next.
 *      x0               x1
 *
 * The right side f is a sum of products of sines. So the solution of the differential equation is known, and that of
 * the equations of the grid. --verify compares with both, and with the same computation by one task alone.
 *
 * Shows   many short messages, one computation on several grids.
 * Run     ./pde2 --class S --tasks 4 --verify
 * Prints  times, messages, the largest error. Exit status 1 if --verify finds it wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../kernels/options.h"
#include "../kernels/team.h"

enum { LEVELS_MAX = 16, MODES = 3 };
enum { CYCLES = 4, SWEEPS_BEFORE = 2, SWEEPS_AFTER = 1 }; /* V-cycles on each grid, and their relaxations */
enum { LEFT, RIGHT, LOWER, UPPER, SIDES };                /* side i of a part touches side i ^ 1 of its neighbour */

/* One product of sines in the solution: amplitude * sin(a pi x) sin(b pi y). */
struct mode {
    double amplitude;
    int a, b;
};

static const struct mode modes[MODES] = {{1, 1, 1}, {0.5, 2, 3}, {-0.25, 5, 2}};

static const struct class
{
    char letter;
    int n; /* meshes of the finest grid in each direction, a power of two */
} classes[] = {{'S', 32}, {'T', 256}, {'W', 2048}, {'A', 4096}};

/* A part of one grid. */
struct grid {
    int n;
    int x0, x1, y0, y1; /* own points [x0, x1) x [y0, y1); those of index 0 are on the edge of the square */
    size_t row;         /* distance from one row of the arrays to the next; they begin at (x0 - 1, y0 - 1) */
    double *u, *f;      /* solution; h^2 times the right side */
    double *out[SIDES], *in[SIDES];
};

/* A part of the square on all grids, and the tasks that have its neighbours: ranks, -1 for none. */
struct part {
    int levels;
    struct grid grids[LEVELS_MAX]; /* the coarsest first */
    int neighbours[SIDES];
    double sums[LEVELS_MAX]; /* of the values after the first V-cycle on each grid, see weighted_sum() */
};

static double *numbers(size_t count)
{
    return team_alloc((long)count, sizeof(double));
}

/* ---- grids ---- */

static size_t at(const struct grid *g, int i, int j)
{
    return (size_t)(j - g->y0 + 1) * g->row + (i - g->x0 + 1);
}

/* The first inner point of those from `first`: index 0 is on the edge of the square. */
static int inner(int first)
{
    return first > 0 ? first : 1;
}

/* mx x my meshes in column x and row y of the parts. */
static void make_grid(struct grid *g, int n, int mx, int my, int x, int y)
{
    *g = (struct grid){.n = n, .x0 = x * mx, .x1 = (x + 1) * mx, .y0 = y * my, .y1 = (y + 1) * my, .row = mx + 2};
    g->u = numbers(g->row * (my + 2));
    g->f = numbers(g->row * (my + 2));
    for (int s = 0; s < SIDES; s++) {
        g->out[s] = numbers((s < LOWER ? my : mx) + 1);
        g->in[s] = numbers((s < LOWER ? my : mx) + 1);
    }
}

/* The number of parts in x that makes them as square as possible; `parts` is a power of two. */
static int parts_in_x(int parts)
{
    int px = 1;

    while (px * px < parts)
        px *= 2;
    return px;
}

/* Part `number` of so many; the task of the first one has the rank `first_rank`. A host, number -1, has no points. The
 * coarsest grid has `coarsest` meshes in a direction. */
static void make_part(struct part *p, int n, int coarsest, int number, int parts, int first_rank)
{
    int px = parts_in_x(parts), py = parts / px, x = number % px, y = number / px, rank = first_rank + number;

    *p = (struct part){.neighbours = {-1, -1, -1, -1}};
    for (int m = coarsest; m <= n; m *= 2)
        make_grid(&p->grids[p->levels++], m, number < 0 ? 0 : m / px, number < 0 ? 0 : m / py, x, y);
    if (number < 0)
        return;
    p->neighbours[LEFT] = x > 0 ? rank - 1 : -1;
    p->neighbours[RIGHT] = x < px - 1 ? rank + 1 : -1;
    p->neighbours[LOWER] = y > 0 ? rank - px : -1;
    p->neighbours[UPPER] = y < py - 1 ? rank + px : -1;
}

static void free_part(struct part *p)
{
    for (int l = 0; l < p->levels; l++) {
        free(p->grids[l].u);
        free(p->grids[l].f);
        for (int s = 0; s < SIDES; s++) {
            free(p->grids[l].out[s]);
            free(p->grids[l].in[s]);
        }
    }
}

/* ---- exchange ---- */

static void copy_line(double *to, size_t to_step, const double *from, size_t from_step, int count)
{
    for (int k = 0; k < count; k++)
        to[k * to_step] = from[k * from_step];
}

static void exchange(const struct part *p, const struct grid *g)
{
    const int mx = g->x1 - g->x0, my = g->y1 - g->y0;
    const int count[SIDES] = {my + 1, my + 1, mx + 1, mx + 1};
    const size_t step[SIDES] = {g->row, g->row, 1, 1};
    const size_t edge[SIDES] = {at(g, g->x0, g->y0), at(g, g->x1 - 1, g->y0), at(g, g->x0, g->y0),
                                at(g, g->x0, g->y1 - 1)};
    const size_t halo[SIDES] = {at(g, g->x0 - 1, g->y0), at(g, g->x1, g->y0), at(g, g->x0, g->y0 - 1),
                                at(g, g->x0, g->y1)};
    struct team_side sides[SIDES];

    for (int s = 0; s < SIDES; s++) {
        bool there = p->neighbours[s] >= 0;
        sides[s] = (struct team_side){p->neighbours[s], there ? g->out[s] : NULL, there ? g->in[s] : NULL, count[s]};
        if (there)
            copy_line(g->out[s], 1, g->u + edge[s], step[s], count[s]);
    }
    team_exchange(0, TEAM_DOUBLE, sides, SIDES);
    for (int s = 0; s < SIDES; s++)
        if (p->neighbours[s] >= 0)
            copy_line(g->u + halo[s], step[s], g->in[s], 1, count[s]);
}

/* ---- steps of a cycle ---- */

/* Relaxes the points with (i + j) % 2 == colour. */
static void relax(const struct grid *g, int colour)
{
    for (int j = inner(g->y0); j < g->y1; j++) {
        int begin = inner(g->x0);
        double *u = g->u + at(g, begin, j);
        const double *f = g->f + at(g, begin, j);
        for (int i = (begin + j + colour) & 1; i < g->x1 - begin; i += 2)
            u[i] = 0.25 * (u[i - 1] + u[i + 1] + u[i - (long)g->row] + u[i + (long)g->row] + f[i]);
    }
}

static void smooth(const struct part *p, const struct grid *g, int sweeps)
{
    for (int k = 0; k < 2 * sweeps; k++) {
        relax(g, k % 2);
        exchange(p, g);
    }
}

/*
 * The right side of the next coarser grid is the residual by half weighting: half a point's own and an eighth of its
 * four neighbours'. Those are black and have just been relaxed, so theirs is 0. A coarse mesh is twice as wide: h^2
 * brings a factor of four.
 */
static void restrict_residual(const struct grid *fine, const struct grid *coarse)
{
    memset(coarse->u, 0, coarse->row * (coarse->y1 - coarse->y0 + 2) * sizeof *coarse->u);
    for (int j = inner(coarse->y0); j < coarse->y1; j++)
        for (int i = inner(coarse->x0); i < coarse->x1; i++) {
            const double *u = fine->u + at(fine, 2 * i, 2 * j);
            double around = u[-1] + u[1] + u[-(long)fine->row] + u[fine->row];
            coarse->f[at(coarse, i, j)] = 2 * (fine->f[at(fine, 2 * i, 2 * j)] + around - 4 * u[0]);
        }
}

/* Adds the coarse grid's solution to the fine grid's, linearly between the coarse points. */
static void add_interpolated(const struct grid *coarse, const struct grid *fine)
{
    for (int j = inner(fine->y0); j < fine->y1; j++) {
        const double *low = coarse->u + at(coarse, coarse->x0, j / 2), *high = low + (j % 2) * coarse->row;
        double *u = fine->u + at(fine, fine->x0, j);
        for (int i = 0; i < coarse->x1 - coarse->x0; i++) {
            double here = 0.5 * (low[i] + high[i]), next = 0.5 * (low[i + 1] + high[i + 1]);
            u[2 * i] += here; /* 0 at the edge of the square */
            u[2 * i + 1] += 0.5 * (here + next);
        }
    }
}

/* ---- multigrid ---- */

/* The coarsest grid has few points: so many sweeps are as good as a solution. */
static void solve_coarsest(const struct part *p)
{
    smooth(p, &p->grids[0], 2 * p->grids[0].n);
}

static void cycle(const struct part *p, int level)
{
    const struct grid *g = &p->grids[level], *coarse = g - 1;

    if (level == 0) {
        solve_coarsest(p);
        return;
    }
    smooth(p, g, SWEEPS_BEFORE);
    restrict_residual(g, coarse);
    cycle(p, level - 1);
    add_interpolated(coarse, g);
    exchange(p, g);
    smooth(p, g, SWEEPS_AFTER);
}

/* ---- the problem ---- */

static double square(double x)
{
    return x * x;
}

/* sin(waves * pi * index / n), as an array over index 0 .. n. */
static double *sines(int waves, int n)
{
    double *s = numbers(n + 1);

    for (int i = 0; i <= n; i++)
        s[i] = sin(waves * M_PI * i / n);
    return s;
}

/* Adds the product of sines of a mode, times `factor`, to `values`, an array like u. */
static void add_mode(const struct grid *g, double *values, const struct mode *m, double factor)
{
    double *in_x = sines(m->a, g->n), *in_y = sines(m->b, g->n);

    for (int j = inner(g->y0); j < g->y1; j++) {
        double *row = values + at(g, g->x0, j);
        for (int i = inner(g->x0); i < g->x1; i++)
            row[i - g->x0] += factor * in_y[j] * in_x[i];
    }
    free(in_x);
    free(in_y);
}

/* h^2 f = -h^2 (u_xx + u_yy) for a mode with amplitude 1. */
static double source_factor(const struct mode *m, int n)
{
    return square(M_PI / n) * (square(m->a) + square(m->b));
}

/* What the grid's equations make of a mode with amplitude 1. */
static double matrix_factor(const struct mode *m, int n)
{
    return 4 * square(sin(m->a * M_PI / 2 / n)) + 4 * square(sin(m->b * M_PI / 2 / n));
}

static void set_source(const struct grid *g)
{
    memset(g->f, 0, g->row * (g->y1 - g->y0 + 2) * sizeof *g->f);
    for (int k = 0; k < MODES; k++)
        add_mode(g, g->f, &modes[k], modes[k].amplitude * source_factor(&modes[k], g->n));
}

/* A sum over the points that `part` has of this grid, each with another weight. */
static double weighted_sum(const struct grid *g, const struct grid *part)
{
    double sum = 0;

    for (int j = inner(part->y0); j < part->y1; j++)
        for (int i = inner(part->x0); i < part->x1; i++)
            sum += g->u[at(g, i, j)] * (2.0 * g->n + i + 0.3 * j);
    return sum;
}

/* Full multigrid. If there is a `watched` part, notes sums of its points: later cycles make up for an error in early
 * ones, so the end does not show it. */
static void solve(struct part *p, const struct part *watched)
{
    set_source(&p->grids[0]);
    solve_coarsest(p);
    for (int level = 1; level < p->levels; level++) {
        set_source(&p->grids[level]);
        add_interpolated(&p->grids[level - 1], &p->grids[level]);
        exchange(p, &p->grids[level]);
        for (int k = 0; k < CYCLES; k++) {
            cycle(p, level);
            if (watched && k == 0)
                p->sums[level] = weighted_sum(&p->grids[level], &watched->grids[level]);
        }
    }
}

/* ---- what must come out ---- */

static void raise_to(double *largest, double value)
{
    if (!(value <= *largest)) /* also for a NaN */
        *largest = value;
}

/* The largest difference of the finest grid's solution from the one with these amplitudes. */
static double difference(const struct grid *g, const double *amplitude)
{
    double *expected = numbers(g->row * (g->y1 - g->y0 + 2)), largest = 0;

    for (int k = 0; k < MODES; k++)
        add_mode(g, expected, &modes[k], amplitude[k]);
    for (int j = inner(g->y0); j < g->y1; j++)
        for (int i = inner(g->x0); i < g->x1; i++)
            raise_to(&largest, fabs(g->u[at(g, i, j)] - expected[at(g, i, j)]));
    free(expected);
    return largest;
}

/* The amplitudes of the solution of the differential equation, or of the grid's equations. */
static void amplitudes(double *amplitude, int n, int of_grid)
{
    for (int k = 0; k < MODES; k++)
        amplitude[k] = modes[k].amplitude * (of_grid ? source_factor(&modes[k], n) / matrix_factor(&modes[k], n) : 1);
}

/* The most that these two can differ. */
static double error_bound(int n)
{
    double exact[MODES], grid[MODES], bound = 0;

    amplitudes(exact, n, 0);
    amplitudes(grid, n, 1);
    for (int k = 0; k < MODES; k++)
        bound += fabs(exact[k] - grid[k]);
    return bound;
}

/* The same by this task alone: the largest difference of points in its part at the end, or of the sums, relatively. */
static double difference_from_alone(const struct part *p)
{
    const struct grid *own = &p->grids[p->levels - 1], *all;
    struct part alone;
    double largest = 0;

    make_part(&alone, own->n, p->grids[0].n, 0, 1, 0);
    solve(&alone, p);
    all = &alone.grids[alone.levels - 1];
    for (int j = inner(own->y0); j < own->y1; j++)
        for (int i = inner(own->x0); i < own->x1; i++)
            raise_to(&largest, fabs(own->u[at(own, i, j)] - all->u[at(all, i, j)]));
    for (int level = 1; level < p->levels; level++)
        raise_to(&largest, fabs(p->sums[level] - alone.sums[level]) / (fabs(alone.sums[level]) + 1));
    free_part(&alone);
    return largest;
}

/* ---- the program ---- */

/* What a task reports to the first one: differences from the solution, the grid's solution, the same alone. */
enum { SOLUTION, GRID, ALONE, RESULTS };
enum { TAG_RESULTS = SIDES };

/* All orders of the same relaxation give the same numbers; some compilers round products differently in vectors. */
#define ALONE_MAX 1e-13

/* Memory and links are used for the first time before the clock starts. */
static void warm_up(const struct part *p)
{
    team_warm_up();
    cycle(p, p->levels - 1);
    for (int level = 0; level < p->levels; level++) {
        const struct grid *g = &p->grids[level];
        memset(g->u, 0, g->row * (g->y1 - g->y0 + 2) * sizeof *g->u);
        memset(g->f, 0, g->row * (g->y1 - g->y0 + 2) * sizeof *g->f);
    }
}

/* The first task gets the largest of each result; a NaN is larger than any number. */
static void collect(double *results)
{
    double others[RESULTS];

    if (team_rank() > 0)
        team_send(0, TAG_RESULTS, TEAM_DOUBLE, results, RESULTS);
    for (int task = 1; team_rank() == 0 && task < team_size(); task++) {
        team_receive(task, TAG_RESULTS, TEAM_DOUBLE, others, RESULTS);
        for (int r = 0; r < RESULTS; r++)
            raise_to(&results[r], others[r]);
    }
}

/* Prints the result: 0, or 1 if --verify finds it wrong. */
static int print(const struct options *options, const double *results, int n, int grids, double time_s)
{
    double bound = error_bound(n), grid_bound = 0.01 * bound;
    bool right = results[SOLUTION] <= bound + grid_bound && results[GRID] <= grid_bound && results[ALONE] <= ALONE_MAX;

    printf("pde2 class %c: %d tasks, %d^2 meshes, %d grids, %.4f s, error %.3e of at most %.3e%s\n", options->class,
           team_size(), n, grids, time_s, results[SOLUTION], bound,
           !options->verify ? ""
           : right          ? ": correct"
                            : ": WRONG");
    if (options->verify)
        printf("difference from the solution of the equations %.1e of at most %.1e, from one task alone %.1e of %.0e\n",
               results[GRID], grid_bound, results[ALONE], ALONE_MAX);
    return options->verify && !right;
}

static void measure(const struct part *p, double *results)
{
    const struct grid *finest = &p->grids[p->levels - 1];
    double exact[MODES], grid[MODES];

    amplitudes(exact, finest->n, 0);
    amplitudes(grid, finest->n, 1);
    results[SOLUTION] = difference(finest, exact);
    results[GRID] = difference(finest, grid);
}

/* The coarsest grid has a mesh for each part, and an inner point. */
static int coarsest_of(int parts)
{
    return parts_in_x(parts) > 2 ? parts_in_x(parts) : 2;
}

/* In class T, as in the programs of GENESIS, the first task is a host that computes nothing itself. */
static int hosts_of(char class, int tasks)
{
    return class == 'T' && tasks > 1 ? 1 : 0;
}

static int run(const struct options *options, int n)
{
    int hosts = hosts_of(options->class, team_size()), parts = team_size() - hosts, status = 0;
    double results[RESULTS] = {0}, time_s;
    struct part part;

    team_broadcast(TEAM_INT, &n, 1);
    make_part(&part, n, coarsest_of(parts), team_rank() - hosts, parts, hosts);
    if (options->class != 'T')
        warm_up(&part);
    team_clock_start();
    solve(&part, options->verify ? &part : NULL);
    collect(results); /* the program has messages with results; ours are known only after the clock */
    time_s = team_clock_stop();
    measure(&part, results);
    if (options->verify && team_rank() >= hosts)
        results[ALONE] = difference_from_alone(&part);
    collect(results);
    if (team_rank() == 0)
        status = print(options, results, n, part.levels, time_s);
    if (options->stats)
        team_report();
    free_part(&part);
    return status;
}

static int size_of_class(char letter)
{
    const struct class *class = classes;

    while (class->letter != letter)
        class ++;
    return class->n;
}

static int default_tasks(char class)
{
    return class == 'T' ? 5 : 4;
}

/* A part has at least one mesh of each grid. */
static bool class_allows(char class, int tasks)
{
    int parts = tasks - hosts_of(class, tasks);

    return options_power_of_two(parts) && coarsest_of(parts) <= size_of_class(class);
}

static const struct kernel kernel = {
    .purpose = "GENESIS PDE2: Poisson's equation in two dimensions by multigrid.",
    .classes = "SWAT",
    .class_help =
        "S (32^2 meshes), W (2048^2), A (4096^2), T (256^2: the messages of the thesis with 5 tasks, of which "
        "the first is a host)",
    .tasks_help = "a power of two; in class T one more",
    .default_tasks = default_tasks,
    .class_allows = class_allows,
};

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv, &kernel);

    team_start(argc, argv, options.tasks);
    return team_end(run(&options, size_of_class(options.class)));
}
