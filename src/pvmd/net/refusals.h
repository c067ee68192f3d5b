/*
 * refusals.h - logs refused connections, and only their number when there are many: strangers that can connect must not
 * be able to fill the log.
 */
#ifndef PVMD_REFUSALS_H
#define PVMD_REFUSALS_H

#define PVMD_REFUSALS_S     10. /* after which those that were only counted are told */
#define PVMD_REFUSALS_LINES 20  /* told one by one in that time */

/* Logs a line about a connection that was refused, or counts it. pvmd.loop must exist. */
void pvmd_refused(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
