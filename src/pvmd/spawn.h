/*
 * spawn.h - TM_SPAWN: chooses hosts, has the tasks started there (DM_EXEC, exec.c), tries again elsewhere what failed,
 * and tells the started ones of each other (DM_SIBLINGS).
 */
#ifndef PVMD_SPAWN_H
#define PVMD_SPAWN_H

void pvmd_spawn_start(void);

#endif
