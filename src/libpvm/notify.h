/* notify.h - events that the library itself reports (pvm_notify). */
#ifndef PVMI_NOTIFY_H
#define PVMI_NOTIFY_H

#include "../core/tid.h"

/* Delivers what was asked for about our own exit. Called by pvm_exit() while handlers still run. */
void pvmi_notify_own_exit(void);

/* A direct link to this task is up; its link is lost. Called by route.c. */
void pvmi_notify_route_added(pvmi_tid tid);
void pvmi_notify_route_deleted(pvmi_tid tid);

/* Forgets all requests. */
void pvmi_notify_clear(void);

#endif
