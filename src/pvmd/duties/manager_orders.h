/* manager_orders.h - what the resource manager has a daemon do: SM_EXEC, SM_ADD, SM_HANDOFF. Used by manager.c only. */
#ifndef PVMD_MANAGER_ORDERS_H
#define PVMD_MANAGER_ORDERS_H

#include "../core/tid.h"
#include "rpc.h"

/*
 * Asks the master to make `new` (0: nobody) the manager in place of `old`; answered with PvmOk, or PvmAlready if there
 * is another one.
 */
void pvmd_manager_change(pvmi_tid old, pvmi_tid new, pvmd_answered *answered, void *arg);

void pvmd_manager_orders_start(void);
void pvmd_manager_orders_stop(void);

#endif
