/*
 * mg - the NAS kernel MG: V-cycles of the multigrid method for the Poisson equation on a periodic grid of n x n x n
 * points, with twenty charges.
 *
 * Each task has a slab of whole planes of each grid. After an operator has changed a grid, neighbours exchange the
 * planes at their borders. The coarsest grids are too small to be worth it: all tasks have them whole, and each does
 * all of the work there.
 *
 *        n      ------------------          a V-cycle: residuals are restricted down to the coarsest grid,
 *       n/2       ---            ---        and corrections interpolated and smoothed on the way up
 *        :           ---      ---
 *        2              ------
 *
 * Shows   exchanges between neighbours, with messages of very different sizes; work that all do, as messages cost more.
 * Run     ./mg --class W --tasks 4 --verify --stats
 *         Class T has the size of W, and exchanges borders after each operator, on each grid that tasks can share.
 * Prints  the norm of the last residual and the time. Exit code 1 if --verify finds it wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../kernels/options.h"
#include "../kernels/team.h"
#include "grid.h"
#include "random.h"

static const double TOLERANCE = 1e-8; /* NAS's, of the norm */
enum { SEED = 314159265, LEVELS_MAX = 10, CHARGES = 10, WHOLE_MAX = 8, TAG_BORDER = 1, TAG_CANDIDATES };

static const struct problem {
    char class;
    int eager; /* whether borders are exchanged after each operator, and grids divided as far as possible */
    int levels, cycles;
    double norm; /* as NAS gives it */
} problems[] = {
    {'S', 0, 5, 4, 0.5307707005734e-4},
    {'W', 0, 7, 4, 0.6467329375339e-5},
    {'A', 0, 8, 4, 0.2433365309069e-5},
    {'T', 1, 7, 4, 0.6467329375339e-5},
};

static const struct problem *problem_of(char class)
{
    const struct problem *p = problems;

    while (p->class != class)
        p++;
    return p;
}

static bool class_allows(char class, int tasks)
{
    return tasks <= 1 << problem_of(class)->levels;
}

static const struct kernel kernel = {
    .purpose = "NAS MG: the Poisson equation, solved by the multigrid method.",
    .classes = "SWAT",
    .class_help = "S 32x32x32, W 128x128x128, A 256x256x256; T as W, with more exchanges",
    .tasks_allowed = options_power_of_two,
    .tasks_help = "a power of two, at most the number of planes",
    .class_allows = class_allows,
};

/* Level k has 2^k planes. */
static struct {
    int eager, top;
    struct grid u[LEVELS_MAX + 1], r[LEVELS_MAX + 1]; /* correction and residual; at the top, solution and residual */
    struct grid v;                                    /* the charges */
} my;

/* ---- dividing ---- */

static int planes_of(int level)
{
    return 1 << level;
}

/* Whether all tasks have the whole grid of a level. */
static int is_whole(int level)
{
    return team_size() == 1 || planes_of(level) < team_size() || (!my.eager && planes_of(level) <= WHOLE_MAX);
}

static struct grid new_grid(int level)
{
    int n = planes_of(level), planes = is_whole(level) ? n : n / team_size();

    return grid_new(n, is_whole(level) ? 0 : planes * team_rank(), planes);
}

static void make_grids(const struct problem *problem)
{
    my.eager = problem->eager;
    my.top = problem->levels;
    for (int k = 1; k <= my.top; k++) {
        my.u[k] = new_grid(k);
        my.r[k] = new_grid(k);
    }
    my.v = new_grid(my.top);
}

static void free_grids(void)
{
    for (int k = 1; k <= my.top; k++) {
        grid_free(&my.u[k]);
        grid_free(&my.r[k]);
    }
    grid_free(&my.v);
}

/* The planes that a task can restrict to: those on its fine planes. Each task's begin where the last one's end. */
static int first_coarse_plane(int fine_level, int rank)
{
    return planes_of(fine_level) / team_size() * rank / 2;
}

/* ---- messages ---- */

/* Sets the points around a slab. */
static void exchange(struct grid *g)
{
    int last = g->planes - 1, size = team_size(), rank = team_rank(), length = (g->n + 2) * (g->n + 2);
    int below = (rank + size - 1) % size, above = (rank + 1) % size;

    grid_wrap(g);
    if (g->planes == g->n) {
        grid_copy_plane(g, last, -1);
        grid_copy_plane(g, 0, last + 1);
        return;
    }
    const struct team_side sides[] = {{below, grid_plane(g, 0), grid_plane(g, -1), length},
                                      {above, grid_plane(g, last), grid_plane(g, last + 1), length}};
    team_exchange(TAG_BORDER, TEAM_DOUBLE, sides, 2);
}

/* Makes a grid whole of which each task has restricted some planes. */
static void share_planes(struct grid *g, int fine_level)
{
    int first[TEAM_MAX + 1], length = (g->n + 2) * (g->n + 2);

    for (int r = 0; r <= team_size(); r++)
        first[r] = first_coarse_plane(fine_level, r) * length;
    team_share(TEAM_DOUBLE, grid_plane(g, 0), first);
}

/* ---- the charges ---- */

/* Some of the largest numbers of the sequence, in ascending order, and their places there. */
struct largest {
    double numbers[CHARGES], places[CHARGES];
};

