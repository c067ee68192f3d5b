/*
 * logfile.h - the daemon's log: all lines of pvmc_log() and, at the master, the output of tasks that nobody collects.
 * It is the file $PVM_TMP/pvml.UID[.VMID] (mode 0600), or with PVM_LOG_TO standard error or the systemd journal.
 *
 * A log that has grown to PVMDLOGMAX bytes is renamed to pvml.UID[.VMID].old, as is the log of an earlier daemon, and a
 * new log begins. The newest lines are always kept, and the size of both files is bounded.
 */
#ifndef PVMD_LOGFILE_H
#define PVMD_LOGFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/message/tid.h"

/* Checks PVM_LOG_TO: 0, or PVMC_EPARAM with a message in why[size] that says what is valid. */
int pvmd_logfile_check(char *why, size_t size);

/*
 * Opens the log. Until pvmd_logfile_detach(), warnings and errors also go to standard error; if there is no log file,
 * they go only there, and the first of them says why. Without a journal, the file takes its place. `slave`: standard
 * error ends with the start, so the file takes its place, too.
 */
void pvmd_logfile_open(bool slave);

/*
 * Makes standard error the log file, so that the reader of our standard error sees its end; /dev/null if the log is no
 * file. Does nothing if standard error is the log.
 */
void pvmd_logfile_detach(void);

/* Any nonzero mask enables debug lines. */
void pvmd_logfile_set_mask(int mask);
int pvmd_logfile_mask(void);

/* Logs a line of a task's output. */
void pvmd_logfile_output(pvmc_tid tid, const char *text, size_t length);

/*
 * Prints a line that must not be stored, such as a secret, to standard error only. Silent after pvmd_logfile_detach(),
 * and if standard error is the log.
 */
void pvmd_logfile_tell(const char *text);

void pvmd_logfile_close(void);

#endif
