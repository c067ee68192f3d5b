/* host.h - the hosts of the machine. */
#ifndef HOST_H
#define HOST_H

#include "pvm3.h"

/* Requests notices of added hosts and records the present ones. Called after enrolment. */
void host_watch(void);

/* Handles a CONSOLE_TAG_HOST_ADD message in the receive buffer: announces hosts that others have added. */
void host_added(void);

/* Prints the result of adding n hosts, as `add` does: for each name its host tid or the error. */
void host_report_added(int done, char **names, const int *status, int n);

/* The machine's hosts, in libpvm's array that is valid until the next call; NULL after a message. */
struct pvmhostinfo *host_list(int *count, int *formats);

/* The name of a host tid, or "?". */
const char *host_name(const struct pvmhostinfo *hosts, int count, int tid);

#endif
