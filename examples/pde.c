/*
 * pde - Laplace's equation on the unit square: p x p tasks, each with a block of the grid, exchange block borders.
 *
 * Solves u_xx + u_yy = 0 on n x n inner points of a grid, with u given on the boundary, by red-black successive
 * over-relaxation. Before each half sweep every task sends its four border lines to its neighbours and receives
 * theirs. The boundary values are those of u(x,y) = x^2 - y^2, which solves the grid's equations exactly, so that the
 * master can compare every point with the exact solution.
 *
 *       +-------+-------+
 *       | (0,0) <> (0,1)|      <> ^v  one line of n/p numbers each way, twice per iteration
 *       +--^v---+--^v---+
 *       | (1,0) <> (1,1)|
 *       +-------+-------+
 *
 * Shows   block decomposition, strided packing of a column, nearest-neighbour exchange without deadlock, a global
 *         decision (stop or continue) through the master.
 * Build   cc -O2 -o pde pde.c $(pkg-config --cflags --libs pvm3) -lm
 * Run     ./pde -p 2 -n 64          until no point changes any more
 *         ./pde -n 64 -i 128        as in the papers' tables: so many iterations, without asking whether to stop;
 * compared with the same iterations of one task
 *         ./pde -n 64 -i 128 --alone    without PVM: one task only
 * Prints  iterations, time and the largest error. Exit code 1 if the error is above 1e-6, with -i if any point differs
 *         from the serial run, or if a task died.
 */
#include <argp.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <pvm3.h>

enum { TAG_MESH = 1, TAG_NORTH, TAG_SOUTH, TAG_WEST, TAG_EAST, TAG_CHANGE, TAG_VERDICT, TAG_BLOCK, TAG_DIED };
enum { MESH_MAX = 32, GRID_MAX = 8192, CHECK_EVERY = 20, ITERATIONS_MAX = 200000 };

#define STOP_CHANGE 1e-10 /* largest change in one iteration at which the iteration ends */
#define ERROR_MAX   1e-6

static struct {
    int p;
    int n;
    int iterations; /* 0: until it converges */
    int repeats;
    int alone;
} options = {2, 64, 0, 1, 0};

static const struct argp_option option_table[] = {
    {"mesh", 'p', "P", 0, "P x P tasks (2)", 0},
    {"size", 'n', "N", 0, "N x N inner grid points (64)", 0},
    {"iterations", 'i', "I", 0, "I iterations, and a comparison with a serial run", 0},
    {"alone", 'a', NULL, 0, "Only the serial run, without PVM", 0},
    {"repeats", 'r', "R", 0, "With --alone: R runs, one after the other (1)", 0},
    {0},
};

static int number(struct argp_state *state, const char *text, int max)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end != '\0' || value < 1 || value > max)
        argp_error(state, "\"%s\" is not a number from 1 to %d", text, max);
    return (int)value;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case 'p':
        options.p = number(state, text, MESH_MAX);
        return 0;
    case 'n':
        options.n = number(state, text, GRID_MAX);
        return 0;
    case 'i':
        options.iterations = number(state, text, ITERATIONS_MAX);
        return 0;
    case 'r':
        options.repeats = number(state, text, ITERATIONS_MAX);
        return 0;
    case 'a':
        options.alone = 1;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", text);
        break;
    case ARGP_KEY_END:
        if (options.p > options.n)
            argp_error(state, "a mesh of %d x %d tasks needs a grid of at least that size", options.p, options.p);
        if (options.alone && !options.iterations)
            argp_error(state, "--alone needs --iterations");
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {option_table, parse_option, NULL, "Laplace's equation on a mesh of tasks.",
                                   NULL,         NULL,         NULL};

/* Grid points are numbered 0 .. n+1 in each direction; 0 and n+1 are the boundary. */
static double exact(int row, int column, int n)
{
    double x = (double)column / (n + 1), y = (double)row / (n + 1);

    return x * x - y * y;
}

