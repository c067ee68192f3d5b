/*
 * comm.h - what the programs need from a message passing system. comm_pvm.c and comm_mpi.c implement it with the calls
 * that a user of each would choose for speed. Ranks are 0 to comm_size - 1. All functions end the program on an error.
 */
#ifndef PROGRAMS_COMM_H
#define PROGRAMS_COMM_H

enum { COMM_ANY = -1, COMM_TASKS_MAX = 1024 };

/* One border of a task: `out` goes to the peer, and the peer's goes to `in`. Side i faces the peer's side i ^ 1. */
struct comm_side {
    int peer;          /* -1: no exchange */
    const double *out; /* NULL: only receives */
    double *in;        /* NULL: only sends */
    int count;         /* of doubles */
};

extern int comm_rank, comm_size;

/*
 * Joins `tasks` copies of this program. mpirun has already started them; PVM spawns them on this host, the second half
 * of the ranks on the host PROGRAM_HOST if that is set.
 */
void comm_open(int tasks, int *argc, char ***argv);
void comm_close(void);

/* The following are called by all ranks. */
void comm_barrier(void);
void comm_share(int *value); /* rank 0's value at all ranks */
void comm_exchange(const struct comm_side *sides, int count);

/* Arrays of `count` doubles of each rank; the root of all is rank 0. */
void comm_bcast(double *values, int count);
void comm_reduce(double *values, int count); /* the sums, element by element, at the root; elsewhere values are lost */
void comm_sum(double *values, int count);    /* the sums at all ranks */
void comm_gather(const double *mine, double *all, int count);
void comm_scatter(const double *all, double *mine, int count);
void comm_allgather(double *all, int count); /* each rank has set all[rank * count] and on */
void comm_alltoall(const double *out, double *in, int count);

/* One message of `count` longs. comm_receive() returns its sender; from may be COMM_ANY. */
void comm_send(int to, const long *words, int count);
int comm_receive(int from, long *words, int count);

#endif
