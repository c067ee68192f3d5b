/* leaver.h - `pvmd3 --leave`: asks the daemon of this host to leave the machine, and tells how that goes. */
#ifndef PVMD_LEAVER_H
#define PVMD_LEAVER_H

#include <stdint.h>

/*
 * Has the daemon leave, prints a line for each step and waits until it has ended. PVMC_LEAVE_GRACE_SETTING: its tasks
 * may take as long as the daemon's PVM_LEAVE_TIMEOUT says. Returns the exit code: 0, or 1 if there is no daemon or it
 * does not leave, with a line on standard error.
 */
int pvmd_leaver_run(uint64_t grace_us);

#endif
