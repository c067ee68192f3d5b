/*
 * pde1 - PDE1 of the GENESIS suite: red-black relaxation of Poisson's equation in three dimensions.
 *
 * Solves -(u_xx + u_yy + u_zz) = f on n x n x n inner points of the unit cube, with u = 0 on its surface, by successive
 * over-relaxation with Chebyshev acceleration. The cube is cut into py x pz bars along x. Each iteration relaxes the
 * red points (x + y + z even), then the black ones. After each of these half sweeps the tasks exchange the points of
 * that colour on the sides where their bars touch.
 *
 *      z  +-----------+-----------+
 *         |           |           |     n = 64 on 2 x 2 tasks: a side has 64 x 32 points, of which 32 x 32 have
 *         |  task 2  <->  task 3  |     the colour: 8192 bytes
 *         |     ^     |     ^     |
 *         +-----|-----+-----|-----+
 *         |     v     |     v     |
 *         |  task 0  <->  task 1  |
 *         |           |           |
 *         +-----------+-----------+  y
 *
 * The two colours are kept apart, so the points that a half sweep reads and writes are next to each other in memory.
 * A row with the row parity s = 0 has its points at x = 1, 3, 5 ..., a row with s = 1 at x = 2, 4, 6 ...
 *
 * The right side f is a sum of three products of sines, so the solution is known, and also the numbers that this
 * iteration must have after any number of half sweeps: relaxation keeps the form of each product, with one factor for
 * the red points and one for the black. --verify compares all points with these numbers half way and at the end. A halo
 * that comes late once is a difference there, although the iteration would still converge.
 *
 * Shows   a decomposition in two directions, exchange of neighbours, data that are laid out for messages and caches.
 * Run     ./pde1 --class S --tasks 4 --verify
 * Prints  times, messages, the largest error. Exit status 1 if --verify finds it wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../kernels/options.h"
#include "../kernels/team.h"

enum { RED, BLACK, COLOURS };
enum { MODES = 3, WAVES_MAX = 4 };
enum { BELOW, ABOVE, FRONT, BACK, SIDES }; /* in -z, +z, -y, +y: side i of a task touches side i ^ 1 of its neighbour */

/* One product of sines in the solution: amplitude * sin(a pi x) sin(b pi y) sin(c pi z). */
struct mode {
    double amplitude;
    int a, b, c;
};

static const struct mode modes[MODES] = {{1, 1, 1, 1}, {0.5, 2, 3, 1}, {-0.25, 1, 2, 4}};

static const struct class
{
    char letter;
    int n; /* even */
    int iterations;
} classes[] = {{'S', 32, 180}, {'T', 64, 350}, {'W', 96, 520}, {'A', 160, 860}};

/* A task's bar: the whole of x, rows [y0, y1) and planes [z0, z1) of 1 .. n. */
struct bar {
    int n, half; /* points of a row, and those of one colour */
    int y0, y1, z0, z1;
    int neighbours[SIDES]; /* ranks, or -1 at the surface of the cube */
    size_t row, plane;     /* distances in the arrays from one row and plane to the next */
    double *u[COLOURS];    /* with the halo: one row and plane more on each side, one point more at each end of a row */
    double *f[COLOURS];    /* h^2 f */
    double *kept[COLOURS]; /* with --verify, u half way */
    double *out[SIDES], *in[SIDES];
};

/* What each mode's two colours amount to after the half sweeps so far. */
struct prediction {
    double amplitude[COLOURS][MODES];
};

struct course {
    struct prediction half_way, end;
};

static double *numbers(size_t count)
{
    return team_alloc((long)count, sizeof(double));
}

/* ---- the grid ---- */

/* Part `k` of `parts` begins at this one of 1 .. n. */
static int first(int k, int parts, int n)
{
    return (int)((long)k * n / parts) + 1;
}