/* First inner row (or column) of block k of p. */
static int first(int k, int p, int n)
{
    return 1 + (int)((long)k * n / p);
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* ---- a task of the mesh ---- */

struct block {
    int p, n;
    int iterations;               /* 0: until the master says so */
    int top, left;                /* grid row and column of our first point */
    int rows, columns;            /* size of our block, without the border */
    int width;                    /* columns + 2: doubles per stored row */
    int north, south, west, east; /* neighbours' tids; 0 at the boundary */
    double *u;                    /* (rows + 2) x width, border lines included */
};

static double *point(struct block *b, int row, int column)
{
    return b->u + (size_t)row * b->width + column;
}

static int parent_died(int mid)
{
    (void)mid;
    exit(1);
}

static void learn_place(struct block *b, int parent)
{
    static int tids[MESH_MAX * MESH_MAX];
    int me = pvm_mytid(), place = 0, i, j;

    pvm_recv(parent, TAG_MESH);
    pvm_upkint(&b->p, 1, 1);
    pvm_upkint(&b->n, 1, 1);
    pvm_upkint(&b->iterations, 1, 1);
    pvm_upkint(tids, b->p * b->p, 1);
    while (tids[place] != me)
        place++;
    i = place / b->p;
    j = place % b->p;
    b->north = i > 0 ? tids[place - b->p] : 0;
    b->south = i < b->p - 1 ? tids[place + b->p] : 0;
    b->west = j > 0 ? tids[place - 1] : 0;
    b->east = j < b->p - 1 ? tids[place + 1] : 0;
    b->top = first(i, b->p, b->n);
    b->left = first(j, b->p, b->n);
    b->rows = first(i + 1, b->p, b->n) - b->top;
    b->columns = first(j + 1, b->p, b->n) - b->left;
}

/* Sets inner points to zero and those on the boundary of the square to the given values. */
static void make_grid(struct block *b)
{
    b->width = b->columns + 2;
    b->u = calloc((size_t)(b->rows + 2) * b->width, sizeof *b->u);
    if (!b->u)
        exit(1);
    for (int row = 0; row < b->rows + 2; row++)
        for (int column = 0; column < b->width; column++) {
            int r = b->top + row - 1, c = b->left + column - 1;
            if (r == 0 || r == b->n + 1 || c == 0 || c == b->n + 1)
                *point(b, row, column) = exact(r, c, b->n);
        }
}

static void send_line(int to, int tag, double *line, int count, int stride)
{
    if (to == 0)
        return;
    pvm_initsend(PvmDataDefault);
    pvm_pkdouble(line, count, stride);
    pvm_send(to, tag);
}

static void receive_line(int from, int tag, double *line, int count, int stride)
{
    if (from == 0)
        return;
    pvm_recv(from, tag);
    pvm_upkdouble(line, count, stride);
}

/* All tasks send, then all receive: pvm_send never waits for the receiver. The tag is the direction of a line. */
static void exchange(struct block *b)
{
    send_line(b->north, TAG_NORTH, point(b, 1, 1), b->columns, 1);
    send_line(b->south, TAG_SOUTH, point(b, b->rows, 1), b->columns, 1);
    send_line(b->west, TAG_WEST, point(b, 1, 1), b->rows, b->width);
    send_line(b->east, TAG_EAST, point(b, 1, b->columns), b->rows, b->width);
    receive_line(b->south, TAG_NORTH, point(b, b->rows + 1, 1), b->columns, 1);
    receive_line(b->north, TAG_SOUTH, point(b, 0, 1), b->columns, 1);
    receive_line(b->east, TAG_WEST, point(b, 1, b->columns + 1), b->rows, b->width);
    receive_line(b->west, TAG_EAST, point(b, 1, 0), b->rows, b->width);
}

/* Relaxes the points of one colour, whose neighbours all have the other. Returns the largest change. */
static double half_sweep(struct block *b, int colour, double omega)
{
    double largest = 0;

    for (int row = 1; row <= b->rows; row++)
        for (int column = 1 + (b->top + row + b->left + colour) % 2; column <= b->columns; column += 2) {
            double *u = point(b, row, column);
            double change = omega * ((u[-1] + u[1] + u[-b->width] + u[b->width]) / 4 - *u);
            *u += change;
            largest = fmax(largest, fabs(change));
        }
    return largest;
}

/* Sends the master our largest change and receives whether the whole grid has converged. */
static bool done(int parent, double change)
{
    int verdict;

    pvm_initsend(PvmDataDefault);
    pvm_pkdouble(&change, 1, 1);
    pvm_send(parent, TAG_CHANGE);
    pvm_recv(parent, TAG_VERDICT);
    pvm_upkint(&verdict, 1, 1);
    return verdict;
}

static void send_block(struct block *b, int parent)
{
    int place[4] = {b->top, b->left, b->rows, b->columns};

    pvm_initsend(PvmDataDefault);
    pvm_pkint(place, 4, 1);
    for (int row = 1; row <= b->rows; row++)
        pvm_pkdouble(point(b, row, 1), b->columns, 1);
    pvm_send(parent, TAG_BLOCK);
}

static double best_omega(int n)
{
    return 2 / (1 + sin(M_PI / (n + 1)));
}

/* One iteration, after which each point has changed once. Returns the largest change. */
static double iteration(struct block *b, double omega)
{
    double change;

    exchange(b);
    change = half_sweep(b, 0, omega);
    exchange(b);
    return fmax(change, half_sweep(b, 1, omega));
}

static int work(int parent)
{
    struct block b;
    double omega, change = 0;
    int handler = pvm_addmhf(-1, TAG_DIED, -1, parent_died);

    pvm_notify(PvmTaskExit, TAG_DIED, 1, &parent);
    learn_place(&b, parent);
    make_grid(&b);
    omega = best_omega(b.n);
    do
        for (int i = 0; i < (b.iterations ? b.iterations : CHECK_EVERY); i++)
            change = iteration(&b, omega);
    while (!b.iterations && !done(parent, change));
    pvm_delmhf(handler);
    send_block(&b, parent);
    pvm_exit();
    free(b.u);
    return 0;
}

/* ---- the master ---- */

static void end_all(const int *tids, int count)
{
    for (int k = 0; k < count; k++)
        if (tids[k] > 0)
            pvm_kill(tids[k]);
}

static int start_mesh(int *tids)
{
    char path[4096] = "";
    int p = options.p, n = options.n, count = p * p, started;

    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return -1;
    started = pvm_spawn(path, NULL, PvmTaskDefault, "", count, tids);
    if (started != count) {
        fprintf(stderr, "pde: %d of %d tasks started: %s\n", started < 0 ? 0 : started, count,
                pvm_errlist[started < 0 ? -started : -tids[count - 1]]);
        end_all(tids, started);
        return -1;
    }
    pvm_notify(PvmTaskExit, TAG_DIED, count, tids);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&p, 1, 1);
    pvm_pkint(&n, 1, 1);
    pvm_pkint(&options.iterations, 1, 1);
    pvm_pkint(tids, count, 1);
    pvm_mcast(tids, count, TAG_MESH);
    return 0;
}

