/*
 * tasker.h - a task of this host that starts processes in the daemon's place (pvm_reg_tasker): it is sent SM_STTASK for
 * each new task and says SM_TASKX when one has ended or could not be started.
 *
 * Nobody waits for a tasker: the spawner has its task ids at once. A task that it was given exists until it says so,
 * until the task's connection closes, or until the tasker ends before the task has connected.
 */
#ifndef PVMD_TASKER_H
#define PVMD_TASKER_H

#include "tasks.h"

/* What a process is to be started with. */
struct pvmd_tasker_order {
    char *const *argv;        /* argv[0]: the program's path; ends with NULL, as environment does */
    char *const *environment; /* all that the daemon itself would give it */
    uint32_t flags;           /* of pvm_spawn() */
    uint32_t instance;        /* number of the task among those of its pvm_spawn(), from 0 */
    uint32_t here, total;     /* how many of them this host was asked for, and how many there are */
};

/* The tasker, or 0. */
pvmi_tid pvmd_tasker(void);

/* Has the task's process started by the tasker. PvmOk or PvmNoMem. */
int pvmd_tasker_give(struct pvmd_task *task, const struct pvmd_tasker_order *order);

/* The task has become, or is no longer, the tasker. What it has started stays its. */
void pvmd_tasker_set(pvmi_tid tid);

/* The tasker has ended: so have those tasks of its that were never heard of. */
void pvmd_tasker_ended(pvmi_tid tid);

void pvmd_tasker_start(void);

#endif
