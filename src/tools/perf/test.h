/* test.h - the table of tests, and the state of a member that runs one. */
#ifndef PERF_TEST_H
#define PERF_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include "point.h"

enum { MEMBERS_MAX = 4096, BYTES_MAX = 1 << 30, HOSTS_MAX = 64, HOST_NAME_MAX_BYTES = 256 };

/* The next rounds to run, which member 0 sends to the others. All fields are ints: it is packed as an array. */
struct job {
    int samples; /* 0: the point is finished */
    int rounds;  /* per sample */
    int checked; /* whether to verify all contents */
    int serial;  /* number of the job in this point, which makes contents differ between jobs */
};

struct member {
    int rank, count;
    int tids[MEMBERS_MAX];
    int host_count; /* of --hosts; 0: this host */
    char hosts[HOSTS_MAX][HOST_NAME_MAX_BYTES];
    struct point point;
    struct job job;
};

/* The lists on the command line that form the rows. */
enum axis { AXIS_BYTES = 1, AXIS_TASKS = 2, AXIS_QUEUED = 4 };

/* The figure shown next to the times. */
enum figure { FIGURE_NONE, FIGURE_MBS, FIGURE_MESSAGES, FIGURE_HOP, FIGURE_TASKS };

struct test {
    const char *name;
    const char *what; /* one line for --help */
    const char *unit; /* of the times shown */
    int axes;         /* bits of enum axis */
    int members;      /* of a team; 0: --tasks; -1: one more than --tasks */
    enum figure figure;
    double per_round; /* times of a round are divided by this: 2 for half round trips */
    /* Number of messages in a round. */
    double (*messages)(int tasks);
    int default_tasks;   /* 0: the axis is not used */
    int default_samples; /* 0: by time */
    /* A sample has enough rounds to last sample_us, from rounds_min to rounds_max. */
    int sample_us, rounds_min, rounds_max;
    int jobs_us; /* duration of a job, which limits its samples */

    /* All but run are optional. Every member calls them; on an error they call member_fail(). */
    void (*prepare)(struct member *m);
    void (*run)(struct member *m, double *times_us); /* runs m->job; member 0 writes the time of each sample */
    void (*finish)(struct member *m);
};

extern const struct test tests[];
extern const int test_count;

/* Index of the test of this name, or -1. */
int test_find(const char *name);

#endif
