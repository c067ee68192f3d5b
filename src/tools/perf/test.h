/* test.h - the table of tests, and what a member knows while it runs one. */
#ifndef PERF_TEST_H
#define PERF_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include "point.h"

enum { MEMBERS_MAX = 4096, BYTES_MAX = 1 << 30, HOSTS_MAX = 64, HOST_NAME_MAX_BYTES = 256 };

/* How many rounds are run next; member 0 tells the others (they need not know times_us). Ints only, but the pointer. */
struct job {
    int samples; /* 0: the point is over */
    int rounds;  /* in each sample */
    int checked; /* whether all contents are compared */
    int serial;  /* of the job in this point: makes the contents of each job others */
};

struct member {
    int rank, count;
    int tids[MEMBERS_MAX];
    int host_count; /* of --hosts; 0: this host */
    char hosts[HOSTS_MAX][HOST_NAME_MAX_BYTES];
    struct point point;
    struct job job;
};

/* Which of the lists on the command line make the rows. */
enum axis { AXIS_BYTES = 1, AXIS_TASKS = 2, AXIS_QUEUED = 4 };

/* What is shown beside the time of a round. */
enum figure { FIGURE_NONE, FIGURE_MBS, FIGURE_MESSAGES, FIGURE_HOP, FIGURE_TASKS };

struct test {
    const char *name;
    const char *what; /* one line for --help */
    const char *unit; /* what a time in the result is, for the heading */
    int axes;         /* of enum axis */
    int members;      /* of a team; 0: --tasks; -1: one more than --tasks */
    enum figure figure;
    double per_round; /* a shown time is the round's divided by this: 2 for half round trips */
    /* Messages that a round carries. */
    double (*messages)(int tasks);
    int default_tasks;   /* 0: the axis is not used */
    int default_samples; /* 0: by time */
    /* How many rounds make a sample: so many that it lasts sample_us, but from rounds_min to rounds_max. */
    int sample_us, rounds_min, rounds_max;
    int jobs_us; /* as many samples in a job as this allows */

    /* All optional but run. Every member calls them; they end the member by member_fail() when something fails. */
    void (*prepare)(struct member *m);
    void (*run)(struct member *m, double *times_us); /* does m->job; member 0 writes the time of each sample */
    void (*finish)(struct member *m);
};

extern const struct test tests[];
extern const int test_count;

/* Index of the test of this name, or -1. */
int test_find(const char *name);

#endif
