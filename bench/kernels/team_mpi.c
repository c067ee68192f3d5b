/*
 * team_mpi.c - team.h over MPI, for comparison with team_pvm.c: each call is what a user of MPI would write for it.
 *
 * Values that team_send() has taken may be changed at once and nobody has to receive them yet. MPI_Send() does not
 * promise that, so they are copied; team_exchange() needs no copy.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "examples/kernels/tally.h"
#include "examples/kernels/team.h"

enum { SIDES_MAX = 2 * TEAM_MAX };

static int rank, size = 1;

int team_rank(void)
{
    return rank;
}

int team_size(void)
{
    return size;
}

static MPI_Datatype mpi_type(enum team_type type)
{
    return type == TEAM_INT ? MPI_INT : type == TEAM_FLOAT ? MPI_FLOAT : MPI_DOUBLE;
}

static size_t bytes_of(enum team_type type, int count)
{
    return (size_t)count * (type == TEAM_DOUBLE ? sizeof(double) : sizeof(float)); /* an int has a float's size */
}

/* ---- start and end ---- */

void team_start(int argc, char **argv, int tasks)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != tasks)
        team_fail("mpirun has started %d tasks, not %d", size, tasks);
    tally_count(true);
}

void team_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* ---- messages on their way ---- */

/* A copy that MPI still reads. */
struct copy {
    struct copy *next;
    MPI_Request request;
    char bytes[];
};

static struct copy *copies; /* the latest first */

static struct copy *new_copy(size_t bytes)
{
    return team_alloc(1, sizeof(struct copy) + bytes);
}

/* Frees the copies that have been sent or, if it is to wait, all. */
static void forget_copies(int wait)
{
    for (struct copy **at = &copies; *at;) {
        struct copy *copy = *at;
        int sent = wait;
        if (wait)
            MPI_Wait(&copy->request, MPI_STATUS_IGNORE);
        else
            MPI_Test(&copy->request, &sent, MPI_STATUS_IGNORE);
        if (sent) {
            *at = copy->next;
            free(copy);
        } else {
            at = &copy->next;
        }
    }
}

static void post(struct copy *copy, size_t bytes, int to, int tag)
{
    forget_copies(0);
    MPI_Isend(copy->bytes, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &copy->request);
    copy->next = copies;
    copies = copy;
    tally_message((long)bytes);
}

int team_end(int status)
{
    forget_copies(1);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}

/* ---- messages between two tasks ---- */

void team_send(int to, int tag, enum team_type type, const void *values, int count)
{
    size_t bytes = bytes_of(type, count);
    struct copy *copy;

    tally_enter();
    copy = new_copy(bytes);
    memcpy(copy->bytes, values, bytes);
    post(copy, bytes, to, tag);
    tally_leave();
}

