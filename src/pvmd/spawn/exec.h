/*
 * exec.h - starting the processes of tasks (DM_EXEC) and noticing their end.
 *
 * A process is started like vfork() does, so that it costs the same however large the daemon or the limit of
 * descriptors is. Large orders are done in slices between which messages flow.
 */
#ifndef PVMD_EXEC_H
#define PVMD_EXEC_H

/* Raises our own limit of descriptors, to PVMD_DESCRIPTORS_MAX at most; tasks get the old one. Called first of all. */
void pvmd_exec_raise_limits(void);

void pvmd_exec_start(void);
void pvmd_exec_stop(void);

#endif
