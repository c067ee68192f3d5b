/*
 * team_report.c - memory, time and statistics: what a team does in the same way over any library.
 */
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tally.h"

enum { TAG_REPORT = TEAM_TAG_MAX + 4 };

void *team_alloc(long count, unsigned long size)
{
    void *memory = calloc((size_t)(count > 0 ? count : 1), size);

    if (!memory)
        team_fail("no memory for %ld times %lu bytes", count, size);
    return memory;
}

void team_warm_up(void)
{
    tally_count(false);
}

void team_clock_start(void)
{
    tally_count(false);
    team_barrier();
    tally_count(true);
    tally_start();
}

double team_clock_stop(void)
{
    double time_s;

    tally_stop();
    time_s = tally_result().time_s;
    team_max(TEAM_DOUBLE, &time_s, 1);
    return time_s;
}

static int by_size(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* Mean of the two in the middle, if their number is even. */
static double median(const int *sorted, int count)
{
    if (count == 0)
        return 0;
    return (sorted[(count - 1) / 2] + (double)sorted[count / 2]) / 2;
}

static void print_report(int *sizes, int messages, double time_s, double mean_s, double longest_s)
{
    double bytes = 0;

    qsort(sizes, messages, sizeof *sizes, by_size);
    for (int k = 0; k < messages; k++)
        bytes += sizes[k];
    printf("stats tasks=%d messages=%d bytes=%.0f mean=%.2f median=%.0f time_s=%.6f comm_s=%.6f comm_max_s=%.6f\n",
           team_size(), messages, bytes, messages ? bytes / messages : 0, median(sizes, messages), time_s, mean_s,
           longest_s);
}

/* All sizes, those of each task after those of the ranks before it; and their number. The first task's only. */
static int *gather_sizes(struct tally mine, int *total)
{
    int *sizes, counts[TEAM_MAX];

    *total = counts[0] = mine.messages;
    for (int rank = 1; rank < team_size(); rank++) {
        team_receive(rank, TAG_REPORT, TEAM_INT, &counts[rank], 1);
        *total += counts[rank];
    }
    sizes = team_alloc(*total, sizeof *sizes);
    if (mine.messages > 0)
        memcpy(sizes, mine.sizes, mine.messages * sizeof *sizes);
    for (int rank = 1, at = counts[0]; rank < team_size(); at += counts[rank++])
        team_receive(rank, TAG_REPORT, TEAM_INT, sizes + at, counts[rank]);
    return sizes;
}

void team_report(void)
{
    struct tally mine = tally_result();
    double longest_s = mine.communication_s, total_s = mine.communication_s, time_s = mine.time_s;
    int *sizes, messages;

    team_max(TEAM_DOUBLE, &time_s, 1);
    team_max(TEAM_DOUBLE, &longest_s, 1);
    team_sum(TEAM_DOUBLE, &total_s, 1);
    if (team_rank() > 0) {
        team_send(0, TAG_REPORT, TEAM_INT, &mine.messages, 1);
        team_send(0, TAG_REPORT, TEAM_INT, mine.sizes, mine.messages);
        return;
    }
    sizes = gather_sizes(mine, &messages);
    print_report(sizes, messages, time_s, total_s / team_size(), longest_s);
    free(sizes);
}