void team_receive(int from, int tag, enum team_type type, void *values, int count)
{
    tally_enter();
    MPI_Recv(values, (int)bytes_of(type, count), MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tally_leave();
}

void team_exchange(int tag, enum team_type type, const struct team_side *sides, int count)
{
    static MPI_Request requests[2 * SIDES_MAX];
    static MPI_Status statuses[2 * SIDES_MAX];
    int open = 0;

    tally_enter();
    for (int i = 0; i < count; i++)
        if (sides[i].in)
            MPI_Irecv(sides[i].in, sides[i].count, mpi_type(type), sides[i].peer, tag + (i ^ 1), MPI_COMM_WORLD,
                      &requests[open++]);
    for (int i = 0; i < count; i++)
        if (sides[i].out) {
            MPI_Isend(sides[i].out, sides[i].count, mpi_type(type), sides[i].peer, tag + i, MPI_COMM_WORLD,
                      &requests[open++]);
            tally_message((long)bytes_of(type, sides[i].count));
        }
    MPI_Waitall(open, requests, statuses);
    tally_leave();
}

/* ---- messages of several parts ---- */

static struct {
    struct copy *copy; /* the message that is being packed */
    size_t room, used;
    char *taken; /* the one that has been received */
    size_t taken_room, read;
} parts;

void team_message(void)
{
    if (!parts.copy)
        parts.copy = new_copy(parts.room);
    parts.used = 0;
}

/* Makes room for more bytes, and returns where they go. */
static char *append(size_t bytes)
{
    if (parts.used + bytes > parts.room) {
        parts.room = 2 * (parts.used + bytes);
        parts.copy = realloc(parts.copy, sizeof *parts.copy + parts.room);
        if (!parts.copy)
            team_fail("out of memory");
    }
    parts.used += bytes;
    return parts.copy->bytes + parts.used - bytes;
}

void team_pack(enum team_type type, const void *values, int count, int stride)
{
    size_t one = bytes_of(type, 1);
    char *to;

    tally_enter();
    to = append(bytes_of(type, count));
    if (stride == 1)
        memcpy(to, values, bytes_of(type, count));
    else if (type == TEAM_DOUBLE)
        for (int i = 0; i < count; i++)
            memcpy(to + i * one, (const double *)values + (long)i * stride, sizeof(double));
    else
        for (int i = 0; i < count; i++)
            memcpy(to + i * one, (const int *)values + (long)i * stride, sizeof(int));
    tally_leave();
}

void team_post(int to, int tag)
{
    tally_enter();
    post(parts.copy, parts.used, to, tag);
    parts.copy = NULL;
    tally_leave();
}

void team_take(int from, int tag)
{
    MPI_Status status;
    MPI_Message message;
    int bytes;

    tally_enter();
    MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if ((size_t)bytes > parts.taken_room) {
        free(parts.taken);
        parts.taken_room = (size_t)bytes;
        parts.taken = team_alloc(1, parts.taken_room);
    }
    MPI_Mrecv(parts.taken, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    parts.read = 0;
    tally_leave();
}

void team_unpack(enum team_type type, void *values, int count, int stride)
{
    size_t one = bytes_of(type, 1);
    const char *from = parts.taken + parts.read;

    tally_enter();
    parts.read += bytes_of(type, count);
    if (stride == 1)
        memcpy(values, from, bytes_of(type, count));
    else if (type == TEAM_DOUBLE)
        for (int i = 0; i < count; i++)
            memcpy((double *)values + (long)i * stride, from + i * one, sizeof(double));
    else
        for (int i = 0; i < count; i++)
            memcpy((int *)values + (long)i * stride, from + i * one, sizeof(int));
    tally_leave();
}

/* ---- messages among all tasks ---- */

void team_barrier(void)
{
    tally_enter();
    MPI_Barrier(MPI_COMM_WORLD);
    tally_leave();
}

static void reduce_to_all(enum team_type type, void *values, int count, MPI_Op op)
{
    tally_enter();
    MPI_Allreduce(MPI_IN_PLACE, values, count, mpi_type(type), op, MPI_COMM_WORLD);
    tally_leave();
}

void team_sum(enum team_type type, void *values, int count)
{
    reduce_to_all(type, values, count, MPI_SUM);
}

void team_max(enum team_type type, void *values, int count)
{
    reduce_to_all(type, values, count, MPI_MAX);
}

void team_reduce(enum team_type type, void *values, int count)
{
    tally_enter();
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : values, values, count, mpi_type(type), MPI_SUM, 0, MPI_COMM_WORLD);
    tally_leave();
}

void team_broadcast(enum team_type type, void *values, int count)
{
    tally_enter();
    MPI_Bcast(values, count, mpi_type(type), 0, MPI_COMM_WORLD);
    tally_leave();
}

void team_share(enum team_type type, void *values, const int *first)
{
    int counts[TEAM_MAX];

    tally_enter();
    for (int r = 0; r < size; r++)
        counts[r] = first[r + 1] - first[r];
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, counts, first, mpi_type(type), MPI_COMM_WORLD);
    tally_leave();
}

void team_all_to_all(enum team_type type, const void *out, const int *outgoing, const int *outgoing_at, void *in,
                     const int *incoming, const int *incoming_at)
{
    tally_enter();
    MPI_Alltoallv(out, outgoing, outgoing_at, mpi_type(type), in, incoming, incoming_at, mpi_type(type),
                  MPI_COMM_WORLD);
    tally_leave();
}
