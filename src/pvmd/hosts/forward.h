/* forward.h - requests of tasks that only the master can carry out. */
#ifndef PVMD_FORWARD_H
#define PVMD_FORWARD_H

#include "core/buf.h"
#include "pvmd/net/rpc.h"
#include "pvmd/tasks/tasks.h"

/* Asks the master with `body`, which stays the caller's, and gives the task its answer. 0 or PVMC_ENOMEM. */
int pvmd_forward(const struct pvmd_request *r, enum pvmd_dm what, const struct pvmc_buf *body);

/* The same, with the task's tid before the body. */
int pvmd_forward_named(const struct pvmd_request *r, enum pvmd_dm what, const struct pvmc_buf *body);

#endif