/* Answers the tasks' changes until the largest is small enough. The number of iterations, or -1 if a task died. */
static int iterate(int *tids)
{
    int count = options.p * options.p, iterations = 0, verdict = 0;

    while (!verdict) {
        double change, largest = 0;
        for (int k = 0; k < count; k++) {
            int tag, mid = pvm_recv(-1, -1);
            pvm_bufinfo(mid, NULL, &tag, NULL);
            if (tag == TAG_DIED)
                return -1;
            pvm_upkdouble(&change, 1, 1);
            largest = fmax(largest, change);
        }
        iterations += CHECK_EVERY;
        verdict = largest < STOP_CHANGE || iterations >= ITERATIONS_MAX;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&verdict, 1, 1);
        pvm_mcast(tids, count, TAG_VERDICT);
    }
    return iterations;
}

/* Puts the inner points of all blocks into u, n x n. -1 if a task died before its block arrived. */
static int collect(double *u)
{
    int n = options.n, missing = options.p * options.p, blocks = 0, exits = 0;

    while (missing > 0 && exits <= blocks) {
        int place[4], tag, mid = pvm_recv(-1, -1); /* place: top, left, rows, columns */
        pvm_bufinfo(mid, NULL, &tag, NULL);
        if (tag == TAG_DIED) {
            exits++;
            continue;
        }
        pvm_upkint(place, 4, 1);
        for (int row = 0; row < place[2]; row++)
            pvm_upkdouble(u + (size_t)(place[0] - 1 + row) * n + place[1] - 1, place[3], 1);
        blocks++;
        missing--;
    }
    return missing == 0 ? 0 : -1;
}

