/* barrier.h - the end of a barrier that the program has left by a jump. */
#ifndef PVMG_COLLECTIVES_BARRIER_H
#define PVMG_COLLECTIVES_BARRIER_H

/* For session.c: the program has jumped out of calls of this level and above, which may include a barrier. */
void pvmg_barrier_left(unsigned level);

#endif
