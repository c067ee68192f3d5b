/*
 * calls.h - collective calls in progress. The participants of a call are fixed when the first member enters it, so that
 * all members build the same tree, even after some have finished the call and left.
 */
#ifndef PVMG_CALLS_H
#define PVMG_CALLS_H

#include "roster.h"

struct call {
    int number;
    struct list *list; /* the participants */
    int to_come;       /* members in the list that may still enter the call */
    struct call *prev, *next;
};

/*
 * A member enters its next call: returns the participants, with a reference for the caller. NULL: out of memory,
 * nothing has changed.
 */
struct list *pvmg_calls_enter(struct group *g, struct member *m);

/* A member is about to be removed: calls that it has not entered stop waiting for it. */
void pvmg_calls_forget(struct group *g, const struct member *m);

/* Drops all calls of a group. */
void pvmg_calls_drop(struct group *g);

#endif
