/* launch.h - starts copies of pvm-perf as members. */
#ifndef PERF_LAUNCH_H
#define PERF_LAUNCH_H

#include <stddef.h>

/*
 * Spawns n copies on a host: this program by its path, or, if that does not exist there, the "pvm-perf" that the host's
 * daemon finds. 0, or -1 with the reason in why[size]; tasks that were started are killed then.
 */
int launch_members(const char *host, int n, int *tids, char *why, size_t size);

/*
 * The host of member `rank` of a team: this one for member 0, the `host_count` hosts of --hosts in turn for the others.
 * Returns an index into these hosts, or -1 for this host.
 */
int launch_host_of(int rank, int host_count);

#endif
