/*
 * drain.h - how a slave's host leaves the machine by itself (SIGTERM, pvmd3 --leave): it gets no new tasks, waits for
 * those that it has, and has the master dismiss it. The others see an orderly HostDelete, after all that its tasks
 * sent.
 *
 *   its tasks end by themselves | the grace time is over: SIGTERM | PVM_END_TIMEOUT later: SIGKILL
 *   -> each host that it has a link to confirms what it got -> the master deletes it (DM_DELHOSTS) -> its daemon ends
 *
 * Each step has a limit, so that it ends without the master, too.
 */
#ifndef PVMD_DRAIN_H
#define PVMD_DRAIN_H

#include <stdbool.h>
#include "pvmd/tasks/tasks.h"

/*
 * SIGTERM has come. Begins to leave, or ends this daemon at once if it is the second one and not within a second of the
 * first. False: this host has the master, which does not leave.
 */
bool pvmd_drain_signal(void);

/* Registers TM_LEAVE and the petition DM_DRAIN. Called by pvmd_net_start(). */
void pvmd_drain_start(void);
void pvmd_drain_stop(void);

/* ---- events ---- */

void pvmd_drain_task_ended(const struct pvmd_task *task);
void pvmd_drain_master_changed(void);
void pvmd_drain_daemon_ends(void);

#endif
