/*
 * task.h - this process as a task of the virtual machine: enrolment, identity, leaving.
 */
#ifndef PVMI_TASK_H
#define PVMI_TASK_H

#include <stdbool.h>
#include "../core/message.h"
#include "../core/tid.h"

enum pvmi_task_state {
    PVMI_TASK_OUT,    /* not a task: the next call that needs the machine enrols */
    PVMI_TASK_ENTERS, /* pvmi_task_enrol() is at work */
    PVMI_TASK_IN,     /* a task */
    PVMI_TASK_LOST,   /* the daemon is gone: all calls fail until pvm_exit() */
    PVMI_TASK_LEAVES, /* pvm_exit() is at work */
};

struct pvmi_task {
    enum pvmi_task_state state;
    pvmi_tid tid;     /* 0 when OUT; kept when LOST */
    int parent;       /* tid, PvmNoParent or PvmParentNotSet */
    bool spawned;     /* started by a daemon: TC_SIBLINGS comes */
    pvmi_tid manager; /* the resource manager, which is asked instead of the daemon; 0: there is none for us */
};

extern struct pvmi_task pvmi_task;

/* The context that it began in: what its threads begin in, too. */
extern int pvmi_task_first_context;

/* Becomes a task. 0; PVMI_EDOWN in state LOST; else what kept us from the daemon, already logged with its cure. */
int pvmi_task_enrol(void);

/* What every call that needs the machine does first: 0 or an error as of pvmi_task_enrol(). */
static inline int pvmi_task_need(void)
{
    return pvmi_task.state == PVMI_TASK_IN ? 0 : pvmi_task_enrol();
}

/* Whether a tid has the form of a task's, be there such a host or not. */
static inline bool pvmi_tid_names_task(pvmi_tid tid)
{
    return !(tid & (PVMI_TID_DAEMON | PVMI_TID_MULTICAST)) && (tid & PVMI_TID_LOCAL_MASK);
}

/* The link to the daemon broke. Called by link.c from inside its progress. */
void pvmi_task_lost(void);

/* Tells the daemon that we go, and forgets everything about the machine; may wait for children's output first. */
int pvmi_task_leave(bool wait_for_output);

/* The program has jumped out of the call in which this thread enrolled or left. Called by jump.c. */
void pvmi_task_left(void);

/* TC_SIBLINGS came. Called by control.c; reads m. */
void pvmi_task_take_siblings(struct pvmi_message *m);

/* The name that the daemon lists for us; NULL: the program's. Copied. Called by pvmsettaskname(). */
int pvmi_task_set_name(const char *name);

#endif
