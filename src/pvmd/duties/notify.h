/*
 * notify.h - pvm_notify() (TM_NOTIFY): tasks that end, hosts that leave or join. A registration yields one message; one
 * for HostAdd yields as many as were asked for.
 */
#ifndef PVMD_NOTIFY_H
#define PVMD_NOTIFY_H

struct pvmd_host;
struct pvmd_task;

/* The task has ended: forgets its registrations. */
void pvmd_notify_task_ended(const struct pvmd_task *task);

/* Sends the messages for HostAdd and HostDelete. */
void pvmd_notify_host_joined(const struct pvmd_host *host);
void pvmd_notify_host_left(unsigned index);

void pvmd_notify_start(void);
void pvmd_notify_stop(void);

#endif
