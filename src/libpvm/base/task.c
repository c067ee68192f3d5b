/* task.c - see task.h. */
#include "task.h"

struct pvmi_task pvmi_task;
int pvmi_task_first_context;

void pvmi_task_lost(void)
{
    if (pvmi_task.state == PVMI_TASK_IN)
        pvmi_task.state = PVMI_TASK_LOST;
}

bool pvmi_task_is(int tid)
{
    return pvmi_task.state == PVMI_TASK_IN && pvmi_task.tid == (pvmc_tid)tid;
}
