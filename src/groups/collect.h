/*
 * collect.h - contributions on their way to the root: the work of reduce and gather.
 *
 * Each member sends its own straight to the root and goes on. Passing them on through other members would save the root
 * work, but a member may end as soon as it has given, and what others had sent through it would be lost with it. They
 * are combined in the order of positions, whenever they come, so that the same data give the same result to the last
 * bit.
 */
#ifndef PVMI_COLLECT_H
#define PVMI_COLLECT_H

#include "collective.h"

struct pvmi_collect {
    struct pvmi_wait wait; /* first: what it calls back gets its address */
    struct pvmi_collective *c;
    void (*reduce)(int *type, void *x, void *y, int *n, int *info); /* NULL: gather */
    struct pvmi_parcel *pieces; /* at the root, by position; of a reduce, the first is the result so far */
    bool *covered;              /* positions whose contribution has come */
    bool *past;                 /* which members say that nothing more comes from them */
    int missing;                /* positions that are not covered */
};

/*
 * Sends `data`, our contribution, or waits at the root until all are there: then `pieces` are the parts of a gather, or
 * the one result of a reduce. 0 or an error, also of the user's function; either way end with pvmi_collect_free().
 */
int pvmi_collect_run(struct pvmi_collect *k, void *data);
void pvmi_collect_free(struct pvmi_collect *k);

#endif
