/*
 * watchdog.h - what the daemon tells the service manager that started it: that it is ready, that it is about to end,
 * and, from its loop and at the interval that the unit sets, that the loop turns (core/notify_socket.h). A daemon that
 * has joined tells its applicant, which is the unit's main process.
 */
#ifndef PVMD_WATCHDOG_H
#define PVMD_WATCHDOG_H

/* Tasks can connect. From now on the loop reports. Does nothing without a service manager. Called by daemon.c. */
void pvmd_watchdog_ready(void);

/* The daemon leaves its loop. */
void pvmd_watchdog_stopping(void);

#endif
