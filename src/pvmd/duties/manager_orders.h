/* manager_orders.h - orders of the resource manager: SM_EXEC, SM_ADD, SM_HANDOFF. Used by manager.c only. */
#ifndef PVMD_MANAGER_ORDERS_H
#define PVMD_MANAGER_ORDERS_H

#include "core/message/tid.h"
#include "pvmd/net/rpc.h"

/*
 * Asks the master to make `new` (0: nobody) the manager in place of `old`. The answer is PvmOk, or PvmAlready if
 * another task is the manager.
 */
void pvmd_manager_change(pvmc_tid old, pvmc_tid new, pvmd_answered *answered, void *arg);

void pvmd_manager_orders_start(void);
void pvmd_manager_orders_stop(void);

#endif
