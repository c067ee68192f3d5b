/*
 * sweep.h - ends the processes that a daemon's tasks have left: SIGTERM, and SIGKILL after a time for those that stay.
 *
 * A process belongs to a task of a daemon if its environment names the daemon's socket (PVMSOCK) and has the number
 * that the daemon gave the task (PVMEPID), as all that descends from the task inherits them; or if it is a known
 * process of the daemon; or if its parent belongs to a task. So a program that a user has started is not found, even if
 * it has enrolled; nor is one that has cleared its environment and has lost its parent.
 *
 * A daemon is never found, nor what it has started: it has a sweeper of its own (sweeper.h). If its launcher is found,
 * it ends by itself unless the master has called it.
 */
#ifndef PVMD_SWEEP_H
#define PVMD_SWEEP_H

#include <stdint.h>

#define PVMD_PIDS_MAX     (1 << 22) /* the kernel's own limit */
#define PVMD_SWEEPER_NAME "pvm-sweeper"

/* What the daemon knew about a process that it started. */
enum pvmd_known { PVMD_UNKNOWN, PVMD_STARTED, PVMD_TOLD /* it was sent SIGTERM */ };

struct pvmd_sweep {
    const char *socket_path; /* of the daemon, which has ended */
    const uint8_t *known;    /* enum pvmd_known of each pid; NULL: of none */
    int64_t grace_us;        /* between SIGTERM and SIGKILL */
    unsigned looks;          /* how often to look at least: a process that has just been started shows up late */
};

/* Returns when no process is left, or when SIGKILL has not helped for a while. Returns the number that it found. */
unsigned pvmd_sweep(const struct pvmd_sweep *s);

#endif
