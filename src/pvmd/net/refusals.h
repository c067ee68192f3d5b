/*
 * refusals.h - logs refused connections, or only their number when there are many, so that strangers cannot fill the
 * log.
 */
#ifndef PVMD_REFUSALS_H
#define PVMD_REFUSALS_H

#define PVMD_REFUSALS_S     10. /* interval after which the unlogged ones are summed up in one line */
#define PVMD_REFUSALS_LINES 20  /* limit of lines in that interval */

/* Logs a line about a connection that was refused, or counts it. pvmd.loop must exist. */
void pvmd_refused(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
