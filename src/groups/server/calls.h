/*
 * calls.h - collective calls in progress. Who takes part in one is settled when the first member enters it, so that all
 * see the same tree, also those who come after another one has given its part and gone.
 */
#ifndef CALLS_H
#define CALLS_H

#include "roster.h"

struct call {
    int number;
    struct list *list; /* who takes part */
    int to_come;       /* members in it that have not entered the call yet, and still may */
    struct call *prev, *next;
};

/*
 * A member enters its next call: returns who takes part, with a reference that the caller gives back. NULL: out of
 * memory, and nothing has changed.
 */
struct list *calls_enter(struct group *g, struct member *m);

/* A member is about to be removed: calls that it has not entered do not wait for it. */
void calls_forget(struct group *g, const struct member *m);

/* Drops all calls of a group. */
void calls_drop(struct group *g);

#endif
