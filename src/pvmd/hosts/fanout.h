/*
 * fanout.h - which daemon runs the launcher for the next host: the master while its hands are free, else a member whose
 * are. Each runs at most PVM_LAUNCH_FANOUT at once, and new members help to start the rest, so the time for n hosts
 * grows with log n. At the master.
 */
#ifndef PVMD_FANOUT_H
#define PVMD_FANOUT_H

#include <stdbool.h>

/* Whether the master itself has room. */
bool pvmd_fanout_is_free_here(void);

/* The index of a member that has room; 0: none has. */
unsigned pvmd_fanout_member(void);

/* The host of this index has begun, or ended, a launch. */
void pvmd_fanout_begin(unsigned index);
void pvmd_fanout_end(unsigned index);

/*
 * A launch at this member has failed: it gets no more of them, unless the master fails at the same host and so clears
 * it.
 */
void pvmd_fanout_suspect(unsigned index);
void pvmd_fanout_clear(unsigned index);

/* Nothing is being added any more: next time all members are asked again. */
void pvmd_fanout_clear_all(void);

#endif
