/* launch.h - starts copies of pvm-perf as members. */
#ifndef PERF_LAUNCH_H
#define PERF_LAUNCH_H

#include <stddef.h>

/*
 * Spawns n copies on a host: the program that runs here, or, where that path does not exist, what the host's daemon
 * finds as "pvm-perf". 0, or -1 and the reason in why[size]; whatever was started is ended then.
 */
int launch_members(const char *host, int n, int *tids, char *why, size_t size);

/*
 * Where member `rank` of a team runs: member 0 here, the others on the hosts of --hosts in turns, which number
 * `host_count`. Returns an index into them, or -1: here.
 */
int launch_host_of(int rank, int host_count);

#endif
