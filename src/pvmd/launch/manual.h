/* manual.h - hosts whose daemons the user starts by hand (so=ms): their slots wait for the daemon's line. */
#ifndef PVMD_MANUAL_H
#define PVMD_MANUAL_H

#include "hosts.h"

#define PVMD_MANUAL_LIMIT "600" /* seconds that a slot waits */

/* Keeps the entry (state LAUNCHING) until the user adds the host again, or the time is over. */
void pvmd_manual_keep(struct pvmd_host *host);

/* The entry that waits under this name, which is the caller's from here on; NULL if none does. */
struct pvmd_host *pvmd_manual_take(const char *name);

/* Frees all that wait: the daemon's end. */
void pvmd_manual_stop(void);

#endif
