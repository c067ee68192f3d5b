/*
 * guard.h - a process that takes away what `pvm run` has made when that is killed and cannot do so itself: the machine,
 * or its tasks with all their descendants. It learns of that from the end of
 * a connection.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts it. Called before this process is a task: a copy of one would keep its connection open. */
void guard_start(void);

/* Tells it the daemon of this host, and whether the whole machine is to be halted. */
void guard_machine(pid_t daemon, bool ours);

/* Tells it tasks that are to end. */
void guard_tasks(const int *tids, int n);

/* Waits for its end: it has nothing to take away (done), or does so now if the daemon is still there. */
void guard_end(bool done);

#endif
