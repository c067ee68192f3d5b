/* manual.h - hosts whose daemons the user starts by hand (so=ms). Their slots wait for the daemons' lines. */
#ifndef PVMD_MANUAL_H
#define PVMD_MANUAL_H

#include "pvmd/base/hosts.h"

#define PVMD_MANUAL_LIMIT "600" /* seconds that a slot waits */

/* Keeps the entry (state LAUNCHING) until the user adds the host again, or until the time limit. */
void pvmd_manual_keep(struct pvmd_host *host);

/* Gives the caller the entry that waits under this name; NULL if there is none. */
struct pvmd_host *pvmd_manual_take(const char *name);

/* Frees all entries that wait, at the daemon's end. */
void pvmd_manual_stop(void);

#endif
