/*
 * parcel.h - what members of a group send each other: parts of collective calls, and words about them.
 *
 * A parcel describes itself fully, so that whoever gets one that is not for him can pass it on without knowing the
 * group. `start` and `reach` are positions in the tree of the call (tree.h). The values are
 *   UP:     n, the sender's own contribution: of one position;
 *   DOWN:   n for each of those positions.
 */
#ifndef PVMI_PARCEL_H
#define PVMI_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include "proto.h"

enum pvmi_operation { PVMI_REDUCE = 1, PVMI_GATHER, PVMI_SCATTER, PVMI_SYNCHRONISE };

/* A collective call, as all its callers must agree on it. */
struct pvmi_call {
    int group;      /* id */
    int generation; /* of the member list that the tree was made from; barrier: its epoch, see barrier.c */
    int number;     /* counts the calls of a member on a group */
    int operation;  /* enum pvmi_operation */
    int root;       /* tid */
    int tag, type, n;
};

struct pvmi_parcel {
    struct pvmi_parcel *prev, *next; /* of the list it is kept in */
    int way;                         /* PVMI_WAY_UP .. PVMI_WAY_PAST */
    int from;                        /* sender's tid, of a received one */
    int code;                        /* negative: there are no values, the call failed */
    struct pvmi_call call;
    int start, reach;
    int *tids;    /* UP, DOWN: the members at these positions, the receiver of a DOWN parcel first */
    size_t bytes; /* of data */
    void *data;
};

/* A parcel with room for its tids and values; NULL when out of memory. The caller frees it. */
struct pvmi_parcel *pvmi_parcel_new(int way, const struct pvmi_call *call, int code, int start, int reach);
void pvmi_parcel_free(struct pvmi_parcel *p);

/* Bytes of the values of one position. */
size_t pvmi_parcel_part_bytes(const struct pvmi_parcel *p);

/* Do two members mean the same thing by calls of the same number? */
bool pvmi_call_agrees(const struct pvmi_call *a, const struct pvmi_call *b);

/* Sends in the members' context, which must be current; 0 or the error of pvm_send() or pvm_mcast(). */
int pvmi_parcel_send(const struct pvmi_parcel *p, int tid);
int pvmi_parcel_mcast(const struct pvmi_parcel *p, int *tids, int count);

/* Sends a parcel without values. */
int pvmi_parcel_word(int way, const struct pvmi_call *call, int code, int tid);

/* A part of a DOWN parcel: `reach` positions from the index `first` on. It borrows p's memory. */
struct pvmi_parcel pvmi_parcel_part_of(const struct pvmi_parcel *p, int first, int reach);

/* Passes on the parts of a DOWN parcel that are not for its first receiver: to the children in the tree of
 * PVMI_TREE_RADIX. */
void pvmi_parcel_forward(const struct pvmi_parcel *p);

/* Takes the rest of the message in the active receive buffer, behind `way`; NULL: no sound parcel, or out of memory. */
struct pvmi_parcel *pvmi_parcel_receive(int way);

#endif
