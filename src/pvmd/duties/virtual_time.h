/*
 * virtual_time.h - tells a simulated network in virtual time about the bytes between this daemon and its tasks, and
 * about started processes: time stands still until these have been processed. Frames to other daemons hold time until
 * they are counted there, and those daemons report the consequences before they count. All this happens only if
 * PVM_TRANSPORT names atm and there is such a network.
 */
#ifndef PVMD_VIRTUAL_TIME_H
#define PVMD_VIRTUAL_TIME_H

#include <sys/types.h>

struct pvmd_task;

/* Looks for the network, now and every now and then. */
void pvmd_virtual_time_start(void);
void pvmd_virtual_time_stop(void);

/* A client has gone or a task has ended: once no known process of it runs, the network is told. */
void pvmd_virtual_time_gone(pid_t pid);
void pvmd_virtual_time_task_ended(const struct pvmd_task *task);

/* The process was sent a signal that may end it: time stands still until it has ended, or for half a second. */
void pvmd_virtual_time_killed(pid_t pid);

#endif
