/* entry.h - entries of the mailbox that hold one int. */
#ifndef ENTRY_H
#define ENTRY_H

/* Returns what pvm_putinfo() returns. Keeps the caller's send buffer. */
int entry_put(const char *name, int value, int flags);

/* The int of an entry, or the code of pvm_recvinfo() when that fails. */
int entry_get(const char *name, int index, int flags);

#endif
