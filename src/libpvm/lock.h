/*
 * lock.h - the one lock of the library, for programs that call it from several threads (PVM_THREADS).
 */
#ifndef PVMI_LOCK_H
#define PVMI_LOCK_H

/* Enters and leaves the library. Recursive. Called by call.c alone, and only where PVMI_WATCH_THREADS is set. */
void pvmi_lock_take(void);
void pvmi_lock_give(void);

#endif
