/*
 * delegated.h - launches that this daemon, a member, runs for the master (delegate.h). They end with the master: its
 * daemons there then end, too, because their channel closes, and the next master starts them anew.
 */
#ifndef PVMD_DELEGATED_H
#define PVMD_DELEGATED_H

/* ---- events ---- */

/* The link to this host is lost for good. */
void pvmd_delegated_link_lost(unsigned host_index, const char *why);

void pvmd_delegated_master_changed(void);

/* ---- start and end ---- */

/* Registers DM_LAUNCH and DM_LAUNCH_END. */
void pvmd_delegated_start(void);

/* Cancels all; before pvmd_launch_stop(). */
void pvmd_delegated_stop(void);

#endif
