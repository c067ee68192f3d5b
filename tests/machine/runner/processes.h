/*
 * processes.h - the processes below the runner, which is their subreaper: whatever a daemon or task starts stays a
 * descendant, even in a session of its own or after its parent's death, so nothing can hide.
 */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

/* Makes this process the subreaper. Called once, before anything is started. */
void processes_adopt(void);

/* A process started by the runner itself. */
struct process {
    pid_t pid;
    bool ended;
    int status; /* as from wait(), once it has ended */
    struct process *next;
};

/* Starts argv in a session of its own, stdin from /dev/null, stdout to `out` (-1: ours). Ends the runner on failure. */
struct process *process_start(char *const argv[], int out);

/* Reaps all ended processes. Never waits. */
void processes_reap(void);

/* Waits for the end of one process, reaping others meanwhile; false when the time is over. */
bool process_wait(struct process *p, double seconds);

/* Waits until no descendant is left; false when the time is over. */
bool processes_wait_all(double seconds);

/* Prints each descendant with its state and command line; returns their number. */
int processes_list(const char *heading);

/* Kills all descendants with SIGKILL and reaps them. */
void processes_kill_all(void);

/* Seconds of a monotonic clock. */
double clock_now(void);

#endif
