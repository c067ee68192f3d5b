/*
 * tasker.h - the tasker (pvm_reg_tasker), a task of this host that starts processes instead of the daemon. It gets
 * SM_STTASK for each new task, and sends SM_TASKX when a task has ended or could not be started.
 *
 * No caller waits for the tasker: the spawner gets its task ids at once. A task of the tasker exists until the tasker
 * reports its end, until its connection closes, or until the tasker ends before the task has connected.
 */
#ifndef PVMD_TASKER_H
#define PVMD_TASKER_H

#include "pvmd/tasks/tasks.h"

/* What the tasker starts a process with. */
struct pvmd_tasker_order {
    char *const *argv;        /* argv[0]: the program's path; ends with NULL, as environment does */
    char *const *environment; /* all that the daemon itself would give it */
    uint32_t flags;           /* of pvm_spawn() */
    uint32_t instance;        /* number of the task among those of its pvm_spawn(), from 0 */
    uint32_t here, total;     /* how many of them this host was asked for, and how many there are */
};

/* The tasker, or 0. */
pvmc_tid pvmd_tasker(void);

/* Asks the tasker to start the task's process. Returns PvmOk or PvmNoMem. */
int pvmd_tasker_give(struct pvmd_task *task, const struct pvmd_tasker_order *order);

/* The task becomes, or (0) no task is any longer, the tasker. Tasks that it has started stay its own. */
void pvmd_tasker_set(pvmc_tid tid);

/* A task has left. If it is or was the tasker, its tasks that have not connected have ended. */
void pvmd_tasker_task_left(const struct pvmd_task *task);

void pvmd_tasker_start(void);

#endif
