/*
 * cg.c - conjugate gradients on a sparse matrix whose rows need the whole vector: two sums of one number and one long
 * vector an iteration. The solution of A x = b is known: b is the sum of a row of A, so all x are 1.
 *
 * Row i of A has DIAGONAL at i and 1 at i +- each of `offsets`, modulo the size. It is symmetric and positive definite.
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include "comm.h"
#include "program.h"

enum { OFFSETS = 4, DIAGONAL = 16, ITERATIONS = 10 };

static const int offsets[OFFSETS] = {1, 37, 1021, 16411};

static int size, rows, first; /* rows of this task: first and on */
static double *x, *r, *q;     /* [rows] */
static double *p;             /* [size], of which this task computes p[first] and on */

static const char *refuse_cg(int n)
{
    return n < 64 || n % comm_size ? "the vector needs 64 elements at least, and the number of tasks must divide it"
                                   : NULL;
}

static double *vector(int n)
{
    double *memory = calloc((size_t)n, sizeof *memory);
    if (!memory)
        err(1, "memory");
    return memory;
}

static void open_cg(int n)
{
    size = n;
    rows = n / comm_size;
    first = comm_rank * rows;
    x = vector(rows);
    r = vector(rows);
    q = vector(rows);
    p = vector(size);
}

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < rows; i++)
        sum += a[i] * b[i];
    comm_sum(&sum, 1);
    return sum;
}

/* q = A p */
static void multiply(void)
{
    for (int i = 0; i < rows; i++)
        q[i] = DIAGONAL * p[first + i];
    for (int o = 0; o < OFFSETS; o++) {
        int up = (first + offsets[o]) % size, down = (first + size - offsets[o] % size) % size;
        for (int i = 0; i < rows; i++) {
            q[i] += p[up] + p[down];
            up = up + 1 < size ? up + 1 : 0;
            down = down + 1 < size ? down + 1 : 0;
        }
    }
}

/* A start that differs from the solution in all directions. */
static double start_of(int i)
{
    return 1 + (double)(i * 2654435761u % 1000) / 1000;
}

/* x = start, r = p = b - A x */
static void restart(void)
{
    for (int i = 0; i < size; i++)
        p[i] = start_of(i);
    multiply();
    for (int i = 0; i < rows; i++) {
        x[i] = p[first + i];
        r[i] = DIAGONAL + 2 * OFFSETS - q[i];
    }
    for (int i = 0; i < rows; i++)
        p[first + i] = r[i];
}

static double iterate(double rr)
{
    comm_allgather(p, rows);
    multiply();
    double alpha = rr / dot(p + first, q), before = rr;
    for (int i = 0; i < rows; i++) {
        x[i] += alpha * p[first + i];
        r[i] -= alpha * q[i];
    }
    rr = dot(r, r);
    for (int i = 0; i < rows; i++)
        p[first + i] = r[i] + rr / before * p[first + i];
    return rr;
}

static void steps_cg(int count)
{
    for (; count > 0; count--) {
        restart();
        double rr = dot(r, r);
        for (int i = 0; i < ITERATIONS; i++)
            rr = iterate(rr);
    }
}

static double check_cg(void)
{
    double sum = 0;
    for (int i = 0; i < rows; i++) {
        if (fabs(x[i] - 1) > 1e-4)
            errx(1, "cg: rank %d has %g at %d after %d iterations", comm_rank, x[i], i, ITERATIONS);
        sum += x[i];
    }
    comm_sum(&sum, 1);
    return sum;
}

static void close_cg(void)
{
    free(x);
    free(r);
    free(q);
    free(p);
}

const struct program cg = {.name = "cg",
                           .size_means = "elements of the vector",
                           .any_tasks = 1,
                           .refuse = refuse_cg,
                           .open = open_cg,
                           .steps = steps_cg,
                           .check = check_cg,
                           .close = close_cg,
                           .least = 1};
