/*
 * calls.h - collective calls in progress. The participants of a call are fixed when the first member enters it, so that
 * all members build the same tree, even after some have finished the call and left.
 *
 * A call is kept until each participant has confirmed that it has the list, by entering a later call or by leaving: a
 * member that has lost its server's answer asks a new server again.
 *
 * The numbers have gaps: calls that members count among themselves (boards.h).
 */
#ifndef PVMG_CALLS_H
#define PVMG_CALLS_H

#include "roster.h"

#define PVMG_CALLS_MAX (1 << 20) /* calls of one group in progress */

struct call {
    int number;
    struct list *list; /* the participants */
    int to_come;       /* members in the list that have not confirmed the call */
    struct call *prev, *next;
};

/*
 * A member enters its next call: the first one in progress whose number is at least `number` (-1: as counted here), or
 * else a new one. m->calls then tells which. Returns the participants, with a reference for the caller. NULL and
 * PvmNoMem, PvmOutOfRes, or PvmBadParam for a call that it cannot be in; nothing has changed. *begun: it is the first.
 */
struct list *pvmg_calls_enter(struct group *g, struct member *m, int number, int *code, bool *begun);

/* A recorded call: its participants are those of `l`, which must all be restored first. False: out of memory. */
bool pvmg_calls_restore(struct group *g, int number, struct list *l);

/* Whether there may be a call that others have entered, but not this member. */
bool pvmg_calls_await(const struct group *g, const struct member *m);

/* A member is about to be removed: calls that it has not confirmed stop waiting for it. */
void pvmg_calls_forget(struct group *g, const struct member *m);

/* Drops all calls of a group. */
void pvmg_calls_drop(struct group *g);

#endif
