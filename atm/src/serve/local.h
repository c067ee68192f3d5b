/*
 * local.h - traffic between programs outside the network, on sockets of their daemons. A program will act on such
 * bytes, so virtual time stands still while they are in flight.
 *
 * Before it waits, each end of a socket reports how many bytes it has given to its peer and taken from it, counted from
 * the start. A channel is quiet when all bytes given have been taken. This is checked for each channel, because sums
 * over all channels can match by chance while a program acts.
 */
#ifndef PVMA_LOCAL_H
#define PVMA_LOCAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PVMA_LOCAL_CLOSED UINT64_MAX /* value of `taken`: the process has seen the end of the peer */

/*
 * Sets the bytes that process `from` has given to and taken from process `other`. Bytes given only grow, but two zeros
 * begin anew: if `from` is an observer, the connection has ended though the process lives on, and another one may
 * follow. Time waits a little for the end of the process. Returns 0, or PVMC_ELIMIT: `from` has reported or announced
 * too many processes (limits.h), and nothing has changed.
 */
int pvma_local_count(pid_t from, pid_t other, uint64_t given, uint64_t taken);

/* Marks a process as an observer: bytes given to it hold time from the first on. */
void pvma_local_observes(pid_t pid);

/*
 * Marks a process as sleeping at the network: bytes from `from` do not hold time, since the network wakes the process
 * for them. `owed` returns how many bytes it has not taken.
 */
void pvma_local_sleeps(pid_t pid, pid_t from);
uint64_t pvma_local_owed(pid_t pid, pid_t from);

/* Whether any sleeping process has bytes to take. */
bool pvma_local_any_owed(void);

/* Process `owner` announces one that was started: time waits until it connects or ends. 0 or PVMC_ELIMIT. */
int pvma_local_expect(pid_t owner, pid_t pid);

/* A process has connected: forgets an earlier process of that pid. Returns its place among announced ones, or 0. */
uint64_t pvma_local_came(pid_t pid);

/* A process has left: those of its peers that are connected will notice, and time waits until they do. */
void pvma_local_left(pid_t pid);

/*
 * A process continues without the network: its peers see no end, its bytes no longer hold time, nor do the processes
 * that it has announced.
 */
void pvma_local_forget(pid_t pid);

/* Whether bytes are in flight or a process is still to connect or to end; whether the latter. */
bool pvma_local_is_busy(void);
bool pvma_local_expects(void);

/*
 * A process, not an observer, that has held time for half of PVM_ATM_PATIENCE by bytes given to another one which never
 * reports anything of it. 0: there is none.
 */
pid_t pvma_local_doubtful(void);

/* Logs what time waits for, at a level of core/log.h. */
void pvma_local_explain(int level);

void pvma_local_free_all(void);

#endif
