/*
 * barrier.h - barriers and freezing: members that wait for each other at the server.
 */
#ifndef PVMG_BARRIER_H
#define PVMG_BARRIER_H

#include "reply.h"
#include "roster.h"

/* A member enters the barrier, or freezes the group with this size: answers it, now or later. */
void pvmg_barrier_enter(struct group *g, struct member *m, const struct request *r, int count);
void pvmg_freeze_enter(struct group *g, struct member *m, const struct request *r, int size);

/* A member waits, or no longer waits, in a barrier among the members of a frozen group. */
void pvmg_barrier_watch(struct group *g, int tid, bool on);

/* Called before and after a member is removed: fails barriers that can no longer complete. `died`: it ended without
 * leaving. */
void pvmg_barriers_forget(struct group *g, struct member *m);
void pvmg_barriers_shrunk(struct group *g, bool died);

/*
 * Checks all groups for members that wait for the whole group while others wait for a part of it. Returns the delay in
 * milliseconds until the next check; 0: none needed.
 */
int pvmg_barrier_check_conflicts(void);

#endif
