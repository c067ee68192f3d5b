/* test.c - the tests: the work of each member in a job, a number of samples of several rounds. */
#include "test.h"
#include <stdio.h>
#include <string.h>
#include "pvm3.h"
#include "data.h"
#include "launch.h"
#include "member.h"

/* ---- two members ---- */

/* A round is a round trip of a message. */
static void run_lat(struct member *m, double *times_us)
{
    int total = m->job.samples * m->job.rounds;
    double began = now_us();
    for (int i = 0; i < total; i++) {
        if (m->rank == 0)
            data_send(m, 1, i);
        data_receive(m, !m->rank, i);
        if (m->rank == 1)
            data_send(m, 0, i);
        if (m->rank == 0 && (i + 1) % m->job.rounds == 0) {
            double now = now_us();
            *times_us++ = now - began;
            began = now;
        }
    }
}

/* A round is a message to member 1, which acknowledges the last of each sample. */
static void run_stream(struct member *m, double *times_us)
{
    for (int sample = 0; sample < m->job.samples; sample++) {
        double began = now_us();
        for (int i = 0; i < m->job.rounds; i++)
            if (m->rank == 0)
                data_send(m, 1, i);
            else
                data_receive(m, 0, i);
        if (m->rank == 1) {
            signal_send(m->tids[0], TAG_ACK);
            continue;
        }
        signal_receive(m->tids[1], TAG_ACK);
        times_us[sample] = now_us() - began;
    }
}

/* A round is a message in each direction. */
static void run_bibw(struct member *m, double *times_us)
{
    for (int sample = 0; sample < m->job.samples; sample++) {
        double began = now_us();
        for (int i = 0; i < m->job.rounds; i++)
            data_send(m, !m->rank, i);
        for (int i = 0; i < m->job.rounds; i++)
            data_receive(m, !m->rank, i);
        if (m->rank == 1) {
            signal_send(m->tids[0], TAG_ACK);
            continue;
        }
        signal_receive(m->tids[1], TAG_ACK);
        times_us[sample] = now_us() - began;
    }
}

/* ---- a receive by source and tag while others wait ---- */

static int queued_tag(int i)
{
    return TAG_QUEUED + i % TAG_QUEUED_COUNT;
}

static void prepare_match(struct member *m)
{
    if (m->rank == 0) {
        signal_receive(m->tids[1], TAG_GO); /* all queued messages have arrived before it */
        return;
    }
    for (int i = 0; i < m->point.queued; i++)
        signal_send(m->tids[0], queued_tag(i));
    signal_send(m->tids[0], TAG_GO);
}

static void run_match(struct member *m, double *times_us)
{
    for (int sample = 0; sample < m->job.samples; sample++) {
        if (m->rank == 1) {
            signal_receive(m->tids[0], TAG_GO);
            for (int i = 0; i < m->job.rounds; i++)
                data_send(m, 0, i);
            signal_send(m->tids[0], TAG_ACK);
            continue;
        }
        signal_send(m->tids[1], TAG_GO);
        signal_receive(m->tids[1], TAG_ACK);
        double began = now_us();
        for (int i = 0; i < m->job.rounds; i++)
            data_receive(m, 1, i);
        times_us[sample] = now_us() - began;
    }
}

static void finish_match(struct member *m)
{
    for (int i = 0; m->rank == 0 && i < m->point.queued; i++)
        signal_receive(m->tids[1], queued_tag(i));
}

/* ---- many members ---- */

/* A round ends when all receivers have answered. */
static void run_mcast(struct member *m, double *times_us)
{
    int number = 0;
    for (int sample = 0; sample < m->job.samples; sample++) {
        double began = now_us();
        for (int round = 0; round < m->job.rounds; round++, number++) {
            if (m->rank > 0) {
                data_receive(m, 0, number);
                signal_send(m->tids[0], TAG_ACK);
                continue;
            }
            data_mcast(m, number);
            for (int i = 1; i < m->count; i++)
                signal_receive(-1, TAG_ACK);
        }
        if (m->rank == 0)
            times_us[sample] = now_us() - began;
    }
}

