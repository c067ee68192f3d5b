/*
 * sweeper.h - the process that outlives the daemon, however that ends, to end what its tasks have left (sweep.h).
 *
 * It holds one end of a pipe, whose other end closes with the daemon. It reads from memory that it shares with the
 * daemon what that knew, so a spawn costs neither a message nor a switch of processes.
 */
#ifndef PVMD_SWEEPER_H
#define PVMD_SWEEPER_H

#include <sys/types.h>

/* Starts it. Called by the process that is the daemon, early: before it has secrets and a loop. Errors are logged. */
void pvmd_sweeper_start(void);

/* Starts another one if it ends. Called when the loop exists. */
void pvmd_sweeper_watch(void);

/* The daemon's files, which the sweeper removes if the daemon does not. */
void pvmd_sweeper_know_files(const char *address_path, const char *socket_path);

/* A file that is useless if the daemon ends while it writes it: the sweeper removes it. */
void pvmd_sweeper_know_draft(const char *path);

/* A process is about to be started, by us or by a tasker: until then there is nothing to sweep. */
void pvmd_sweeper_expect(void);

/* A process has been started; has been sent SIGTERM; has ended and been waited for. */
void pvmd_sweeper_started(pid_t pid);
void pvmd_sweeper_told(pid_t pid);
void pvmd_sweeper_ended(pid_t pid);

/* The daemon has removed its files and ends. */
void pvmd_sweeper_begin(void);

#endif
