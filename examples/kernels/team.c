/*
 * team.c - the collective calls of team.h, made of messages between two tasks, and the report.
 */
#include "team.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tally.h"

enum { TAG_UP = TEAM_TAG_MAX + 1, TAG_DOWN, TAG_EACH, TAG_REPORT };

void *team_alloc(long count, unsigned long size)
{
    void *memory = calloc((size_t)(count > 0 ? count : 1), size);

    if (!memory)
        team_fail("no memory for %ld times %lu bytes", count, size);
    return memory;
}

static size_t size_of(enum team_type type)
{
    return type == TEAM_INT ? sizeof(int) : type == TEAM_FLOAT ? sizeof(float) : sizeof(double);
}

/* Where values[index] is. */
static void *place(enum team_type type, const void *values, int index)
{
    return (char *)values + (size_t)index * size_of(type);
}

void team_exchange(int tag, enum team_type type, const struct team_side *sides, int count)
{
    tally_enter();
    for (int side = 0; side < count; side++)
        if (sides[side].out)
            team_send(sides[side].peer, tag + side, type, sides[side].out, sides[side].count);
    for (int side = 0; side < count; side++)
        if (sides[side].in)
            team_receive(sides[side].peer, tag + (side ^ 1), type, sides[side].in, sides[side].count);
    tally_leave();
}

void team_broadcast(enum team_type type, void *values, int count)
{
    tally_enter();
    if (team_rank() > 0)
        team_receive(0, TAG_DOWN, type, values, count);
    else
        for (int rank = 1; rank < team_size(); rank++)
            team_send(rank, TAG_DOWN, type, values, count);
    tally_leave();
}

static void add_ints(int *sum, const int *values, int count)
{
    for (int k = 0; k < count; k++)
        sum[k] += values[k];
}

static void add_doubles(double *sum, const double *values, int count)
{
    for (int k = 0; k < count; k++)
        sum[k] += values[k];
}

static void add(enum team_type type, void *sum, const void *values, int count)
{
    if (type == TEAM_INT)
        add_ints(sum, values, count);
    else
        add_doubles(sum, values, count);
}

static void raise_to(enum team_type type, void *largest, const void *values, int count)
{
    for (int k = 0; k < count; k++)
        if (type == TEAM_INT && ((const int *)values)[k] > ((int *)largest)[k])
            ((int *)largest)[k] = ((const int *)values)[k];
        else if (type == TEAM_DOUBLE && ((const double *)values)[k] > ((double *)largest)[k])
            ((double *)largest)[k] = ((const double *)values)[k];
}

/* The first task combines the values of all, in the order of ranks. */
static void combine_at_first(enum team_type type, void *values, int count,
                             void (*into)(enum team_type, void *, const void *, int))
{
    double few[16];
    void *others;

    if (team_rank() > 0) {
        team_send(0, TAG_UP, type, values, count);
        return;
    }
    others = count <= 16 ? few : team_alloc(count, size_of(type));
    for (int rank = 1; rank < team_size(); rank++) {
        team_receive(rank, TAG_UP, type, others, count);
        into(type, values, others, count);
    }
    if (others != few)
        free(others);
}

/* ... and all get the result. */
static void combine(enum team_type type, void *values, int count,
                    void (*into)(enum team_type, void *, const void *, int))
{
    if (team_size() == 1)
        return;
    tally_enter();
    combine_at_first(type, values, count, into);
    team_broadcast(type, values, count);
    tally_leave();
}

void team_sum(enum team_type type, void *values, int count)
{
    combine(type, values, count, add);
}

void team_max(enum team_type type, void *values, int count)
{
    combine(type, values, count, raise_to);
}

void team_reduce(enum team_type type, void *values, int count)
{
    tally_enter();
    combine_at_first(type, values, count, add);
    tally_leave();
}

void team_barrier(void)
{
    int nothing = 0;

    combine(TEAM_INT, &nothing, 0, add);
}

/* The first task sends rank what it lacks: all but its own part. */
static void send_rest(enum team_type type, void *values, const int *first, int rank)
{
    team_message();
    team_pack(type, values, first[rank], 1);
    team_pack(type, place(type, values, first[rank + 1]), first[team_size()] - first[rank + 1], 1);
    team_post(rank, TAG_DOWN);
}

static void receive_rest(enum team_type type, void *values, const int *first, int rank)
{
    team_take(0, TAG_DOWN);
    team_unpack(type, values, first[rank], 1);
    team_unpack(type, place(type, values, first[rank + 1]), first[team_size()] - first[rank + 1], 1);
}

void team_share(enum team_type type, void *values, const int *first)
{
    int size = team_size(), me = team_rank();

    tally_enter();
    if (me > 0) {
        team_send(0, TAG_UP, type, place(type, values, first[me]), first[me + 1] - first[me]);
        receive_rest(type, values, first, me);
    } else {
        for (int rank = 1; rank < size; rank++)
            team_receive(rank, TAG_UP, type, place(type, values, first[rank]), first[rank + 1] - first[rank]);
        for (int rank = 1; rank < size; rank++)
            send_rest(type, values, first, rank);
    }
    tally_leave();
}

/* Rank r begins with its neighbour r+1, so that no task is sent to by all others at once. */
void team_all_to_all(enum team_type type, const void *out, const int *outgoing, const int *outgoing_at, void *in,
                     const int *incoming, const int *incoming_at)
{
    int size = team_size(), me = team_rank();

    tally_enter();
    for (int step = 1; step < size; step++) {
        int to = (me + step) % size;
        team_send(to, TAG_EACH, type, place(type, out, outgoing_at[to]), outgoing[to]);
    }
    memcpy(place(type, in, incoming_at[me]), place(type, out, outgoing_at[me]), outgoing[me] * size_of(type));
    for (int step = 1; step < size; step++) {
        int from = (me - step + size) % size;
        team_receive(from, TAG_EACH, type, place(type, in, incoming_at[from]), incoming[from]);
    }
    tally_leave();
}

/* ---- time and statistics ---- */

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
