/*
 * add.h - adding hosts, at the master: many at once, several callers at once.
 *
 * Hosts are launched side by side; those that are linked become members in batches: a batch is told to all daemons, and
 * when all have answered its hosts are up. One batch at a time.
 */
#ifndef PVMD_ADD_H
#define PVMD_ADD_H

#include <stdbool.h>
#include "hostfile.h"
#include "hosts.h"

/* Once: status[i] is a host's tid or a PvmXxx code, why[i] what to tell the user about it or NULL. */
typedef void pvmd_added(void *arg, unsigned count, const int *status, const char *const *why);

/*
 * Adds hosts, each given as a line of a hostfile; options that a line leaves open come from `hostfile` (may be NULL).
 * The texts are copied. Hosts that another caller is adding wait until that is done. `added` may be NULL. It is called
 * from the loop, and not at all if this returns PVMI_ENOMEM.
 */
int pvmd_add_hosts(const char *const *lines, unsigned count, const struct pvmd_hostfile *hostfile, pvmd_added *added,
                   void *arg);

/* Whether anything is being added. */
bool pvmd_add_busy(void);

/* News of a link of a host that is not UP. */
void pvmd_add_link_up(struct pvmd_host *host);
void pvmd_add_link_lost(struct pvmd_host *host, const char *why);

/* Gives up all that is under way: the daemon's end. */
void pvmd_add_stop(void);

#endif