/* The index of the first point of row (j, k), without the one before it that belongs to the halo. */
static size_t at(const struct bar *b, int j, int k)
{
    return (size_t)(k - b->z0 + 1) * b->plane + (size_t)(j - b->y0 + 1) * b->row + 1;
}

/* Whether the points of this colour in row (j, k) are those with odd x (0) or even x (1). */
static int shift(int colour, int j, int k)
{
    return (1 + j + k + colour) & 1;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void make_arrays(struct bar *b)
{
    int ny = b->y1 - b->y0, nz = b->z1 - b->z0;

    b->row = (size_t)b->half + 2;
    b->plane = b->row * (ny + 2);
    for (int colour = 0; colour < COLOURS; colour++) {
        b->u[colour] = numbers(b->plane * (nz + 2));
        b->f[colour] = numbers(b->plane * (nz + 2));
    }
    for (int side = 0; side < SIDES; side++) {
        b->out[side] = numbers((size_t)b->half * larger(ny, nz));
        b->in[side] = numbers((size_t)b->half * larger(ny, nz));
    }
}

static void free_arrays(struct bar *b)
{
    for (int colour = 0; colour < COLOURS; colour++) {
        free(b->u[colour]);
        free(b->f[colour]);
        free(b->kept[colour]);
    }
    for (int side = 0; side < SIDES; side++) {
        free(b->out[side]);
        free(b->in[side]);
    }
}

/* The number of bars in y: that makes them as square as possible. */
static int bars_in_y(int bars)
{
    int py = 1;

    for (int p = 1; p * p <= bars; p++)
        if (bars % p == 0)
            py = p;
    return py;
}

/* Bar `number` of so many. The task of the first bar has the rank `first_rank`. A host, number -1, has no points. */
static void make_bar(struct bar *b, int n, int number, int bars, int first_rank)
{
    int py = bars_in_y(bars), pz = bars / py, y = number % py, z = number / py, rank = first_rank + number;

    *b = (struct bar){.n = n, .half = n / 2, .neighbours = {-1, -1, -1, -1}};
    if (number < 0) {
        make_arrays(b);
        return;
    }
    b->y0 = first(y, py, n);
    b->y1 = first(y + 1, py, n);
    b->z0 = first(z, pz, n);
    b->z1 = first(z + 1, pz, n);
    b->neighbours[BELOW] = z > 0 ? rank - py : -1;
    b->neighbours[ABOVE] = z < pz - 1 ? rank + py : -1;
    b->neighbours[FRONT] = y > 0 ? rank - 1 : -1;
    b->neighbours[BACK] = y < py - 1 ? rank + 1 : -1;
    make_arrays(b);
}

/* ---- the problem ---- */

static double wave(int waves, int index, int n)
{
    return sin(waves * M_PI * index / (n + 1));
}

/* wave() for all waves and indices. */
static double *wave_table(int n)
{
    double *table = numbers((size_t)(WAVES_MAX + 1) * (n + 1));

    for (int waves = 1; waves <= WAVES_MAX; waves++)
        for (int i = 1; i <= n; i++)
            table[waves * (n + 1) + i] = wave(waves, i, n);
    return table;
}

/* The sum of all modes with these amplitudes at a point. */
static double sum_of_modes(const double *amplitude, const double *table, int n, int i, int j, int k)
{
    double sum = 0;

    for (int m = 0; m < MODES; m++)
        sum += amplitude[m] * table[modes[m].a * (n + 1) + i] * table[modes[m].b * (n + 1) + j] *
               table[modes[m].c * (n + 1) + k];
    return sum;
}

/* h^2 f = -h^2 (u_xx + u_yy + u_zz) for each mode. */
static double source(const struct mode *m, int n)
{
    double h = 1.0 / (n + 1);

    return m->amplitude * h * h * M_PI * M_PI * (m->a * m->a + m->b * m->b + m->c * m->c);
}

static void set_source(struct bar *b, const double *table)
{
    double amplitude[MODES];

    for (int m = 0; m < MODES; m++)
        amplitude[m] = source(&modes[m], b->n);
    for (int colour = 0; colour < COLOURS; colour++)
        for (int k = b->z0; k < b->z1; k++)
            for (int j = b->y0; j < b->y1; j++) {
                double *f = b->f[colour] + at(b, j, k);
                for (int x = 0; x < b->half; x++)
                    f[x] = sum_of_modes(amplitude, table, b->n, 2 * x + 1 + shift(colour, j, k), j, k);
            }
}

/* ---- the iteration ---- */

static void relax_row(const struct bar *b, int colour, int j, int k, double omega)
{
    size_t row = at(b, j, k);
    double *restrict u = b->u[colour] + row;
    const double *restrict f = b->f[colour] + row;
    const double *other = b->u[1 - colour] + row;
    const double *west = other - 1 + shift(colour, j, k), *east = west + 1;
    const double *front = other - b->row, *back = other + b->row;
    const double *below = other - b->plane, *above = other + b->plane;

    for (int x = 0; x < b->half; x++)
        u[x] += omega * ((west[x] + east[x] + front[x] + back[x] + below[x] + above[x] + f[x]) * (1.0 / 6) - u[x]);
}

static void relax(const struct bar *b, int colour, double omega)
{
    for (int k = b->z0; k < b->z1; k++)
        for (int j = b->y0; j < b->y1; j++)
            relax_row(b, colour, j, k, omega);
}

/* Copies `rows` rows of one colour, `distance` apart in the array, to a message or back. */
static void pack(double *message, const double *u, int rows, size_t distance, int half)
{
    for (int r = 0; r < rows; r++)
        memcpy(message + (size_t)r * half, u + r * distance, half * sizeof *u);
}

static void unpack(double *u, const double *message, int rows, size_t distance, int half)
{
    for (int r = 0; r < rows; r++)
        memcpy(u + r * distance, message + (size_t)r * half, half * sizeof *u);
}

/* The points of one colour on all sides go to the neighbours, theirs come into the halo. */
static void exchange(const struct bar *b, int colour)
{
    int ny = b->y1 - b->y0, nz = b->z1 - b->z0;
    const int rows[SIDES] = {ny, ny, nz, nz};
    const size_t distance[SIDES] = {b->row, b->row, b->plane, b->plane};
    const size_t edge[SIDES] = {at(b, b->y0, b->z0), at(b, b->y0, b->z1 - 1), at(b, b->y0, b->z0),
                                at(b, b->y1 - 1, b->z0)};
    const size_t halo[SIDES] = {at(b, b->y0, b->z0 - 1), at(b, b->y0, b->z1), at(b, b->y0 - 1, b->z0),
                                at(b, b->y1, b->z0)};
    struct team_side sides[SIDES];

    for (int s = 0; s < SIDES; s++) {
        bool there = b->neighbours[s] >= 0;
        sides[s] =
            (struct team_side){b->neighbours[s], there ? b->out[s] : NULL, there ? b->in[s] : NULL, rows[s] * b->half};
        if (there)
            pack(b->out[s], b->u[colour] + edge[s], rows[s], distance[s], b->half);
    }
    team_exchange(SIDES * colour, TEAM_DOUBLE, sides, SIDES);
    for (int s = 0; s < SIDES; s++)
        if (b->neighbours[s] >= 0)
            unpack(b->u[colour] + halo[s], b->in[s], rows[s], distance[s], b->half);
}

/* Chebyshev acceleration: the factor of the next half sweep; `half_sweeps` have been made. `rho` is the spectral radius
 * of the Jacobi iteration. */
static double next_omega(double omega, double rho, int half_sweeps)
{
    return half_sweeps == 0 ? 1 : half_sweeps == 1 ? 1 / (1 - rho * rho / 2) : 1 / (1 - rho * rho * omega / 4);
}

/* ---- what must come out ---- */

/* The mean of a mode's six neighbours is the mode itself, times this. */
static double mean_factor(const struct mode *m, int n)
{
    double angle = M_PI / (n + 1);

    return (cos(m->a * angle) + cos(m->b * angle) + cos(m->c * angle)) / 3;
}

static void predict(struct prediction *p, int colour, double omega, int n)
{
    for (int m = 0; m < MODES; m++) {
        double *own = &p->amplitude[colour][m], other = p->amplitude[1 - colour][m];
        *own += omega * (mean_factor(&modes[m], n) * other + source(&modes[m], n) / 6 - *own);
    }
}

/* The largest difference of points of this bar, now or kept, from the modes with these amplitudes. */
static double difference(const struct bar *b, double *const points[COLOURS], const double amplitude[COLOURS][MODES],
                         const double *table)
{
    double largest = 0;

    for (int colour = 0; colour < COLOURS; colour++)
        for (int k = b->z0; k < b->z1; k++)
            for (int j = b->y0; j < b->y1; j++) {
                const double *u = points[colour] + at(b, j, k);
                for (int x = 0; x < b->half; x++) {
                    int i = 2 * x + 1 + shift(colour, j, k);
                    double d = fabs(u[x] - sum_of_modes(amplitude[colour], table, b->n, i, j, k));
                    if (!(d <= largest)) /* also for a NaN */
                        largest = d;
                }
            }
    return largest;
}

/* The difference from the solution of the differential equation. */
static double solution_error(const struct bar *b, const double *table)
{
    double amplitude[COLOURS][MODES];

    for (int colour = 0; colour < COLOURS; colour++)
        for (int m = 0; m < MODES; m++)
            amplitude[colour][m] = modes[m].amplitude;
    return difference(b, b->u, (const double(*)[MODES])amplitude, table);
}

/* The most that the error can be if the equations of the grid are solved: each mode then has the factor
 * a^2 + b^2 + c^2 over its counterpart of the grid, and no mode is larger than its amplitude. */
static double error_bound(int n)
{
    double bound = 0;

    for (int m = 0; m < MODES; m++) {
        double grid = source(&modes[m], n) / 6 / (1 - mean_factor(&modes[m], n));
        bound += fabs(grid - modes[m].amplitude);
    }
    return bound;
}

/* ---- the program ---- */

/* What a task reports to the first one. */
enum { HALF_WAY, AT_END, SOLUTION, RESULTS };
enum { TAG_RESULTS = COLOURS * SIDES };
enum { WARM_UP_ITERATIONS = 4 };

/* Differences of numbers that are about 1; the rounding errors of n^3 points and their iterations are far smaller. */
#define TOLERANCE 1e-11

static size_t size_bytes(const struct bar *b)
{
    return b->plane * (b->z1 - b->z0 + 2) * sizeof(double);
}

/* Comparing points takes as long as some iterations, so it waits until the clock has stopped. */
static void keep(const struct bar *b)
{
    for (int colour = 0; colour < COLOURS; colour++)
        if (b->kept[colour])
            memcpy(b->kept[colour], b->u[colour], size_bytes(b));
}

/* Returns what must come out. */
static struct course iterate(const struct bar *b, int iterations)
{
    struct course course = {0};
    struct prediction *p = &course.end;
    double rho = cos(M_PI / (b->n + 1)), omega = 0;

    for (int i = 0; i < iterations; i++) {
        for (int colour = 0; colour < COLOURS; colour++) {
            omega = next_omega(omega, rho, COLOURS * i + colour);
            relax(b, colour, omega);
            exchange(b, colour);
            predict(p, colour, omega, b->n);
        }
        if (i == b->n / 2) {
            keep(b);
            course.half_way = *p;
        }
    }
    return course;
}

static void measure(const struct bar *b, const struct course *course, const double *table, bool verify, double *results)
{
    results[SOLUTION] = solution_error(b, table);
    if (!verify)
        return;
    results[HALF_WAY] = difference(b, b->kept, course->half_way.amplitude, table);
    results[AT_END] = difference(b, b->u, course->end.amplitude, table);
}

/* Memory and links are used for the first time before the clock starts. */
static void warm_up(const struct bar *b)
{
    team_warm_up();
    iterate(b, WARM_UP_ITERATIONS);
    keep(b);
    for (int colour = 0; colour < COLOURS; colour++)
        memset(b->u[colour], 0, size_bytes(b));
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
            if (!(others[r] <= results[r]))
                results[r] = others[r];
    }
}

