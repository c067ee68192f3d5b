/* comm_mpi.c - MPI: its collectives, and nonblocking sends and receives for borders. */
#include "comm.h"
#include <err.h>
#include <mpi.h>

enum { SIDES_MAX = 2 * COMM_TASKS_MAX, TAG_WORDS = 1, TAG_SIDE };

int comm_rank, comm_size;

void comm_open(int tasks, int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &comm_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm_size);
    if (comm_size != tasks)
        errx(2, "mpirun has started %d tasks, not %d", comm_size, tasks);
}

void comm_close(void)
{
    MPI_Finalize();
}

/* ---- all ranks ---- */

void comm_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void comm_share(int *value)
{
    MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

void comm_exchange(const struct comm_side *sides, int count)
{
    static MPI_Request requests[2 * SIDES_MAX];
    static MPI_Status statuses[2 * SIDES_MAX];
    int n = 0;
    for (int i = 0; i < count; i++)
        if (sides[i].peer >= 0 && sides[i].in)
            MPI_Irecv(sides[i].in, sides[i].count, MPI_DOUBLE, sides[i].peer, TAG_SIDE + (i ^ 1), MPI_COMM_WORLD,
                      &requests[n++]);
    for (int i = 0; i < count; i++)
        if (sides[i].peer >= 0 && sides[i].out)
            MPI_Isend(sides[i].out, sides[i].count, MPI_DOUBLE, sides[i].peer, TAG_SIDE + i, MPI_COMM_WORLD,
                      &requests[n++]);
    MPI_Waitall(n, requests, statuses);
}

void comm_bcast(double *values, int count)
{
    MPI_Bcast(values, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

void comm_reduce(double *values, int count)
{
    MPI_Reduce(comm_rank == 0 ? MPI_IN_PLACE : values, values, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

void comm_sum(double *values, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void comm_gather(const double *mine, double *all, int count)
{
    MPI_Gather(mine, count, MPI_DOUBLE, all, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

void comm_scatter(const double *all, double *mine, int count)
{
    MPI_Scatter(all, count, MPI_DOUBLE, mine, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

void comm_allgather(double *all, int count)
{
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

void comm_alltoall(const double *out, double *in, int count)
{
    MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* ---- two ranks ---- */

void comm_send(int to, const long *words, int count)
{
    MPI_Send(words, count, MPI_LONG, to, TAG_WORDS, MPI_COMM_WORLD);
}

int comm_receive(int from, long *words, int count)
{
    MPI_Status status;
    MPI_Recv(words, count, MPI_LONG, from == COMM_ANY ? MPI_ANY_SOURCE : from, TAG_WORDS, MPI_COMM_WORLD, &status);
    return status.MPI_SOURCE;
}
