/*
 * collective.h - the common part of reduce, gather and scatter: all members take part, one of them is the root.
 *
 * A call is identified by its number, which is the same in all members because they make the same calls on a group in
 * the same order. Members may leave the call before others enter it: only the root of a reduce or gather and the
 * non-root members of a scatter wait.
 */
#ifndef PVMG_COLLECTIVE_H
#define PVMG_COLLECTIVE_H

#include "groups/guard.h"
#include "traffic.h"
#include "tree.h"

struct pvmg_collective {
    struct pvmg_guard guard;
    struct pvmg_group *group; /* NULL: the call does not count, because this task is not in the group */
    struct pvmg_call call;
    struct pvmg_tree tree;
    bool flat; /* all others are children of the root: no member forwards packets */
};

/*
 * Starts a call: checks the arguments, finds the group, builds the tree and opens the traffic. 0 or an error; either
 * way pvmg_collective_end() must follow.
 */
int pvmg_collective_begin(struct pvmg_collective *c, int operation, const char *group, int n, int type, int tag,
                          int root);

/*
 * Ends the call and returns the result of the public call. Reports an error according to PvmAutoErr, which other group
 * calls do not, as in PVM.
 */
int pvmg_collective_end(struct pvmg_collective *c, int code);

/* Tid of the member at a position, and whether it is gone. */
int pvmg_collective_tid(const struct pvmg_collective *c, int position);
bool pvmg_collective_gone(const struct pvmg_collective *c, int position);

/* Position of a task, or -1. */
int pvmg_collective_position(const struct pvmg_collective *c, int tid);

/* Keeps a sent packet for retransmission, unless it is large; takes over p. */
void pvmg_collective_set_retransmit(struct pvmg_collective *c, struct pvmg_packet *p);

#endif
