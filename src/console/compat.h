/* compat.h - calls that libpvm3 exports without declaring them in pvm3.h. */
#ifndef COMPAT_H
#define COMPAT_H

/*
 * Kills, if kill_tasks, all tasks but `tid` and those with PvmNoReset, and removes what ended tasks left in mailbox
 * class `name` (NULL: all) at `index` (-1: all). 0 or a PvmXxx code.
 */
int pvmreset(int tid, int kill_tasks, char *name, int index);

#endif
