/* host.h - the hosts of the machine. */
#ifndef HOST_H
#define HOST_H

#include "pvm3.h"

/* Asks for a message of each host that is added, and takes note of those that are there. Called once connected. */
void host_watch(void);

/* A CONSOLE_TAG_HOST_ADD message is the receive buffer: tells of hosts that were added by others. */
void host_added(void);

/* The machine's hosts, libpvm's own array until the next call, or NULL after a message. */
struct pvmhostinfo *host_list(int *count, int *formats);

/* The name of a host tid, or "?". */
const char *host_name(const struct pvmhostinfo *hosts, int count, int tid);

#endif
