/*
 * collective.c - single operations on all tasks. Each value is the number of the step, so that old data are noticed.
 * The steps of an operation that leaves some tasks ahead of others end with a barrier.
 */
#include <err.h>
#include <stdlib.h>
#include "comm.h"
#include "program.h"

static int count;      /* doubles of a task */
static double step;    /* number of the next one */
static double *mine;   /* [count] */
static double *all;    /* [comm_size][count] */
static double *others; /* the same for alltoall */

static const char *refuse_bytes(int bytes)
{
    return bytes < 8 || bytes % 8 ? "a task has a multiple of 8 bytes" : NULL;
}

static const char *refuse_pairs(int bytes)
{
    return comm_size % 2 ? "pairs need an even number of tasks" : refuse_bytes(bytes);
}

static void open_arrays(int bytes)
{
    count = bytes / 8;
    step = 1;
    mine = calloc((size_t)count, sizeof *mine);
    all = calloc((size_t)count * (size_t)comm_size, sizeof *all);
    others = calloc((size_t)count * (size_t)comm_size, sizeof *others);
    if (!mine || !all || !others)
        err(1, "memory");
}

static void close_arrays(void)
{
    free(mine);
    free(all);
    free(others);
}

/* Marks the first and the last value of a task's array, of each of several. */
static void set(double *values, int tasks)
{
    for (int i = 0; i < tasks; i++, values += count)
        values[0] = values[count - 1] = step;
}

static void expect(const double *values, int tasks, double wanted)
{
    for (int i = 0; i < tasks; i++, values += count)
        if (values[0] != wanted || values[count - 1] != wanted)
            errx(1, "collective: rank %d has %g and %g of rank %d instead of %g in step %g", comm_rank, values[0],
                 values[count - 1], i, wanted, step);
}

static double check_steps(void)
{
    return step;
}

/* Their size means nothing. */
static void steps_barrier(int n)
{
    for (; n > 0; n--, step++)
        comm_barrier();
}

static void steps_bcast(int n)
{
    for (; n > 0; n--, step++) {
        if (comm_rank == 0)
            set(mine, 1);
        comm_bcast(mine, count);
        expect(mine, 1, step);
    }
    comm_barrier();
}

static void steps_reduce(int n)
{
    for (; n > 0; n--, step++) {
        set(mine, 1);
        comm_reduce(mine, count);
        if (comm_rank == 0)
            expect(mine, 1, step * comm_size);
    }
    comm_barrier();
}

static void steps_gather(int n)
{
    for (; n > 0; n--, step++) {
        set(mine, 1);
        comm_gather(mine, all, count);
        if (comm_rank == 0)
            expect(all, comm_size, step);
    }
    comm_barrier();
}

static void steps_scatter(int n)
{
    for (; n > 0; n--, step++) {
        if (comm_rank == 0)
            set(all, comm_size);
        comm_scatter(all, mine, count);
        expect(mine, 1, step);
    }
    comm_barrier();
}

static void steps_alltoall(int n)
{
    for (; n > 0; n--, step++) {
        set(all, comm_size);
        comm_alltoall(all, others, count);
        expect(others, comm_size, step);
    }
}

/* All-to-all by single messages: side 2 i sends to the task i places further on, side 2 i + 1 receives from i places
 * back. */
static void steps_mesh(int n)
{
    static struct comm_side sides[2 * COMM_TASKS_MAX];
    for (int i = 0; i < comm_size; i++) {
        int next = (comm_rank + i) % comm_size, before = (comm_rank + comm_size - i) % comm_size;
        sides[2 * i] = (struct comm_side){i > 0 ? next : -1, all + (long)next * count, NULL, count};
        sides[2 * i + 1] = (struct comm_side){i > 0 ? before : -1, NULL, others + (long)before * count, count};
    }
    for (; n > 0; n--, step++) {
        set(all, comm_size);
        set(others + (long)comm_rank * count, 1);
        comm_exchange(sides, 2 * comm_size);
        expect(others, comm_size, step);
    }
}

/* The barrier at the end shows that all messages have arrived. */
static void steps_pairs(int n)
{
    int half = comm_size / 2, sends = comm_rank < half;
    struct comm_side side[2] = {{.peer = -1},
                                {.peer = sends ? comm_rank + half : comm_rank - half,
                                 .out = sends ? mine : NULL,
                                 .in = sends ? NULL : mine,
                                 .count = count}};
    if (!sends) { /* side 0 faces side 1 */
        side[0] = side[1];
        side[1].peer = -1;
    }
    for (; n > 0; n--, step++) {
        if (sends)
            set(mine, 1);
        comm_exchange(side, 2);
        if (!sends)
            expect(mine, 1, step);
    }
    comm_barrier();
}

#define COLLECTIVE(operation, why, steps_a_task)                                                                       \
    const struct program operation = {.name = #operation,                                                              \
                                      .size_means = "bytes of a task",                                                 \
                                      .any_tasks = 1,                                                                  \
                                      .refuse = (why),                                                                 \
                                      .open = open_arrays,                                                             \
                                      .steps = steps_##operation,                                                      \
                                      .check = check_steps,                                                            \
                                      .close = close_arrays,                                                           \
                                      .least = (steps_a_task)}

COLLECTIVE(barrier, refuse_bytes, 1);
COLLECTIVE(bcast, refuse_bytes, 1);
COLLECTIVE(reduce, refuse_bytes, 1);
COLLECTIVE(gather, refuse_bytes, 1);
COLLECTIVE(scatter, refuse_bytes, 1);
COLLECTIVE(alltoall, refuse_bytes, 1);
COLLECTIVE(mesh, refuse_bytes, 1);
COLLECTIVE(pairs, refuse_pairs, 2);
