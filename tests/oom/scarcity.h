/*
 * scarcity.h - shared by a program under test and its tester: which allocations fail. The program has libscarce.so
 * preloaded. An allocation fails when the tester has armed it and its *point*, the innermost frames of the call stack,
 * has not failed before. Repeated until nothing fails, a scenario experiences one failure at each point that it
 * reaches, including those reached only after other failures.
 */
#ifndef SCARCITY_H
#define SCARCITY_H

#include <stdatomic.h>
#include <stdint.h>

#define SCARCITY_FILE    "SCARCITY_FILE"    /* environment: the file that both map */
#define SCARCITY_PROGRAM "SCARCITY_PROGRAM" /* environment: the file name of the program whose allocations count */

enum { SCARCITY_POINTS_MAX = 1 << 15, SCARCITY_FRAMES = 6, SCARCITY_TEXT_BYTES = 4096 };

struct scarcity {
    atomic_int armed;    /* 1: the next allocation at a new point fails and resets this to 0 */
    atomic_int gone_ms;  /* how long all other allocations of the process fail, too; 0: only that one fails */
    atomic_int failures; /* number of points that have failed */
    atomic_int crashes;  /* number of processes of the program that died of a signal */
    atomic_long gone_until_ms, refused; /* end of the shortage on the monotonic clock; number of refused allocations */
    atomic_uint_fast64_t points[SCARCITY_POINTS_MAX]; /* hashes of points that have failed; 0: free */
    char text[SCARCITY_TEXT_BYTES];                   /* the call stack of the failure */
};

/* Maps the file that SCARCITY_FILE names, which has the size of the struct; NULL: there is none. */
struct scarcity *scarcity_map(void);

#endif
