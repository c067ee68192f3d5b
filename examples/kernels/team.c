/*
 * team.c - the collective calls of team.h, made of messages between two tasks.
 */
#include "team.h"

#include <stdlib.h>
#include <string.h>
#include "tally.h"

enum { TAG_UP = TEAM_TAG_MAX + 1, TAG_DOWN, TAG_EACH };

/* Longer parts, in the mean, go to all tasks directly: the first task would copy each of them many times. */
enum { SHARED_BY_FIRST_BYTES = 4096 };

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

/* The same with two tasks, at once: a + b is b + a to the last bit. */
static void combine_both(enum team_type type, void *values, int count,
                         void (*into)(enum team_type, void *, const void *, int))
{
    void *others = team_alloc(count, size_of(type));

    team_send(1 - team_rank(), TAG_EACH, type, values, count);
    team_receive(1 - team_rank(), TAG_EACH, type, others, count);
    into(type, values, others, count);
    free(others);
}

/* All tasks get the result. */
static void combine(enum team_type type, void *values, int count,
                    void (*into)(enum team_type, void *, const void *, int))
{
    if (team_size() == 1)
        return;
    tally_enter();
    if (team_size() == 2) {
        combine_both(type, values, count, into);
    } else {
        combine_at_first(type, values, count, into);
        team_broadcast(type, values, count);
    }
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

/* By way of the first task. */
static void share_by_first(enum team_type type, void *values, const int *first)
{
    int size = team_size(), me = team_rank();

    if (me > 0) {
        team_send(0, TAG_UP, type, place(type, values, first[me]), first[me + 1] - first[me]);
        receive_rest(type, values, first, me);
        return;
    }
    for (int rank = 1; rank < size; rank++)
        team_receive(rank, TAG_UP, type, place(type, values, first[rank]), first[rank + 1] - first[rank]);
    for (int rank = 1; rank < size; rank++)
        send_rest(type, values, first, rank);
}

/* Each task sends its part to all others. */
static void share_directly(enum team_type type, void *values, const int *first)
{
    int size = team_size(), me = team_rank();

    for (int step = 1; step < size; step++)
        team_send((me + step) % size, TAG_EACH, type, place(type, values, first[me]), first[me + 1] - first[me]);
    for (int step = 1; step < size; step++) {
        int from = (me - step + size) % size;
        team_receive(from, TAG_EACH, type, place(type, values, first[from]), first[from + 1] - first[from]);
    }
}

void team_share(enum team_type type, void *values, const int *first)
{
    int size = team_size();
    bool is_long = first[size] * size_of(type) > (size_t)SHARED_BY_FIRST_BYTES * size;

    tally_enter();
    if (size == 2 || is_long)
        share_directly(type, values, first);
    else
        share_by_first(type, values, first);
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
