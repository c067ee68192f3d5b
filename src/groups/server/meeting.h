/*
 * meeting.h - barriers and freezing: members that wait for each other at the server.
 */
#ifndef MEETING_H
#define MEETING_H

#include "reply.h"
#include "roster.h"

/* A member has come to the barrier, or wants the group frozen with this size: answers it, now or later. */
void barrier_enter(struct group *g, struct member *m, const struct request *r, int count);
void freeze_enter(struct group *g, const struct request *r, int size);

/* A member waits, or waits no more, in its own barrier of a frozen group. */
void barrier_watch(struct group *g, int tid, bool on);

/* A member is about to be removed; `died`: it ended without leaving. Who waits for it in vain is freed. */
void meetings_forget(struct group *g, struct member *m);
void meetings_shrunk(struct group *g, bool died);

/*
 * Looks at all groups for members that wait for the whole group while others wait for a part of it. Returns after how
 * many milliseconds to look again; 0: no need.
 */
int barrier_settle_conflicts(void);

#endif
