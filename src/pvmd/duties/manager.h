/*
 * manager.h - the resource manager (pvm_reg_rm), one task of the machine. Other tasks ask it instead of their daemon
 * when they start tasks, or query or change the machine.
 *
 * The master decides which task it is and tells all daemons. Tasks that enrol from then on are told, too, and ask it;
 * when it ends, they ask their daemons again. The manager makes daemons do the work by SM_EXEC and SM_ADD, and is told
 * of all tasks.
 */
#ifndef PVMD_MANAGER_H
#define PVMD_MANAGER_H

#include "pvmd/tasks/tasks.h"

struct pvmd_host;

/* A task of ours registers as manager, or resigns. The request is answered when the master has decided. */
void pvmd_manager_register(const struct pvmd_request *r, bool on);

/* A task has enrolled: it asks the manager from now on, and the manager is told. */
void pvmd_manager_task_enrolled(struct pvmd_task *task);

/* A task of ours has left, and may be the manager. Its process may continue. */
void pvmd_manager_task_left(const struct pvmd_task *task);

/* A task ends: the manager is told. */
void pvmd_manager_task_ends(const struct pvmd_task *task);

/* The manager is told that a host has left (SM_HOSTX). */
void pvmd_manager_host_left(unsigned index);

void pvmd_manager_start(void);
void pvmd_manager_stop(void);

#endif
