/*
 * join.h - how the virtual machine grows and shrinks: the master adds and deletes hosts, one change at a time.
 *
 * A host becomes a member only when all others know it: the master launches its daemon, opens the link, sends its row
 * to all (DM_HOST_ADD) and, when all have answered, publishes the table of members with it (membership.h).
 */
#ifndef PVMD_JOIN_H
#define PVMD_JOIN_H

#include <stdbool.h>
#include <stdint.h>
#include "core/buf.h"
#include "pvmd/base/events.h"

/* ---- start and end, called by daemon.c in this order ---- */

/*
 * Reads the hostfile before anything else starts, for pvmd_net_start() and pvmd_join_start(). Returns 0 or a PVMC_E
 * code; each fault is logged as "file:line: fault".
 */
int pvmd_join_read_hostfile(const char *path);

/*
 * Opens the TCP port, makes our own row in the host table (pvmd.host_name must be set; options of the hostfile's first
 * line that names us count), registers the DM and TM handlers of this layer: DM_HOST_*, DM_PING, DM_HALT, DM_ADDHOSTS,
 * DM_DELHOSTS, and TM_ADDHOSTS, TM_DELHOSTS, TM_HALT. pvmd.loop must exist. 0 or a PVMC_E code, logged.
 */
int pvmd_net_start(void);

/*
 * Called once tasks can connect. A slave reports that to its launcher and waits for its master; a master adds the
 * hostfile's hosts.
 */
void pvmd_join_start(void);

/* Whether hosts of the hostfile are still being added. pvm_start_pvmd() with block waits for that. */
bool pvmd_join_busy(void);

/*
 * At the master (SIGTERM, TM_HALT): ends the whole machine. When all other daemons have ended, or after 3 s, calls
 * pvmd_end(exit_code). A slave leaves the machine and ends.
 */
void pvmd_halt(int exit_code, const char *why);

/*
 * After the loop: closes the port and the links, with a goodbye on those that are up, stops launchers, frees the host
 * table.
 */
void pvmd_net_stop(void);

/* ---- events ---- */

void pvmd_join_link_up(unsigned host_index);
void pvmd_join_link_lost(unsigned host_index, const char *why);
void pvmd_join_link_out(unsigned host_index);
void pvmd_join_master_changed(void);
void pvmd_join_link_count(unsigned host_index, uint32_t received, enum pvmd_count kind);

#endif
