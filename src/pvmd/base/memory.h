/*
 * memory.h - what this daemon gives back to the system when it is quiet: memory that a burst of messages left unused,
 * and code that only starting and handshakes needed. With many daemons on one machine both would be most of what each
 * holds.
 */
#ifndef PVMD_MEMORY_H
#define PVMD_MEMORY_H

/* Gives it back a second after the last such call. Does nothing before the loop exists. */
void pvmd_trim_later(void);

#endif
