/* barrier.h - the end of a barrier that the program has left by a jump. */
#ifndef PVMG_COLLECTIVES_BARRIER_H
#define PVMG_COLLECTIVES_BARRIER_H

/* For session.c: the program has jumped out of the thread's call. Does nothing if that is no barrier at a board. */
void pvmg_barrier_left(void);

#endif
