/*
 * halo.c - a field of cells, divided between the tasks in two directions: each step averages the four neighbours of a
 * cell.
 *
 * A cell has `levels` values, as in weather codes. Value k of cell (i, j) is 1000 i + 10 j + k + t after t steps,
 * because each step adds 1 to the average of the neighbours. A border that belongs to an earlier step makes a wrong
 * result.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "comm.h"
#include "program.h"

enum { CELLS = 8, WIDTH = CELLS + 2, NORTH = 0, SOUTH, WEST, EAST, SIDES };

static int levels, rows, columns; /* rows x columns tasks */
static int row, column;           /* this task's place */
static long step;
static double *now, *next;                      /* [WIDTH][WIDTH][levels], with a border all round */
static double *west, *east, *in_west, *in_east; /* columns of cells, packed: [CELLS][levels] */

static double *cell(double *field, int i, int j)
{
    return field + ((long)i * WIDTH + j) * levels;
}

static double expected(int i, int j, int k, long t)
{
    return 1000.0 * (row * CELLS + i) + 10.0 * (column * CELLS + j) + k + (double)t;
}

static const char *refuse_halo(int bytes)
{
    return bytes < 64 || bytes % 64 ? "a border has a multiple of 64 bytes" : NULL;
}

static double *values(long count)
{
    double *memory = calloc((size_t)count, sizeof *memory);
    if (!memory)
        err(1, "memory");
    return memory;
}

/* Sets the cells from (i0, j0) up to (i1, j1) as they are after t steps. */
static void set(double *field, int i0, int j0, int i1, int j1, long t)
{
    for (int i = i0; i <= i1; i++)
        for (int j = j0; j <= j1; j++)
            for (int k = 0; k < levels; k++)
                cell(field, i, j)[k] = expected(i, j, k, t);
}

static void open_halo(int bytes)
{
    levels = bytes / (CELLS * (int)sizeof(double));
    for (rows = 1; (rows + 1) * (rows + 1) <= comm_size; rows++)
        ;
    while (comm_size % rows)
        rows--;
    columns = comm_size / rows;
    row = comm_rank / columns;
    column = comm_rank % columns;
    step = 0;
    now = values((long)WIDTH * WIDTH * levels);
    next = values((long)WIDTH * WIDTH * levels);
    west = values((long)CELLS * levels);
    east = values((long)CELLS * levels);
    in_west = values((long)CELLS * levels);
    in_east = values((long)CELLS * levels);
    set(now, 1, 1, CELLS, CELLS, 0);
}

static void copy_column(double *to, long to_stride, const double *from, long from_stride)
{
    for (int i = 0; i < CELLS; i++)
        memcpy(to + i * to_stride, from + i * from_stride, (size_t)levels * sizeof *to);
}

static void exchange(void)
{
    int count = CELLS * levels;
    long stride = (long)WIDTH * levels;
    struct comm_side sides[SIDES] = {
        [NORTH] = {row > 0 ? comm_rank - columns : -1, cell(now, 1, 1), cell(now, 0, 1), count},
        [SOUTH] = {row < rows - 1 ? comm_rank + columns : -1, cell(now, CELLS, 1), cell(now, CELLS + 1, 1), count},
        [WEST] = {column > 0 ? comm_rank - 1 : -1, west, in_west, count},
        [EAST] = {column < columns - 1 ? comm_rank + 1 : -1, east, in_east, count},
    };
    copy_column(west, levels, cell(now, 1, 1), stride);
    copy_column(east, levels, cell(now, 1, CELLS), stride);
    comm_exchange(sides, SIDES);
    if (column > 0)
        copy_column(cell(now, 1, 0), stride, in_west, levels);
    if (column < columns - 1)
        copy_column(cell(now, 1, CELLS + 1), stride, in_east, levels);
}

/* The edges of the whole field are known. */
static void set_edges(void)
{
    if (row == 0)
        set(now, 0, 1, 0, CELLS, step);
    if (row == rows - 1)
        set(now, CELLS + 1, 1, CELLS + 1, CELLS, step);
    if (column == 0)
        set(now, 1, 0, CELLS, 0, step);
    if (column == columns - 1)
        set(now, 1, CELLS + 1, CELLS, CELLS + 1, step);
}

static void average(int i, int j)
{
    const double *restrict north = cell(now, i - 1, j), *restrict south = cell(now, i + 1, j);
    const double *restrict left = cell(now, i, j - 1), *restrict right = cell(now, i, j + 1);
    double *restrict to = cell(next, i, j);
    for (int k = 0; k < levels; k++)
        to[k] = (north[k] + south[k] + left[k] + right[k]) * 0.25 + 1;
}

static void steps_halo(int count)
{
    for (; count > 0; count--, step++) {
        exchange();
        set_edges();
        for (int i = 1; i <= CELLS; i++)
            for (int j = 1; j <= CELLS; j++)
                average(i, j);
        double *old = now;
        now = next;
        next = old;
    }
}

static double check_halo(void)
{
    double sum = 0;
    for (int i = 1; i <= CELLS; i++)
        for (int j = 1; j <= CELLS; j++)
            for (int k = 0; k < levels; k++) {
                double value = cell(now, i, j)[k];
                if (value != expected(i, j, k, step))
                    errx(1, "halo: rank %d has %g at %d, %d, %d after %ld steps", comm_rank, value, i, j, k, step);
                sum += value;
            }
    comm_sum(&sum, 1);
    return sum;
}

static void close_halo(void)
{
    free(now);
    free(next);
    free(west);
    free(east);
    free(in_west);
    free(in_east);
}

const struct program halo = {.name = "halo",
                             .size_means = "bytes of a border",
                             .refuse = refuse_halo,
                             .open = open_halo,
                             .steps = steps_halo,
                             .check = check_halo,
                             .close = close_halo,
                             .least = 1};
