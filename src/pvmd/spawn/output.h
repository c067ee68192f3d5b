/*
 * output.h - the output of started processes: each has a pipe, whose lines go to the task that collects them, or to the
 * master's log. If the collector does not read, neither does the daemon, and the process blocks.
 */
#ifndef PVMD_OUTPUT_H
#define PVMD_OUTPUT_H

#include <stdbool.h>
#include "pvmd/tasks/tasks.h"

/*
 * Reads a started process's output from fd, which it takes over, and tells the collector of the new task. error_fd:
 * standard error, if it is apart (PvmTaskStreams); the collector then gets marks for it, and the status of the process
 * before EOF. Else -1.
 */
void pvmd_output_new(const struct pvmd_task *task, int fd, int error_fd);

/*
 * A task of this host spawns. Its own EOF waits from begin to end, so that the collector learns of the new tasks (by
 * the mark SPAWN) before it learns of their parent's end. Called by spawn.c.
 */
void pvmd_output_spawn_begins(pvmc_tid parent);
void pvmd_output_spawned(const struct pvmd_collector *to, pvmc_tid tid, int32_t parent);
void pvmd_output_spawn_ends(pvmc_tid parent);

/* Whether the task has its standard error apart, and this is its collector: then so do the tasks that it spawns. */
bool pvmd_output_is_apart(pvmc_tid tid, const struct pvmd_collector *collector);

/* Sends the task's output elsewhere from now on. */
void pvmd_output_redirect(pvmc_tid tid, const struct pvmd_collector *collector);

/* Tells the collector that a program from a shell has enrolled; its output does not pass through us. */
void pvmd_output_shell_begins(const struct pvmd_task *task);

/* The task ends: forwards everything its process has printed before anybody is told of the end. */
void pvmd_output_task_ends(const struct pvmd_task *task);

/* Forgets all that tasks of that host told us to hold. */
void pvmd_output_host_left(unsigned index);

/* Output for this task or host must wait, or may continue. Called by delivery.c. */
void pvmd_output_hold(pvmc_tid receiver, bool hold);

void pvmd_output_start(void);
void pvmd_output_stop(void);

#endif
