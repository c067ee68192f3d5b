/*
 * processes.h - the processes of a machine: started, watched, and ended to the last one. There is one set of them in a
 * program.
 */
#ifndef PVMA_PROCESSES_H
#define PVMA_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

struct pvma_process {
    pid_t pid;  /* 0: not started */
    int status; /* of waitpid(), when it has ended */
    bool ended;
};

/*
 * Forks the process that does all the rest. Returns 0 there; it gets SIGTERM if the caller is killed, and so can still
 * end everything. In the caller passes signals on and returns its pid and *status when it has ended; -1: failed,
 * logged.
 */
pid_t pvma_processes_front(int *status);

/*
 * Makes this process the reaper of all descendants, and takes SIGINT, SIGQUIT, SIGTERM and SIGHUP unless our caller
 * ignores them. Our output may go to a closed pipe. 0, or PVMC_ESYSTEM, logged.
 */
int pvma_processes_begin(void);

/*
 * Forks. Returns 0 in the child, which has the signals of a new program and gets SIGTERM if we are killed. `out`
 * becomes its standard output (-1: ours); if `aside`, it does not see the terminal's signals or our input. -1: failed.
 */
pid_t pvma_process_fork(struct pvma_process *p, int out, bool aside);

/* Waits until a process ends, one of our signals comes, `fd` (-1: none) can be read, or limit_ms (-1: none) is over. */
void pvma_processes_watch(int fd, int limit_ms);

/* Waits for the end of a process. False: a signal came, or limit_ms is over. */
bool pvma_process_wait(struct pvma_process *p, int limit_ms);

/* The first signal that came; 0: none. */
int pvma_processes_signal(void);

/* Sends a process that runs a signal. */
void pvma_process_send(const struct pvma_process *p, int signal);

/* Kills every descendant except `keep` and waits until it is gone. */
void pvma_processes_kill(const struct pvma_process *keep);

#endif
