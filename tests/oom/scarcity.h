/*
 * scarcity.h - what a program under test and the one that tests it share: which allocations fail. The first has
 * libscarce.so preloaded, which fails an allocation when its *point*, the innermost frames of its call stack, has not
 * failed before and the tester has armed it. So a scenario that is run until nothing fails any more has been through
 * one failure at each point that it reaches, those behind other failures included.
 */
#ifndef SCARCITY_H
#define SCARCITY_H

#include <stdatomic.h>
#include <stdint.h>

#define SCARCITY_FILE    "SCARCITY_FILE"    /* environment: the file that both map */
#define SCARCITY_PROGRAM "SCARCITY_PROGRAM" /* environment: the file name of the program whose allocations count */

enum { SCARCITY_POINTS_MAX = 1 << 15, SCARCITY_FRAMES = 6, SCARCITY_TEXT_BYTES = 4096 };

struct scarcity {
    atomic_int armed;                   /* 1: the next allocation at a new point fails, and this becomes 0 */
    atomic_int gone_ms;                 /* with it, and for so long, each other one of the process; 0: only that one */
    atomic_int failures;                /* so many points have failed */
    atomic_int crashes;                 /* so many processes of the program have died of a signal */
    atomic_long gone_until_ms, refused; /* until when memory is gone, by the monotonic clock; allocations refused */
    atomic_uint_fast64_t points[SCARCITY_POINTS_MAX]; /* hashes of points that have failed; 0: free */
    char text[SCARCITY_TEXT_BYTES];                   /* the call stack of the failure */
};

/* Maps the file that SCARCITY_FILE names, which has that size; NULL: there is none. */
struct scarcity *scarcity_map(void);

#endif