static void insert(struct largest *l, double number, double place)
{
    int i = 0;

    if (!(number > l->numbers[0]))
        return;
    for (; i + 1 < CHARGES && l->numbers[i + 1] < number; i++) {
        l->numbers[i] = l->numbers[i + 1];
        l->places[i] = l->places[i + 1];
    }
    l->numbers[i] = number;
    l->places[i] = place;
}

/* Those of the part of the sequence that belongs to this task's points: of the numbers, and of their negatives. */
static void find_extremes(struct largest extremes[2])
{
    const struct grid *v = &my.v;
    long count = (long)v->planes * v->n * v->n, begin = (long)v->first * v->n * v->n;
    uint64_t state = random_after(SEED, (uint64_t)begin);

    for (int i = 0; i < CHARGES; i++)
        extremes[0].numbers[i] = extremes[1].numbers[i] = -2;
    for (long i = begin; i < begin + count; i++) {
        double number = random_next(&state);
        insert(&extremes[0], number, (double)i);
        insert(&extremes[1], -number, (double)i);
    }
}

/* The same of the whole sequence. */
static void share_extremes(struct largest extremes[2])
{
    int doubles = (int)(2 * sizeof *extremes / sizeof(double)), size = team_size(), first[TEAM_MAX + 1];
    struct largest *all = team_alloc(size, 2 * sizeof *all), *mine = all + 2 * team_rank();

    for (int r = 0; r <= size; r++)
        first[r] = r * doubles;
    mine[0] = extremes[0], mine[1] = extremes[1];
    team_share(TEAM_DOUBLE, all, first);
    for (int r = 0; r < 2 * size; r++)
        for (int i = 0; r / 2 != team_rank() && i < CHARGES; i++)
            insert(&extremes[r % 2], all[r].numbers[i], all[r].places[i]);
    free(all);
}

/* Sets v to 1 at the places of the largest numbers and to -1 at those of the smallest. */
static void place_charges(void)
{
    struct largest extremes[2];

    find_extremes(extremes);
    share_extremes(extremes);
    for (int i = 0; i < 2 * CHARGES; i++) {
        long place = (long)extremes[i / CHARGES].places[i % CHARGES], n = my.v.n;
        int p = (int)(place / (n * n)) - my.v.first;
        if (p >= 0 && p < my.v.planes)
            grid_plane(&my.v, p)[(place / n % n + 1) * (n + 2) + place % n + 1] = i / CHARGES == 0 ? 1 : -1;
    }
    if (my.eager)
        exchange(&my.v);
}

/* ---- the V-cycle ---- */

static void restrict_to(int level)
{
    int whole = is_whole(level + 1);
    int begin = whole ? 0 : first_coarse_plane(level + 1, team_rank());
    int end = whole ? planes_of(level) : first_coarse_plane(level + 1, team_rank() + 1);

    grid_restrict(&my.r[level + 1], &my.r[level], begin, end);
    if (is_whole(level) && !whole)
        share_planes(&my.r[level], level + 1);
    exchange(&my.r[level]);
}

static void interpolate_to(int level)
{
    grid_interpolate(&my.u[level - 1], &my.u[level]);
    if (my.eager)
        exchange(&my.u[level]); /* which has the points around its slab already */
}

static void residual(int level)
{
    grid_residual(&my.u[level], level == my.top ? &my.v : &my.r[level], &my.r[level]);
    exchange(&my.r[level]);
}

static void smooth(int level)
{
    grid_smooth(&my.r[level], &my.u[level]);
    exchange(&my.u[level]);
}

static void cycle(void)
{
    for (int k = my.top - 1; k >= 1; k--)
        restrict_to(k);
    for (int k = 1; k < my.top; k++)
        grid_clear(&my.u[k]);
    smooth(1);
    for (int k = 2; k <= my.top; k++) {
        interpolate_to(k);
        residual(k);
        smooth(k);
    }
    residual(my.top);
}

static double norm(void)
{
    double n = planes_of(my.top), squares = grid_squares(&my.r[my.top]);

    team_sum(TEAM_DOUBLE, &squares, 1);
    return sqrt(squares / (n * n * n));
}

/* ---- main ---- */

static void warm_up(void)
{
    team_warm_up();
    residual(my.top);
    cycle();
    grid_clear(&my.u[my.top]);
}

static double solve(const struct problem *problem)
{
    residual(my.top);
    norm();
    for (int i = 0; i < problem->cycles; i++)
        cycle();
    return norm();
}

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv, &kernel);
    const struct problem *problem = problem_of(options.class);
    double last, time_s;
    bool right;

    team_start(argc, argv, options.tasks);
    make_grids(problem);
    place_charges();
    if (options.class != 'T')
        warm_up();
    team_clock_start();
    last = solve(problem);
    time_s = team_clock_stop();
    right = fabs(last - problem->norm) <= TOLERANCE * problem->norm;
    if (team_rank() == 0)
        printf("mg class %c: %d tasks, %.4f s, norm of the last residual %.13e%s\n", options.class, team_size(), time_s,
               last,
               !options.verify ? ""
               : right         ? ": correct"
                               : ": WRONG");
    if (options.stats)
        team_report();
    free_grids();
    return team_end(options.verify && !right);
}