/* Prints the result: 0, or 1 if --verify finds it wrong. */
static int print(const struct options *options, const double *results, int n, int iterations, double time_s)
{
    bool right = results[HALF_WAY] <= TOLERANCE && results[AT_END] <= TOLERANCE &&
                 results[SOLUTION] <= error_bound(n) + TOLERANCE;

    printf("pde1 class %c: %d tasks, %d^3 points, %d iterations, %.4f s, error %.3e of at most %.3e%s\n",
           options->class, team_size(), n, iterations, time_s, results[SOLUTION], error_bound(n),
           !options->verify ? ""
           : right          ? ": correct"
                            : ": WRONG");
    if (options->verify)
        printf("difference from what must come out: half way %.1e, at the end %.1e, of at most %.0e\n",
               results[HALF_WAY], results[AT_END], TOLERANCE);
    return options->verify && !right;
}

/* In class T, as in the programs of GENESIS, the first task is a host that computes nothing itself. */
static int hosts_of(char class, int tasks)
{
    return class == 'T' && tasks > 1 ? 1 : 0;
}

static int run(const struct options *options, const struct class *class)
{
    int hosts = hosts_of(options->class, team_size()), size[] = {class->n, class->iterations}, status = 0;
    double results[RESULTS] = {0}, time_s, *table;
    struct course course;
    struct bar bar;

    team_broadcast(TEAM_INT, size, 2);
    table = wave_table(size[0]);
    make_bar(&bar, size[0], team_rank() - hosts, team_size() - hosts, hosts);
    set_source(&bar, table);
    for (int colour = 0; options->verify && colour < COLOURS; colour++)
        bar.kept[colour] = numbers(size_bytes(&bar) / sizeof(double));
    if (options->class != 'T')
        warm_up(&bar);
    team_clock_start();
    course = iterate(&bar, size[1]);
    collect(results); /* the program has messages with results; ours are known only after the clock */
    time_s = team_clock_stop();
    measure(&bar, &course, table, options->verify, results);
    collect(results);
    if (team_rank() == 0)
        status = print(options, results, size[0], size[1], time_s);
    if (options->stats)
        team_report();
    free_arrays(&bar);
    free(table);
    return status;
}

static const struct class *class_of(char letter)
{
    const struct class *class = classes;

    while (class->letter != letter)
        class ++;
    return class;
}

static int default_tasks(char class)
{
    return class == 'T' ? 5 : 4;
}

/* No direction has more bars than rows. */
static bool class_allows(char class, int tasks)
{
    int bars = tasks - hosts_of(class, tasks);

    return bars / bars_in_y(bars) <= class_of(class)->n;
}

static const struct kernel kernel = {
    .purpose = "GENESIS PDE1: Poisson's equation in three dimensions by red-black relaxation.",
    .classes = "SWAT",
    .class_help = "S (32^3 points, 180 iterations), W (96^3, 520), A (160^3, 860), T (64^3, 350: the messages of the "
                  "thesis with 5 tasks, of which the first is a host)",
    .tasks_help = "any number that does not make more bars in a row than there are points",
    .default_tasks = default_tasks,
    .class_allows = class_allows,
};

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv, &kernel);

    team_start(argc, argv, options.tasks);
    return team_end(run(&options, class_of(options.class)));
}
