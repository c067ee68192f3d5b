/*
 * cg - NAS parallel benchmark CG: the smallest eigenvalue of a sparse matrix, by inverse iteration and conjugate
 * gradients.
 *
 * Each outer iteration solves A z = x with 25 steps of the conjugate gradient method, takes zeta = shift + 1 / x'z and
 * x = z / |z|. The first task makes the matrix and deals its rows: each task has a block of rows, and the same block of
 * all vectors. The product with A needs the whole vector p, so the tasks complete it before; and each inner product is
 * a sum over all tasks.
 *
 *         A      p     q
 *       +---+   +-+   +-+
 *       |   |   | |   |0|        p: 3 messages of a quarter to the first task,
 *       +---+   | |   +-+           3 messages of three quarters back
 *       |   | x | | = |1|        q'p, r'r: 3 messages of 8 bytes each way
 *       +---+   | |   +-+
 *       |   |   | |   |2|
 *
 * Shows   a matrix dealt by rows, a vector that all tasks make whole, sums of few bytes: short messages beside long.
 * Run     ./cg --class S --tasks 4 --verify --stats
 * Prints  the time and zeta; with --verify whether it is right. Exit status 1 if it is wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../kernels/options.h"
#include "../kernels/team.h"
#include "cg_matrix.h"

enum { STEPS = 25, TAG_COUNT = 1, TAG_ROWS };

/* NAS's values; a right zeta differs by at most 1e-10. */
static const struct problem {
    char class;
    int n, nonzeros, iterations;
    double shift, zeta;
} problems[] = {
    {'S', 1400, 7, 15, 10, 8.5971775078648},
    {'W', 7000, 8, 15, 12, 10.362595087124},
    {'A', 14000, 11, 15, 20, 17.130235054029},
    {'T', 1400, 7, 15, 10, 8.5971775078648},
};

static const struct kernel kernel = {
    .purpose = "NAS CG: the smallest eigenvalue of a sparse matrix, by conjugate gradients.",
    .classes = "SWAT",
    .class_help = "S (1400 rows), W (7000), A (14000); T, the thesis's, is S",
};

static const struct problem *problem_of(char class)
{
    int k = 0;

    while (problems[k].class != class)
        k++;
    return &problems[k];
}

/* What a task knows of the problem: the block of rows and vectors that is its own begins at first[rank]. */
struct solver {
    int first[TEAM_MAX + 1];
    int n, begin, own;
    struct cg_rows rows;
    double *whole;             /* the n elements of p or z, for products with A */
    double *x, *z, *r, *p, *q; /* own elements */
};

/* ---- dealing the rows ---- */

static void send_rows(const struct cg_rows *matrix, int to, int begin, int end)
{
    const int *start = matrix->start;
    int count = start[end] - start[begin];

    team_send(to, TAG_COUNT, TEAM_INT, &count, 1);
    team_message();
    team_pack(TEAM_INT, start + begin, end - begin + 1, 1);
    team_pack(TEAM_INT, matrix->column + start[begin], count, 1);
    team_pack(TEAM_DOUBLE, matrix->value + start[begin], count, 1);
    team_post(to, TAG_ROWS);
}

static struct cg_rows receive_rows(int rows)
{
    struct cg_rows own = {rows, team_alloc(rows + 1, sizeof(int)), NULL, NULL};
    int count, before;

    team_receive(0, TAG_COUNT, TEAM_INT, &count, 1);
    own.column = team_alloc(count, sizeof(int));
    own.value = team_alloc(count, sizeof(double));
    team_take(0, TAG_ROWS);
    team_unpack(TEAM_INT, own.start, rows + 1, 1);
    team_unpack(TEAM_INT, own.column, count, 1);
    team_unpack(TEAM_DOUBLE, own.value, count, 1);
    before = own.start[0];
    for (int row = 0; row <= rows; row++)
        own.start[row] -= before;
    return own;
}

/* The first task keeps the whole matrix, and uses its first rows. */
static void deal_rows(struct solver *s, const struct problem *problem)
{
    if (team_rank() > 0) {
        s->rows = receive_rows(s->own);
        return;
    }
    s->rows = cg_matrix(problem->n, problem->nonzeros, problem->shift);
    for (int rank = 1; rank < team_size(); rank++)
        send_rows(&s->rows, rank, s->first[rank], s->first[rank + 1]);
    s->rows.rows = s->own;
}