/* A round is a message through all members and back to member 0. */
static void run_ring(struct member *m, double *times_us)
{
    int next = (m->rank + 1) % m->count, before = (m->rank + m->count - 1) % m->count, number = 0;
    for (int sample = 0; sample < m->job.samples; sample++) {
        double began = now_us();
        for (int round = 0; round < m->job.rounds; round++, number++) {
            if (m->rank == 0)
                data_send(m, next, number);
            data_receive(m, before, number);
            if (m->rank > 0)
                data_send(m, next, number);
        }
        if (m->rank == 0)
            times_us[sample] = now_us() - began;
    }
}

/* A round is a message from each member to each other member. */
static void run_alltoall(struct member *m, double *times_us)
{
    int number = 0;
    for (int sample = 0; sample < m->job.samples; sample++) {
        double began = now_us();
        for (int round = 0; round < m->job.rounds; round++, number++) {
            for (int i = 1; i < m->count; i++)
                data_send(m, (m->rank + i) % m->count, number);
            for (int i = 1; i < m->count; i++)
                data_receive(m, (m->rank + m->count - i) % m->count, number);
        }
        if (m->rank == 0)
            times_us[sample] = now_us() - began;
    }
}

/* ---- barrier ---- */

static char *group_name(const struct member *m)
{
    static char name[32];
    snprintf(name, sizeof name, "pvm-perf.%x", (unsigned)m->tids[0]);
    return name;
}

static void prepare_barrier(struct member *m)
{
    member_must(pvm_joingroup(group_name(m)), "pvm_joingroup");
}

static void run_barrier(struct member *m, double *times_us)
{
    for (int sample = 0; sample < m->job.samples; sample++) {
        double began = now_us();
        for (int round = 0; round < m->job.rounds; round++)
            member_must(pvm_barrier(group_name(m), m->count), "pvm_barrier");
        if (m->rank == 0)
            times_us[sample] = now_us() - began;
    }
}

static void finish_barrier(struct member *m)
{
    member_must(pvm_lvgroup(group_name(m)), "pvm_lvgroup");
}

/* ---- spawn ---- */

static int tasks_on_host(const struct member *m, int host)
{
    int hosts = m->host_count > 0 ? m->host_count : 1;
    return m->point.tasks / hosts + (host < m->point.tasks % hosts);
}

static void start_tasks(const struct member *m, int *tids)
{
    char why[512];
    int started = 0;
    for (int host = 0; started < m->point.tasks; host++) {
        int n = tasks_on_host(m, host);
        if (launch_members(m->host_count > 0 ? m->hosts[host] : ".", n, tids + started, why, sizeof why) < 0) {
            while (started > 0)
                pvm_kill(tids[--started]);
            member_fail("%s", why);
        }
        started += n;
    }
}

static void end_tasks(int n, int *tids)
{
    member_must(pvm_notify(PvmTaskExit, TAG_LEFT, n, tids), "pvm_notify");
    for (int i = 0; i < n; i++)
        signal_send(tids[i], TAG_END);
    for (int i = 0; i < n; i++)
        signal_receive(-1, TAG_LEFT);
}

/* A round is the start of all tasks until the last one reports that it has enrolled. Their end is not measured. */
static void run_spawn(struct member *m, double *times_us)
{
    static int tids[MEMBERS_MAX];
    for (int sample = 0; sample < m->job.samples; sample++) {
        times_us[sample] = 0;
        for (int round = 0; round < m->job.rounds; round++) {
            double began = now_us();
            start_tasks(m, tids);
            for (int i = 0; i < m->point.tasks; i++)
                signal_receive(-1, TAG_READY);
            times_us[sample] += now_us() - began;
            end_tasks(m->point.tasks, tids);
        }
    }
}

/* ---- the table ---- */

static double none(int tasks)
{
    (void)tasks;
    return 0;
}

static double one(int tasks)
{
    (void)tasks;
    return 1;
}

static double two(int tasks)
{
    (void)tasks;
    return 2;
}

static double each(int tasks)
{
    return tasks;
}

static double all_pairs(int tasks)
{
    return (double)tasks * (tasks - 1);
}

