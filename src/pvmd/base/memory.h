/*
 * memory.h - what this daemon returns to the system when it is quiet: memory that a burst of messages left unused, and
 * code that only the start and handshakes needed. With many daemons on one machine, both would make up most of the
 * memory of each.
 */
#ifndef PVMD_MEMORY_H
#define PVMD_MEMORY_H

/* Returns it a second after the last such call. Does nothing before the loop exists. */
void pvmd_trim_later(void);

#endif
