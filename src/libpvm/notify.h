/* notify.h - events that the library itself reports (pvm_notify). */
#ifndef PVMI_NOTIFY_H
#define PVMI_NOTIFY_H

/* Delivers what was asked for about our own exit. Called by pvm_exit() while handlers still run. */
void pvmi_notify_own_exit(void);

/* Forgets all requests. */
void pvmi_notify_clear(void);

#endif
