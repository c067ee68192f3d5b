/*
 * logfile.h - the daemon's log, $PVM_TMP/pvml.UID[.VMID] (mode 0600): all lines of pvmc_log() and, at the master, the
 * output of tasks that nobody collects.
 *
 * A log that has grown to PVMDLOGMAX bytes is renamed to pvml.UID[.VMID].old, as is the log of an earlier daemon, and a
 * new log begins. The newest lines are always kept, and the size of both files is bounded.
 */
#ifndef PVMD_LOGFILE_H
#define PVMD_LOGFILE_H

#include <stddef.h>
#include <stdint.h>
#include "core/message/tid.h"

/*
 * Opens the log. Until pvmd_logfile_detach(), warnings and errors also go to standard error; if there is no log file,
 * they go only there, and the first of them says why.
 */
void pvmd_logfile_open(void);

/* Makes standard error the log file, so that the reader of our standard error sees its end. */
void pvmd_logfile_detach(void);

/* Any nonzero mask enables debug lines. */
void pvmd_logfile_set_mask(int mask);
int pvmd_logfile_mask(void);

/* Logs a line of a task's output. */
void pvmd_logfile_output(pvmc_tid tid, const char *text, size_t length);

/*
 * Prints a line that must not be stored, such as a secret, to standard error only. Silent after pvmd_logfile_detach().
 */
void pvmd_logfile_tell(const char *text);

void pvmd_logfile_close(void);

#endif
