/*
 * program.h - the programs: their arithmetic is the same for every message passing system, and comm.h moves the data.
 *
 * main.c calls open, then steps several times, and close; check at any time in between. All ranks make the same calls.
 */
#ifndef PROGRAMS_PROGRAM_H
#define PROGRAMS_PROGRAM_H

struct program {
    const char *name;
    const char *size_means;          /* what the size on the command line is, or NULL if there is none */
    int any_tasks;                   /* whether check()'s sum is the same for every number of tasks */
    const char *(*refuse)(int size); /* why this size does not fit comm_size, or NULL */
    void (*open)(int size);
    void (*steps)(int count); /* goes on from where the last call stopped */
    double (*check)(void);    /* ends the program if a result is wrong; the sum of the results at rank 0 */
    void (*close)(void);
    int least; /* steps of a block for each task */
};

extern const struct program halo, cg, transpose, farm;
extern const struct program barrier, bcast, reduce, gather, scatter, alltoall, mesh, pairs; /* collective.c */

#endif
