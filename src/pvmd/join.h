/*
 * join.h - how the machine grows and shrinks: hosts are added and deleted here, one change at a time, by the master.
 *
 * A host is a member only when all others know it: the master launches its daemon, opens the link, tells its row to all
 * (DM_HOST_ADD), and when all have answered it tells them that the host is up (DM_HOST_UP).
 */
#ifndef PVMD_JOIN_H
#define PVMD_JOIN_H

#include <stdbool.h>
#include <stdint.h>
#include "../core/buf.h"

/* ---- start and end, called by main.c in this order ---- */

/*
 * First thing in a daemon started with -s. Forks: the caller's process stays with the launcher until the slave is
 * linked to its master, and does not return from here. In the slave: reads the start-up text from stdin, puts the
 * settings it brings (PVM_VMID, time limits, ...) into the environment, sets pvmd.host_index, master_index and
 * host_name. What is wrong is told to the launcher, and the process ends. courier_key: NULL, or the master's key when a
 * hoster starts us: stdin and stdout are then the channel of courier.h.
 */
void pvmd_slave_start(const char *courier_key);

/* Tells the launcher that start-up failed: the master's user reads `why`. Does nothing in a master or once linked. */
void pvmd_slave_failed(int public_code, const char *why);

/* What the names of this daemon's files end in: "" or, where several daemons share one machine, ".<host name>". */
const char *pvmd_file_suffix(void);

/*
 * Reads the hostfile, before anything else is started: its lines are kept for pvmd_join_start() and pvmd_net_start().
 * 0, or a PVMI_E code; each fault is logged as "file:line: what is wrong".
 */
int pvmd_join_read_hostfile(const char *path);

/*
 * Opens the TCP port, makes our own row in the host table (pvmd.host_name must be set; options of the hostfile's first
 * line that names us count), registers the DM and TM handlers of this layer: DM_HOST_*, DM_PING, DM_HALT, DM_ADDHOSTS,
 * DM_DELHOSTS, and TM_ADDHOSTS, TM_DELHOSTS, TM_HALT. pvmd.loop must exist. 0 or a PVMI_E code, logged.
 */
int pvmd_net_start(void);

/* Once tasks could connect. Slave: tells the launcher so, and links to its master. Master: adds the hostfile's hosts.
 */
void pvmd_join_start(void);

/* Whether hosts of the hostfile are still being added: pvm_start_pvmd() with block waits for it. */
bool pvmd_join_busy(void);

/*
 * Ends the whole machine (SIGTERM at the master, TM_HALT): all other daemons end, and when they have, or after 3 s,
 * pvmd_end(exit_code). In a slave: leaves the machine and ends.
 */
void pvmd_halt(int exit_code, const char *why);

/* After the loop: closes port and links (says goodbye where they still stand), stops launchers, frees the host table.
 */
void pvmd_net_stop(void);

/* ---- for the parts of this layer ---- */

/* The link to `host` is up (dial worked, key proved) or is lost for good, `why` being for the log. Called by link.c. */
void pvmd_join_link_up(unsigned host_index);
void pvmd_join_link_lost(unsigned host_index, const char *why);

#endif
