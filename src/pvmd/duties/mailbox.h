/*
 * mailbox.h - TM_MAILBOX: the task's daemon checks a request, and the master carries it out (DM_MAILBOX). The master
 * also keeps requests that wait for an entry, and removes the entries of tasks that end.
 */
#ifndef PVMD_MAILBOX_H
#define PVMD_MAILBOX_H

/* Event: this daemon may be the new master. */
void pvmd_mailbox_master_changed(void);

void pvmd_mailbox_start(void);
void pvmd_mailbox_stop(void);

#endif
