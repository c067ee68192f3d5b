/*
 * add.h - adding hosts, at the master: many at once, several callers at once.
 *
 * Hosts are launched in parallel. Hosts with a link become members in batches, one batch at a time: the master tells
 * the batch to all daemons, and when all have answered, its hosts are up.
 */
#ifndef PVMD_ADD_H
#define PVMD_ADD_H

#include <stdbool.h>
#include "hostfile.h"
#include "pvmd/base/hosts.h"
#include "pvmd/quorum/petition.h"

/* Called once. status[i] is a host's tid or a PvmXxx code; why[i] is a message about it for the user, or NULL. */
typedef void pvmd_added(void *arg, unsigned count, const int *status, const char *const *why);

/*
 * Adds hosts, each given as a line of a hostfile; options that a line lacks come from `hostfile` (may be NULL). The
 * texts are copied. A host that another caller is adding waits until that is done. `added` may be NULL. It is called
 * from the loop, and not at all if this returns PVMC_ENOMEM. `petition` is what asks for the hosts, or NULL: a host
 * that an earlier master has added for it counts as added.
 */
int pvmd_add_hosts(const char *const *lines, unsigned count, const struct pvmd_hostfile *hostfile,
                   const struct pvmd_petition *petition, pvmd_added *added, void *arg);

struct pvmd_arrival;

/*
 * Adds a daemon that joins by itself, as this line of a hostfile (copied), which takes nothing from the hostfile. 0:
 * the arrival is its newcomer's from now on; or PVMC_ENOMEM.
 */
int pvmd_add_arrival(const char *line, struct pvmd_arrival *arrival);

/* Whether this host, UP or not, is one that is being added. */
bool pvmd_add_concerns(const struct pvmd_host *host);

/* Event: changes of the table of members are committed. */
void pvmd_add_committed(uint32_t seq);

/* Whether anything is being added. */
bool pvmd_add_busy(void);

/*
 * Master: no host begins to be added until this is called with NULL. Calls `idle`, from the loop, when those that had
 * begun are added or have failed: their daemons know the machine's present secret.
 */
void pvmd_add_hold(void (*idle)(void));

/* Whether hosts have begun to be added. */
bool pvmd_add_is_begun(void);

/* Events of the link of a host that is being added. */
void pvmd_add_link_up(struct pvmd_host *host);
void pvmd_add_link_lost(struct pvmd_host *host, const char *why);

/* Gives up everything in progress when the daemon ends. */
void pvmd_add_stop(void);

#endif
