/*
 * virtual.h - tasks that live in the virtual time of a simulated network (atm-sim serve --clock virtual). The daemon
 * has no time of its own there: what it does takes none. So it tells the network what goes between it and its tasks,
 * and whom it starts: time stands still until that has been dealt with. What goes to other daemons holds time until
 * they have counted it, and they tell what comes of it before they do so. Nothing here does anything unless
 * PVM_TRANSPORT names atm and there is such a network.
 */
#ifndef PVMD_VIRTUAL_H
#define PVMD_VIRTUAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Looks for the network, now and every now and then. */
void pvmd_virtual_start(void);
void pvmd_virtual_stop(void);

/* Whether our tasks live in virtual time. */
bool pvmd_virtual_is_watched(void);

/* Tells the network what has happened since it was last told. Called whenever all that could be done is done. */
void pvmd_virtual_tell(void);

/* A process was started that will connect to us. Called by exec.c. */
void pvmd_virtual_expect(pid_t pid);

/* A client has gone or a task has ended: when its process runs no more that we know of, the network is told. */
void pvmd_virtual_gone(pid_t pid);

/* The process was sent a signal that may end it: time stands still until it has, or half a second is over. */
void pvmd_virtual_killed(pid_t pid);

/* There is something to do yet that no client waits for. Released as often as held. */
void pvmd_virtual_hold(void);
void pvmd_virtual_release(void);

#endif