static void solver_init(struct solver *s, const struct problem *problem)
{
    int size = team_size();

    if (size > problem->n)
        team_fail("%d rows are too few for %d tasks", problem->n, size);
    s->n = problem->n;
    for (int rank = 0; rank <= size; rank++)
        s->first[rank] = (int)((long)rank * s->n / size);
    s->begin = s->first[team_rank()];
    s->own = s->first[team_rank() + 1] - s->begin;
    s->whole = team_alloc(s->n, sizeof(double));
    s->x = team_alloc(5L * s->own, sizeof(double));
    s->z = s->x + s->own;
    s->r = s->z + s->own;
    s->p = s->r + s->own;
    s->q = s->p + s->own;
    deal_rows(s, problem);
}

static void solver_free(struct solver *s)
{
    cg_rows_free(&s->rows);
    free(s->whole);
    free(s->x);
}

/* ---- vectors ---- */

/* y = A v, where v and y are the task's own blocks. */
static void multiply(struct solver *s, const double *v, double *y)
{
    for (int k = 0; k < s->own; k++)
        s->whole[s->begin + k] = v[k];
    team_share(TEAM_DOUBLE, s->whole, s->first);
    cg_multiply(&s->rows, s->whole, y);
}

static double product_of_own(const struct solver *s, const double *a, const double *b)
{
    double sum = 0;

    for (int k = 0; k < s->own; k++)
        sum += a[k] * b[k];
    return sum;
}

static double product(const struct solver *s, const double *a, const double *b)
{
    double sum = product_of_own(s, a, b);

    team_sum(TEAM_DOUBLE, &sum, 1);
    return sum;
}

/* y += factor * x */
static void add_times(const struct solver *s, double *y, double factor, const double *x)
{
    for (int k = 0; k < s->own; k++)
        y[k] += factor * x[k];
}

/* ---- the method ---- */

/* A step of the conjugate gradient method: improves z, of whose residual rho is the square. Returns the new rho. */
static double step(struct solver *s, double rho)
{
    double alpha, rho_next;

    multiply(s, s->p, s->q);
    alpha = rho / product(s, s->p, s->q);
    add_times(s, s->z, alpha, s->p);
    add_times(s, s->r, -alpha, s->q);
    rho_next = product(s, s->r, s->r);
    for (int k = 0; k < s->own; k++)
        s->p[k] = s->r[k] + rho_next / rho * s->p[k];
    return rho_next;
}

/* Solves A z = x. Returns |x - A z|. */
static double solve(struct solver *s)
{
    double rho;

    for (int k = 0; k < s->own; k++) {
        s->z[k] = 0;
        s->r[k] = s->p[k] = s->x[k];
    }
    rho = product(s, s->r, s->r);
    for (int k = 0; k < STEPS; k++)
        rho = step(s, rho);
    multiply(s, s->z, s->r);
    for (int k = 0; k < s->own; k++)
        s->r[k] = s->x[k] - s->r[k];
    return sqrt(product(s, s->r, s->r));
}

/* Takes the next x from z, and returns 1 / x'z of the old one. */
static double next_vector(struct solver *s)
{
    double sums[2] = {product_of_own(s, s->x, s->z), product_of_own(s, s->z, s->z)};

    team_sum(TEAM_DOUBLE, sums, 2);
    for (int k = 0; k < s->own; k++)
        s->x[k] = s->z[k] / sqrt(sums[1]);
    return 1 / sums[0];
}

static void set_first_vector(struct solver *s)
{
    for (int k = 0; k < s->own; k++)
        s->x[k] = 1;
}

static void warm_up(struct solver *s)
{
    team_warm_up();
    set_first_vector(s);
    solve(s);
}

static double iterate(struct solver *s, const struct problem *problem, double *residual)
{
    double zeta = 0;

    set_first_vector(s);
    for (int k = 0; k < problem->iterations; k++) {
        *residual = solve(s);
        zeta = problem->shift + next_vector(s);
    }
    return zeta;
}

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv, &kernel);
    const struct problem *problem = problem_of(options.class);
    struct solver solver;
    double zeta, residual = 0, time_s;
    bool right;

    team_start(argc, argv, options.tasks);
    solver_init(&solver, problem);
    if (options.class != 'T')
        warm_up(&solver);
    team_clock_start();
    zeta = iterate(&solver, problem, &residual);
    time_s = team_clock_stop();
    right = fabs(zeta - problem->zeta) <= 1e-10;
    if (team_rank() == 0)
        printf("cg class %c: %d tasks, %.4f s, zeta %.13f, residual %.2e%s\n", options.class, team_size(), time_s, zeta,
               residual,
               !options.verify ? ""
               : right         ? ": correct"
                               : ": WRONG");
    if (options.stats)
        team_report();
    solver_free(&solver);
    return team_end(options.verify && !right);
}
