/*
 * transpose.c - transposes a square matrix of doubles of which each task has some rows, as Fourier transforms do: all
 * tasks send a block to all.
 *
 * Element (i, j) starts as size i + j. Each step transposes and adds 1, so that old data make a wrong result.
 */
#include <err.h>
#include <stdlib.h>
#include "comm.h"
#include "program.h"

static int size, rows, first; /* rows of this task: first and on */
static long step;
static double *matrix;   /* [rows][size] */
static double *out, *in; /* [comm_size][rows][rows] */

static const char *refuse_transpose(int n)
{
    return n < 1 || n > 16384 || n % comm_size ? "the number of tasks must divide the rows, of which 16384 may be"
                                               : NULL;
}

static double expected(int i, int j)
{
    return (step % 2 ? (double)size * j + i : (double)size * i + j) + (double)step;
}

static void open_transpose(int n)
{
    size = n;
    rows = n / comm_size;
    first = comm_rank * rows;
    step = 0;
    matrix = calloc((size_t)rows * (size_t)size, sizeof *matrix);
    out = calloc((size_t)rows * (size_t)size, sizeof *out);
    in = calloc((size_t)rows * (size_t)size, sizeof *in);
    if (!matrix || !out || !in)
        err(1, "memory");
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < size; j++)
            matrix[(long)i * size + j] = expected(first + i, j);
}

static void steps_transpose(int count)
{
    long block = (long)rows * rows;
    for (; count > 0; count--, step++) {
        for (int to = 0; to < comm_size; to++)
            for (int j = 0; j < rows; j++)
                for (int i = 0; i < rows; i++)
                    out[to * block + j * rows + i] = matrix[(long)i * size + to * rows + j];
        comm_alltoall(out, in, (int)block);
        for (int from = 0; from < comm_size; from++)
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < rows; j++)
                    matrix[(long)i * size + from * rows + j] = in[from * block + i * rows + j] + 1;
    }
}

static double check_transpose(void)
{
    double sum = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < size; j++) {
            double value = matrix[(long)i * size + j];
            if (value != expected(first + i, j))
                errx(1, "transpose: rank %d has %g at %d, %d after %ld steps", comm_rank, value, first + i, j, step);
            sum += value;
        }
    comm_sum(&sum, 1);
    return sum;
}

static void close_transpose(void)
{
    free(matrix);
    free(out);
    free(in);
}

const struct program transpose = {.name = "transpose",
                                  .size_means = "rows and columns of the matrix",
                                  .any_tasks = 1,
                                  .refuse = refuse_transpose,
                                  .open = open_transpose,
                                  .steps = steps_transpose,
                                  .check = check_transpose,
                                  .close = close_transpose,
                                  .least = 1};
