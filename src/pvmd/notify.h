/*
 * notify.h - events that tasks asked for (TM_NOTIFY): the end of tasks, hosts that leave or join. Each registration is
 * one message, delivered once; those for HostAdd count down.
 */
#ifndef PVMD_NOTIFY_H
#define PVMD_NOTIFY_H

#include "../core/tid.h"

/* The task that asked has ended: forgets what it asked for. Called by tasks.c. */
void pvmd_notify_owner_ended(pvmi_tid tid);

void pvmd_notify_start(void);
void pvmd_notify_stop(void);

#endif
