/*
 * guard.h - a process that cleans up when `pvm run` is killed: it halts the machine that was started, or kills the
 * tasks with all their descendants. It notices the end of `pvm run` by the end of a connection.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts the guard. Called before enrolment: otherwise the guard would keep a copy of the daemon connection open. */
void guard_start(void);

/* Sends the guard the daemon of this host, and whether to halt the whole machine. */
void guard_machine(pid_t daemon, bool ours);

/* Sends the guard the tasks to kill. */
void guard_tasks(const int *tids, int n);

/* Ends the guard and waits for it. Unless `done`, it first cleans up if the daemon still runs. */
void guard_end(bool done);

#endif
