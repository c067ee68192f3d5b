/*
 * collect.h - contributions on their way up the tree: the work of reduce and gather.
 *
 * Each member adds its own contribution to those of its subtree and sends them up as few pieces. It waits only a moment
 * for members below that are late: a non-root never blocks. The late ones are told to send theirs further up; what
 * comes nevertheless is passed to the root as it is (traffic.c), and the root finishes what was left undone. Pieces are
 * combined in the order of the tree whoever does it and whenever they come, so that the same data give the same result
 * to the last bit.
 */
#ifndef PVMI_COLLECT_H
#define PVMI_COLLECT_H

#include "collective.h"

struct pvmi_collect {
    struct pvmi_wait wait; /* first: what it calls back gets its address */
    struct pvmi_collective *c;
    void (*reduce)(int *type, void *x, void *y, int *n, int *info); /* NULL: gather */
    struct pvmi_parcel *pieces;                                     /* by position, disjoint */
    struct pvmi_parcel *strays;                                     /* root: from members who saw another member list */
    bool *covered;                                                  /* which positions are in them */
    bool *past;         /* which members say that nothing more comes from them */
    int reach, missing; /* of our subtree; positions in it that are not covered */
};

/*
 * Adds `data`, our own contribution, to what comes from below, and sends it up unless we are the root. At the root it
 * waits until all is there. 0 or an error; either way end with pvmi_collect_free().
 */
int pvmi_collect_run(struct pvmi_collect *k, void *data);
void pvmi_collect_free(struct pvmi_collect *k);

/* Root: makes all pieces one, k->pieces. 0 or the error of the user's function. */
int pvmi_collect_fold(struct pvmi_collect *k);

#endif
