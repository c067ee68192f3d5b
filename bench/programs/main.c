/*
 * main.c - runs programs with the pattern of real codes, and single collective operations, over PVM or MPI; prints
 * "name value unit" lines.
 *
 *   program-dpvm TASKS PROGRAM SIZE... [+ PROGRAM SIZE...]...
 *   mpirun -n TASKS program-openmpi TASKS PROGRAM SIZE... [+ PROGRAM SIZE...]...
 *
 *   halo BYTES       averages neighbours in a field divided in two directions, with borders of BYTES
 *   cg SIZE          10 iterations of conjugate gradients on vectors of SIZE doubles
 *   transpose SIZE   transposes a matrix of SIZE x SIZE doubles
 *   farm US          a master and its workers with jobs of US microseconds
 *   barrier, bcast, reduce, gather, scatter, alltoall BYTES   of each task, or to each
 *   mesh BYTES       alltoall by a message from each task to each other
 *   pairs BYTES      the first half of the tasks sends messages of BYTES to the second
 *
 * NAME.TASKS.SIZE is the time of a step, the median of blocks; NAME.first.TASKS.SIZE is the mean of the first 4 steps,
 * and NAME.next.TASKS.SIZE that of the next 28, in which links open. sum.NAME.SIZE (halo: sum.NAME.TASKS.SIZE) is the
 * sum of the results after the first steps, which must not depend on the system.
 */
#include <string.h>
#include "../measure.h"
#include "comm.h"
#include "program.h"

enum { FIRST_STEPS = 4, NEXT_STEPS = 28, NEXT_TOO_SLOW_US = 100000, TOO_SLOW_US = 500000, SIZE_MAX_ALLOWED = 64 << 20 };

static const struct program *const programs[] = {&halo,   &cg,     &transpose, &farm,     &barrier, &bcast,
                                                 &reduce, &gather, &scatter,   &alltoall, &mesh,    &pairs};

static void usage(void)
{
    errx(2,
         "usage: program TASKS halo|cg|transpose|farm|barrier|bcast|reduce|gather|scatter|alltoall|mesh|pairs SIZE...\n"
         "       [+ ...], TASKS from 2 to %d",
         COMM_TASKS_MAX);
}

static double timed_us(const struct program *p, int steps)
{
    comm_barrier();
    double start = now_us();
    p->steps(steps);
    return (now_us() - start) / steps;
}

static int shared(int value)
{
    comm_share(&value);
    return value;
}

/*
 * The steps of a block. It tries with more and more of them: in a few steps no task runs ahead of the others, so that
 * each of them takes longer than one of many.
 */
static int steps_of_block(const struct program *p, int least)
{
    double once_us = timed_us(p, least);
    for (int count = least; shared(block_count(once_us) > 2 * count);)
        once_us = timed_us(p, count *= 4);
    int count = shared(block_count(once_us));
    return count > least ? count : least;
}

/* The median of blocks; fewer blocks if one step takes long, and none if the first ones took very long. */
static double measure(const struct program *p, double first_us)
{
    double blocks[BLOCKS];
    if (shared(first_us > TOO_SLOW_US))
        return first_us;
    int least = p->least > 1 ? p->least * comm_size : 1;
    int slow = shared(timed_us(p, least) * least > SLOW_US), n = slow ? BLOCKS_SLOW : BLOCKS;
    int count = slow ? least : steps_of_block(p, least);
    for (int i = 0; i < n; i++)
        blocks[i] = timed_us(p, count);
    return median(blocks, n);
}

static void report_time(const struct program *p, const char *which, int size, double us)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s.%d.%d", p->name, which, comm_size, size);
    if (comm_rank == 0)
        print(name, us, "us");
}

static void report_sum(const struct program *p, int size, double sum)
{
    char name[64];
    if (p->any_tasks)
        snprintf(name, sizeof name, "sum.%s.%d", p->name, size);
    else
        snprintf(name, sizeof name, "sum.%s.%d.%d", p->name, comm_size, size);
    if (comm_rank == 0)
        print(name, sum, "sum");
}

static void measure_program(const struct program *p, int size)
{
    p->open(size);
    double first_us = timed_us(p, FIRST_STEPS);
    report_time(p, ".first", size, first_us);
    report_sum(p, size, p->check());
    if (shared(first_us < NEXT_TOO_SLOW_US))
        report_time(p, ".next", size, timed_us(p, NEXT_STEPS));
    report_time(p, "", size, measure(p, first_us));
    p->check();
    p->close();
}

static void run(int argc, char **argv)
{
    const struct program *p = NULL;
    for (size_t i = 0; argc > 0 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i]->name, argv[0]) == 0)
            p = programs[i];
    if (!p || argc < 2)
        usage();
    for (int i = 1; i < argc; i++) {
        int size = number_of(argv[i], SIZE_MAX_ALLOWED);
        const char *why = p->refuse(size);
        if (why)
            errx(2, "%s %d (%s) with %d tasks: %s", p->name, size, p->size_means, comm_size, why);
        measure_program(p, size);
    }
}

int main(int argc, char **argv)
{
    int tasks = argc > 2 ? number_of(argv[1], COMM_TASKS_MAX) : 0;
    if (tasks < 2)
        usage();
    comm_open(tasks, &argc, &argv);
    for (int begin = 2, end; begin < argc; begin = end + 1) {
        for (end = begin; end < argc && strcmp(argv[end], "+") != 0; end++)
            ;
        run(end - begin, argv + begin);
    }
    comm_close();
    return 0;
}
