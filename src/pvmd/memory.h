/* memory.h - what this daemon gives back to the system when it is quiet. */
#ifndef PVMD_MEMORY_H
#define PVMD_MEMORY_H

/* Gives it back now. pvmd_trim_later() (daemon.h) is what others call. */
void pvmd_memory_trim(void);

#endif
