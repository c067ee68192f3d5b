/*
 * exec.h - starting the processes of tasks (DM_EXEC) and noticing their end.
 *
 * A process is started as by vfork(), so its cost does not grow with the daemon's memory or its limit of descriptors.
 * Large orders are carried out in slices, between which messages flow.
 */
#ifndef PVMD_EXEC_H
#define PVMD_EXEC_H

/* Raises our own limit of descriptors, up to PVMD_DESCRIPTORS_MAX; tasks get the old one. Called before all else. */
void pvmd_exec_raise_limits(void);

void pvmd_exec_start(void);
void pvmd_exec_stop(void);

#endif
