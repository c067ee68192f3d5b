/* compat.h - calls that libpvm3 exports without declaring them in pvm3.h. */
#ifndef COMPAT_H
#define COMPAT_H

/*
 * If kill_tasks, kills all tasks except `tid` and those with PvmNoReset. Removes the entries that ended tasks left in
 * mailbox class `name` (NULL: all) at `index` (-1: all). 0 or a PvmXxx code.
 */
int pvmreset(int tid, int kill_tasks, char *name, int index);

#endif
