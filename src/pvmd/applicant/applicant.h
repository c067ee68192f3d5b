/*
 * applicant.h - a daemon that joins a machine by itself: pvmd3 --join. This process calls a member, proves with the
 * token that it may join, and starts the daemon as its child; both share the channel to the master until the link is
 * up. Then it waits for the child. If the daemon has lost the machine, it comes back with the same token.
 *
 * It is the main process of a unit or container: it stays in the foreground, passes SIGTERM and SIGINT on to the
 * daemon, and reaps orphans.
 */
#ifndef PVMD_APPLICANT_H
#define PVMD_APPLICANT_H

#include "application.h"

/* Returns the exit code: 0 after the daemon has left in good order, 1 if it cannot join. */
int pvmd_applicant_run(const struct pvmd_application *application);

#endif