/* The whole grid as one block, after the iterations. The caller frees u. */
static struct block run_serially(void)
{
    struct block b = {.n = options.n, .top = 1, .left = 1, .rows = options.n, .columns = options.n};

    make_grid(&b);
    for (int i = 0; i < options.iterations; i++)
        iteration(&b, best_omega(b.n));
    return b;
}

static double largest_error(const double *u)
{
    int n = options.n;
    double largest = 0;

    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++) {
            double error = fabs(u[(size_t)row * n + column] - exact(row + 1, column + 1, n));
            if (!(error <= largest)) /* also for a NaN */
                largest = error;
        }
    return largest;
}

/* Prints the result. Returns the exit code. */
static int check(const double *u, int iterations, double mesh_s)
{
    double error = largest_error(u);

    printf("%d x %d points on %d x %d tasks: %d iterations, %.4f s, largest error %.2g: %s\n", options.n, options.n,
           options.p, options.p, iterations, mesh_s, error, error <= ERROR_MAX ? "correct" : "WRONG");
    return error <= ERROR_MAX ? 0 : 1;
}

/* With -i, when the iteration may not have converged: each point must be that of the serial run. */
static int compare(const double *u, double mesh_s)
{
    int n = options.n, same = 1;
    double start_s = now_s(), serial_s;
    struct block b = run_serially();

    serial_s = now_s() - start_s;
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++)
            same = same && *point(&b, row + 1, column + 1) == u[(size_t)row * n + column];
    free(b.u);
    printf("%d x %d points on %d x %d tasks: %d iterations, %.4f s, serial %.4f s, speedup %.2f, largest error %.2g: "
           "%s\n",
           n, n, options.p, options.p, options.iterations, mesh_s, serial_s, serial_s / mesh_s, largest_error(u),
           same ? "as the serial run" : "WRONG");
    return same ? 0 : 1;
}

static int run_alone(void)
{
    double start_s = now_s();

    for (int k = 0; k < options.repeats; k++)
        free(run_serially().u);
    printf("%d x %d points alone: %d iterations, %.6f s\n", options.n, options.n, options.iterations,
           (now_s() - start_s) / options.repeats);
    return 0;
}

static int run_master(void)
{
    int tids[MESH_MAX * MESH_MAX], iterations, status = 1;
    double start_s, *u = calloc((size_t)options.n * options.n, sizeof *u);

    if (!u || start_mesh(tids) < 0)
        return 1;
    start_s = now_s();
    iterations = options.iterations ? options.iterations : iterate(tids);
    if (iterations < 0 || collect(u) < 0) {
        fprintf(stderr, "pde: a task died\n");
        end_all(tids, options.p * options.p);
    } else if (options.iterations) {
        status = compare(u, now_s() - start_s);
    } else {
        status = check(u, iterations, now_s() - start_s);
    }
    free(u);
    return status;
}

int main(int argc, char **argv)
{
    int parent, status;

    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    if (options.alone)
        return run_alone();
    if (pvm_mytid() < 0)
        return 1;
    parent = pvm_parent();
    if (parent > 0)
        return work(parent);
    status = run_master();
    pvm_exit();
    return status;
}
