/*
 * turn.h - the turns of the loop: what it does between two looks at its descriptors. While a turn lasts nobody else is
 * served, so whoever has much to do looks at pvmd_turn_is_long() and goes on in the next one.
 */
#ifndef PVMD_TURN_H
#define PVMD_TURN_H

#include <ev.h>
#include <stdbool.h>

/* Measures the turns of this loop from now on: the longest one is in pvmd_stats. Called by daemon.c. */
void pvmd_turn_watch(struct ev_loop *loop);

/* Whether others should have their turn now: this one, or this step of work, has lasted for 10 ms. */
bool pvmd_turn_is_long(void);

/* Work that is done in pieces, one in each turn. A static variable of whoever does it. */
struct pvmd_work {
    bool (*step)(void); /* does a piece; whether there is more */
    ev_timer next;
};

/* Takes a step in the next turn, and in those after it while there is more. May be called while it is going on. */
void pvmd_work_begin(struct pvmd_work *work);

/* Whether a step has been begun and not yet taken. */
bool pvmd_work_is_due(const struct pvmd_work *work);

void pvmd_work_stop(struct pvmd_work *work);

#endif
