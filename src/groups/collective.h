/*
 * collective.h - what reduce, gather and scatter have in common: all members take part, one of them is the root.
 *
 * The call is known by its number, which is the same in all members because they make the same calls on a group in the
 * same order. Members may leave the call before others enter it; only the root of a reduce or gather, and the others in
 * a scatter, wait.
 */
#ifndef PVMI_COLLECTIVE_H
#define PVMI_COLLECTIVE_H

#include "guard.h"
#include "traffic.h"
#include "tree.h"

struct pvmi_collective {
    struct pvmi_guard guard;
    struct pvmi_group *group; /* NULL: the call counts for nothing, because we are not in the group */
    struct pvmi_call call;
    struct pvmi_tree tree;
    bool flat; /* the root is above all others: nobody passes anything on */
};

/*
 * Begins a call: checks the arguments, finds the group, makes the tree, and opens the traffic. 0 or an error; either
 * way pvmi_collective_end() follows.
 */
int pvmi_collective_begin(struct pvmi_collective *c, int operation, const char *group, int n, int type, int tag,
                          int root);

/*
 * Ends it, and returns what the public call returns. An error is reported as PvmAutoErr asks for: unlike all other
 * calls of groups, as in PVM.
 */
int pvmi_collective_end(struct pvmi_collective *c, int code);

/* Tid and fate of the member at a position. */
int pvmi_collective_tid(const struct pvmi_collective *c, int position);
bool pvmi_collective_gone(const struct pvmi_collective *c, int position);

/* Position of a task, or -1. */
int pvmi_collective_position(const struct pvmi_collective *c, int tid);

/* Keeps what was sent, to send it again if it gets lost, unless it is large; takes over p. */
void pvmi_collective_keep(struct pvmi_collective *c, struct pvmi_parcel *p);

#endif
