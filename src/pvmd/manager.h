/*
 * manager.h - the resource manager (pvm_reg_rm): one task of the machine that others ask instead of their daemon when
 * they start tasks, or want to know or change what the machine consists of.
 *
 * The master decides who it is and tells all daemons. Tasks that enrol from then on are told, too, and ask it; when it
 * ends they ask their daemons again. It has the daemons do the work by SM_EXEC and SM_ADD, and hears of all tasks.
 */
#ifndef PVMD_MANAGER_H
#define PVMD_MANAGER_H

#include "tasks.h"

/* The resource manager, or 0. */
pvmi_tid pvmd_manager(void);

/* A task of ours registers as manager, or gives it up; answered when the master has decided. */
void pvmd_manager_register(const struct pvmd_request *r, bool on);

/* A task of ours that is the manager has left. Its process may go on. */
void pvmd_manager_ended(pvmi_tid tid);

/* A task has enrolled; `spawned`: the manager has its tid from who started it. */
void pvmd_manager_task_enrolled(struct pvmd_task *task, bool spawned);

/* A task ends; called before it is freed. */
void pvmd_manager_task_ended(const struct pvmd_task *task);

void pvmd_manager_start(void);
void pvmd_manager_stop(void);

#endif
