/*
 * farm.c - a master hands out jobs of some microseconds; each worker gets its next one when it returns a result. A step
 * is a job: a fixed number of dependent operations, whose result the master recomputes for some.
 */
#include <err.h>
#include <stddef.h>
#include "comm.h"
#include "program.h"

enum { OPERATIONS_PER_US = 700 /* of an ordinary core */, STOP = -1, CHECK_EVERY = 64 };

static int job_us;
static long jobs;           /* done so far, at the master */
static unsigned long total; /* of their results */

static const char *refuse_farm(int us)
{
    return us > 1000000 ? "a job takes 1000000 us at most" : NULL;
}

static void open_farm(int us)
{
    job_us = us;
    jobs = 0;
    total = 0;
}

static unsigned long result_of(unsigned long job)
{
    for (long i = 0; i < (long)job_us * OPERATIONS_PER_US; i++)
        job = job * 6364136223846793005u + 1442695040888963407u;
    return job >> 33;
}

static void work(void)
{
    for (long job; comm_receive(0, &job, 1), job != STOP;) {
        long answer[2] = {job, (long)result_of((unsigned long)job)};
        comm_send(0, answer, 2);
    }
}

static void take(const long *answer)
{
    if (answer[0] % CHECK_EVERY == 0 && (unsigned long)answer[1] != result_of((unsigned long)answer[0]))
        errx(1, "farm: job %ld has the result %ld", answer[0], answer[1]);
    total += (unsigned long)answer[1];
}

static void steps_farm(int count)
{
    const long stop = STOP;
    if (comm_rank > 0) {
        work();
        return;
    }
    long next = jobs, end = jobs + count;
    for (int worker = 1; worker < comm_size && next < end; worker++, next++)
        comm_send(worker, &next, 1);
    for (; jobs < end; jobs++) {
        long answer[2];
        int worker = comm_receive(COMM_ANY, answer, 2);
        if (next < end) {
            comm_send(worker, &next, 1);
            next++;
        }
        take(answer);
    }
    for (int worker = 1; worker < comm_size; worker++)
        comm_send(worker, &stop, 1);
}

static double check_farm(void)
{
    return (double)total;
}

static void close_farm(void)
{
}

const struct program farm = {.name = "farm",
                             .size_means = "microseconds of a job",
                             .any_tasks = 1,
                             .refuse = refuse_farm,
                             .open = open_farm,
                             .steps = steps_farm,
                             .check = check_farm,
                             .close = close_farm,
                             .least = 4};
