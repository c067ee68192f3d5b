/*
 * virtual_time.h - tells a simulated network in virtual time what goes between this daemon and its tasks, and whom it
 * starts: time stands still until that has been dealt with. What goes to other daemons holds time until they have
 * counted it, and they tell what comes of it before they do so. Nothing here does anything unless PVM_TRANSPORT names
 * atm and there is such a network.
 */
#ifndef PVMD_VIRTUAL_TIME_H
#define PVMD_VIRTUAL_TIME_H

#include <sys/types.h>

struct pvmd_task;

/* Looks for the network, now and every now and then. */
void pvmd_virtual_time_start(void);
void pvmd_virtual_time_stop(void);

/* A client has gone or a task has ended: when its process runs no more that we know of, the network is told. */
void pvmd_virtual_time_gone(pid_t pid);
void pvmd_virtual_time_task_ended(const struct pvmd_task *task);

/* The process was sent a signal that may end it: time stands still until it has, or half a second is over. */
void pvmd_virtual_time_killed(pid_t pid);

#endif
