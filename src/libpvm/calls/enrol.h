/*
 * enrol.h - how this process becomes a task of the virtual machine, and how it leaves.
 */
#ifndef PVMI_ENROL_H
#define PVMI_ENROL_H

#include <stdbool.h>
#include "core/message/message.h"
#include "libpvm/base/task.h"

/*
 * Makes this process a task. 0; PVMC_EDOWN in state LOST; else why the daemon is out of reach, already logged with its
 * cure.
 */
int pvmi_enrol(void);

/* Enrols if necessary. Every call that needs the machine begins with it: 0, or an error like pvmi_enrol(). */
static inline int pvmi_task_need(void)
{
    return pvmi_task.state == PVMI_TASK_IN ? 0 : pvmi_enrol();
}

/* Leaves: tells the daemon, and forgets everything about the machine. May wait for children's output first. */
int pvmi_enrol_leave(bool wait_for_output);

/* The program has jumped out of the call in which this thread was enrolling or leaving. */
void pvmi_enrol_undo(void);

/* TC_SIBLINGS came; reads m. */
void pvmi_enrol_take_siblings(struct pvmc_message *m);

/* Sets the name that the daemon lists for this task; NULL: the program's. Copied. Called by pvmsettaskname(). */
int pvmi_enrol_set_name(const char *name);

/* For modules that learn about the machine only once they are used. */
struct pvmi_leaver {
    void (*leaves)(void); /* the task is about to leave; handlers still run */
    void (*left)(void);   /* it has left: everything known about the machine is void */
    struct pvmi_leaver *next;
    bool is_listed;
};

/* Calls these functions each time the task leaves, the last one listed first. Listing one again does nothing. */
void pvmi_enrol_on_leave(struct pvmi_leaver *l);

#endif
