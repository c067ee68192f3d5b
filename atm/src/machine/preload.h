/* preload.h - the clock of the network in front of the C library's, for a program and all that it spawns. */
#ifndef PVMA_PRELOAD_H
#define PVMA_PRELOAD_H

/*
 * Replaces this process by argv[0], found in PATH, as a program on the network: with libatmclock loaded first and the
 * transport atm unless PVM_TRANSPORT is set. Ends with a message and 127 (not found) or 126 if that fails.
 */
_Noreturn void pvma_preload_exec(char **argv);

#endif
