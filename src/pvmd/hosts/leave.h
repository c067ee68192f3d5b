/* leave.h - how hosts leave the machine, deleted or lost, and how the whole machine ends: the master's side. */
#ifndef PVMD_LEAVE_H
#define PVMD_LEAVE_H

#include <stdint.h>
#include "pvmd/base/hosts.h"

typedef void pvmd_deleted(void *arg, unsigned count, const int *status);

/*
 * Deletes the named hosts: status PvmOk, PvmNoHost, or PvmBadParam for the master itself. `out` is called once they are
 * no members any more, then `deleted` once their daemons have ended, or 3 s later. 0 or PVMC_ENOMEM (neither is
 * called).
 */
int pvmd_leave_delete(const char *const *names, unsigned count, pvmd_deleted *out, pvmd_deleted *deleted, void *arg);

/* A member's link is lost for good: it no longer is a member. */
void pvmd_leave_lost(struct pvmd_host *host, const char *why);

/* The link of a LEAVING host is gone: its daemon has ended. */
void pvmd_leave_gone(struct pvmd_host *host);

/* Tells all other daemons that a host that was JOINING will not become a member. */
void pvmd_leave_tell(unsigned index, uint32_t incarnation);

/* Tells all other daemons to end. When they have, or after 3 s, calls pvmd_end(exit_code, why). */
void pvmd_leave_all(int exit_code, const char *why);

/* In any daemon: removes a host from the table here. The event host_left follows if it was a member. */
void pvmd_leave_forget(struct pvmd_host *host);

void pvmd_leave_committed(uint32_t seq);
void pvmd_leave_stop(void);

#endif
