/*
 * spawn.h - TM_SPAWN: chooses hosts, has them start the tasks (DM_EXEC, exec.c), retries failed ones on other hosts,
 * and tells the started tasks of each other (DM_SIBLINGS).
 */
#ifndef PVMD_SPAWN_H
#define PVMD_SPAWN_H

void pvmd_spawn_start(void);

#endif
