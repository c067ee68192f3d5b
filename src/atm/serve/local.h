/*
 * local.h - what programs say to each other without the network, by sockets of their daemons: as long as such bytes are
 * under way somebody will act on them, and virtual time stands still.
 *
 * Each end of a socket tells how many bytes it has given to the other and taken from it, counted from the start, before
 * it waits. A channel is quiet when what one has given is what the other has taken; that is told for each channel
 * apart, since sums over all can be even by chance while somebody acts.
 */
#ifndef PVMA_LOCAL_H
#define PVMA_LOCAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PVMA_LOCAL_CLOSED UINT64_MAX /* taken: it has seen the other's end */

/* What process `from` has given to and taken from process `other`. */
void pvma_local_count(pid_t from, pid_t other, uint64_t given, uint64_t taken);

/* The process observes: what is given to it holds time from the first byte on. */
void pvma_local_observes(pid_t pid);

/*
 * The process sleeps at the network: what `from` gives it does not hold time, since it is woken for it. How many bytes
 * those are more than it has taken.
 */
void pvma_local_sleeps(pid_t pid, pid_t from);
uint64_t pvma_local_owed(pid_t pid, pid_t from);

/* Whether any process that sleeps is owed something. */
bool pvma_local_any_owed(void);

/* A process was started that will come, if it does not end first: time waits for it. */
void pvma_local_expect(pid_t pid);

/* It has come: what an earlier one of that number said is over. Its place among all that were expected, or 0. */
uint64_t pvma_local_came(pid_t pid);

/* It has left, and who talked to it is about to notice. */
void pvma_local_left(pid_t pid);

/* It lives on without the network: nobody will notice an end, and what is under way to or from it holds no time. */
void pvma_local_forget(pid_t pid);

/* Whether anything is under way, or somebody about to come; whether the latter. */
bool pvma_local_is_busy(void);
bool pvma_local_expects(void);

/* Writes what time waits for to the log, at a level of core/log.h. */
void pvma_local_explain(int level);

void pvma_local_free_all(void);

#endif
