/*
 * logfile.h - the daemon's log, $PVM_TMP/pvml.UID[.VMID] (mode 0600): what pvmi_log() says, and, at the master, the
 * output of tasks that nobody collects.
 *
 * A log that has grown to PVMDLOGMAX bytes moves to pvml.UID[.VMID].old, as the log of the daemon before does, and a
 * new one begins: the newest lines are always there, and the two files together are bounded.
 */
#ifndef PVMD_LOGFILE_H
#define PVMD_LOGFILE_H

#include <stddef.h>
#include <stdint.h>
#include "../core/tid.h"

/*
 * Warnings and errors go to standard error, too, until pvmd_logfile_detach(); without a log file (why is said there)
 * they go nowhere else.
 */
void pvmd_logfile_open(void);

/* Standard error is the log file from now on: whoever started us need not wait for our end to see the end of it. */
void pvmd_logfile_detach(void);

/* A debug mask other than 0 logs debug lines, too. */
void pvmd_logfile_set_mask(int mask);
int pvmd_logfile_mask(void);

/* A line of a task's output. */
void pvmd_logfile_output(pvmi_tid tid, const char *text, size_t length);

/* What must not be kept, such as a secret, to who started us; nothing after pvmd_logfile_detach(). */
void pvmd_logfile_tell(const char *text);

void pvmd_logfile_close(void);

#endif
