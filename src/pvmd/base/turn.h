/*
 * turn.h - the turns of the loop: all that it does between two polls of its descriptors. No other client is served
 * during a turn, so long work checks pvmd_turn_is_long() and continues in the next turn.
 */
#ifndef PVMD_TURN_H
#define PVMD_TURN_H

#include <ev.h>
#include <stdbool.h>

/*
 * Measures the turns of this loop from now on. The longest is kept in pvmd_stats; turns that end within a millisecond
 * count as one. Called by daemon.c.
 */
void pvmd_turn_watch(struct ev_loop *loop);

/* Whether this turn, or this step of work, has lasted for 10 ms, so that others should be served. */
bool pvmd_turn_is_long(void);

/* Work that is done in pieces, one in each turn: a static variable of its owner. */
struct pvmd_work {
    bool (*step)(void); /* does a piece; returns whether there is more */
    ev_timer next;
};

/*
 * Runs a step in the next turn, and in each following one until the work is done. May be called while work is in
 * progress.
 */
void pvmd_work_begin(struct pvmd_work *work);

/* Whether a step is scheduled. */
bool pvmd_work_is_due(const struct pvmd_work *work);

void pvmd_work_stop(struct pvmd_work *work);

#endif