const struct test tests[] = {
    {.name = "lat",
     .what = "half the round-trip time between two tasks",
     .unit = "us",
     .axes = AXIS_BYTES,
     .members = 2,
     .figure = FIGURE_MBS,
     .per_round = 2,
     .messages = two,
     .sample_us = 20,
     .rounds_min = 1,
     .rounds_max = 1000,
     .jobs_us = 20000,
     .run = run_lat},
    {.name = "bw",
     .what = "one task streams messages to another",
     .unit = "us",
     .axes = AXIS_BYTES,
     .members = 2,
     .figure = FIGURE_MBS,
     .per_round = 1,
     .messages = one,
     .sample_us = 2000,
     .rounds_min = 4,
     .rounds_max = 10000,
     .jobs_us = 20000,
     .run = run_stream},
    {.name = "bibw",
     .what = "two tasks stream messages to each other",
     .unit = "us",
     .axes = AXIS_BYTES,
     .members = 2,
     .figure = FIGURE_MBS,
     .per_round = 1,
     .messages = two,
     .sample_us = 2000,
     .rounds_min = 4,
     .rounds_max = 10000,
     .jobs_us = 20000,
     .run = run_bibw},
    {.name = "rate",
     .what = "messages per second, in long streams of short messages",
     .unit = "us",
     .axes = AXIS_BYTES,
     .members = 2,
     .figure = FIGURE_MESSAGES,
     .per_round = 1,
     .messages = one,
     .sample_us = 20000,
     .rounds_min = 100,
     .rounds_max = 1000000,
     .jobs_us = 20000,
     .run = run_stream},
    {.name = "mcast",
     .what = "pvm_mcast to --tasks tasks until all have answered",
     .unit = "us",
     .axes = AXIS_TASKS | AXIS_BYTES,
     .members = -1,
     .figure = FIGURE_MBS,
     .per_round = 1,
     .default_tasks = 8,
     .messages = each,
     .sample_us = 20,
     .rounds_min = 1,
     .rounds_max = 1,
     .jobs_us = 20000,
     .run = run_mcast},
    {.name = "match",
     .what = "receive by source and tag while --queued other messages wait",
     .unit = "us",
     .axes = AXIS_QUEUED | AXIS_BYTES,
     .members = 2,
     .figure = FIGURE_NONE,
     .per_round = 1,
     .messages = one,
     .sample_us = 1,
     .rounds_min = 100,
     .rounds_max = 100,
     .jobs_us = 20000,
     .prepare = prepare_match,
     .run = run_match,
     .finish = finish_match},
    {.name = "spawn",
     .what = "pvm_spawn of --tasks tasks until all have enrolled",
     .unit = "ms",
     .axes = AXIS_TASKS,
     .members = 1,
     .figure = FIGURE_TASKS,
     .per_round = 1000,
     .default_tasks = 16,
     .default_samples = 10,
     .messages = none,
     .sample_us = 1,
     .rounds_min = 1,
     .rounds_max = 1,
     .jobs_us = 1,
     .run = run_spawn},
    {.name = "barrier",
     .what = "pvm_barrier of --tasks tasks",
     .unit = "us",
     .axes = AXIS_TASKS,
     .members = 0,
     .figure = FIGURE_NONE,
     .per_round = 1,
     .default_tasks = 16,
     .messages = none,
     .sample_us = 20,
     .rounds_min = 1,
     .rounds_max = 1,
     .jobs_us = 20000,
     .prepare = prepare_barrier,
     .run = run_barrier,
     .finish = finish_barrier},
    {.name = "ring",
     .what = "a message around a ring of --tasks tasks",
     .unit = "us",
     .axes = AXIS_TASKS | AXIS_BYTES,
     .members = 0,
     .figure = FIGURE_HOP,
     .per_round = 1,
     .default_tasks = 16,
     .messages = each,
     .sample_us = 20,
     .rounds_min = 1,
     .rounds_max = 100,
     .jobs_us = 20000,
     .run = run_ring},
    {.name = "alltoall",
     .what = "a message from each of --tasks tasks to each other task",
     .unit = "us",
     .axes = AXIS_TASKS | AXIS_BYTES,
     .members = 0,
     .figure = FIGURE_MBS,
     .per_round = 1,
     .default_tasks = 4,
     .messages = all_pairs,
     .sample_us = 20,
     .rounds_min = 1,
     .rounds_max = 100,
     .jobs_us = 20000,
     .run = run_alltoall},
};

const int test_count = sizeof tests / sizeof *tests;

int test_find(const char *name)
{
    for (int i = 0; i < test_count; i++)
        if (strcmp(tests[i].name, name) == 0)
            return i;
    return -1;
}
