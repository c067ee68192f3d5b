/*
 * helpers.h - tasks with a duty that a daemon starts with itself: PVM_RM, PVM_HOSTER, PVM_TASKER, PVM_TRACER are their
 * commands, split at blanks.
 */
#ifndef PVMD_HELPERS_H
#define PVMD_HELPERS_H

/* Starts them: on the master's host, and the tasker on every host. Tasks can connect already. */
void pvmd_helpers_start(void);

#endif
