/*
 * task.h - this process as a task of the virtual machine: its state and identity. How it becomes one is in enrol.h.
 */
#ifndef PVMI_TASK_H
#define PVMI_TASK_H

#include <stdbool.h>
#include "core/message/tid.h"

enum pvmi_task_state {
    PVMI_TASK_OUT,    /* not a task: the next call that needs the machine enrols */
    PVMI_TASK_ENTERS, /* pvmi_enrol() is running */
    PVMI_TASK_IN,     /* a task */
    PVMI_TASK_LOST,   /* the daemon is gone: all calls fail until pvm_exit() */
    PVMI_TASK_LEAVES, /* pvm_exit() is running */
};

struct pvmi_task {
    enum pvmi_task_state state;
    pvmc_tid tid;     /* 0 when OUT; kept when LOST */
    int parent;       /* tid, PvmNoParent or PvmParentNotSet */
    bool spawned;     /* started by a daemon: TC_SIBLINGS comes */
    pvmc_tid manager; /* the resource manager, which is asked instead of the daemon; 0: none */
};

extern struct pvmi_task pvmi_task;

/* The context that the task began in. Its threads begin in it, too. */
extern int pvmi_task_first_context;

/* Whether a tid has the form of a task's. There may be no such task or host. */
static inline bool pvmi_tid_names_task(pvmc_tid tid)
{
    return !(tid & (PVMC_TID_DAEMON | PVMC_TID_MULTICAST)) && (tid & PVMC_TID_LOCAL_MASK);
}

/* Whether this process is that task, and its daemon lives. Enrols nobody. For libgpvm3. */
bool pvmi_task_is(int tid);

/* The link to the daemon broke. */
void pvmi_task_lost(void);

#endif
