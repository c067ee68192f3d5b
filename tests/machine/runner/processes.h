/*
 * processes.h - the processes below the runner. It is their subreaper: whatever a daemon or task starts, also when it
 * takes a session of its own or outlives its parent, stays a descendant, so nothing can hide.
 */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

/* Makes this process the subreaper. Called once, before anything is started. */
void processes_adopt(void);

/* One that the runner started itself. */
struct process {
    pid_t pid;
    bool ended;
    int status; /* as of wait(), when it has ended */
    struct process *next;
};

/* Starts argv in a session of its own, stdin from /dev/null, stdout to `out` (-1: ours). Ends the runner on failure. */
struct process *process_start(char *const argv[], int out);

/* Reaps all that has ended. Never waits. */
void processes_reap(void);

/* Waits for one's end, and reaps others meanwhile; false when it did not end within the time. */
bool process_wait(struct process *p, double seconds);

/* Waits until no descendant is left; false when some are after the time. */
bool processes_wait_all(double seconds);

/* Prints each descendant with its state and command line; returns their number. */
int processes_list(const char *heading);

/* Ends all descendants by SIGKILL and reaps them. */
void processes_kill_all(void);

/* Seconds of a monotonic clock. */
double clock_now(void);

#endif
