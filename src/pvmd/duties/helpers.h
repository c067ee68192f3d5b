/*
 * helpers.h - tasks with a duty that start with the daemon. Their commands, split at blanks, are in PVM_RM, PVM_HOSTER,
 * PVM_TASKER and PVM_TRACER.
 */
#ifndef PVMD_HELPERS_H
#define PVMD_HELPERS_H

/* Starts the tasker on every host, and the others at the master. Tasks must be able to connect already. */
void pvmd_helpers_start(void);

#endif
