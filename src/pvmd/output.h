/*
 * output.h - what started processes print: read line by line from one pipe each, and sent to the task that collects it,
 * or to the master's log. A collector that does not read holds the pipe, and with it the process, back.
 */
#ifndef PVMD_OUTPUT_H
#define PVMD_OUTPUT_H

#include <stdbool.h>
#include "tasks.h"

/* A process has been started; reads from fd, which is owned from now on. Tells the collector of the new task. */
void pvmd_output_new(const struct pvmd_task *task, int fd);

/*
 * A task of this host spawns: between begin and end its own EOF waits, so that who collects hears of the new tasks, by
 * the mark SPAWN from here, before the end of their parent. Called by spawn.c.
 */
void pvmd_output_spawn_begins(pvmi_tid parent);
void pvmd_output_spawned(const struct pvmd_collector *to, pvmi_tid tid, int32_t parent);
void pvmd_output_spawn_ends(pvmi_tid parent);

/* The output of a task goes elsewhere from now on. */
void pvmd_output_redirect(pvmi_tid tid, const struct pvmd_collector *collector);

/* Marks for the collector of a program from a shell: we do not read what it prints, but say when it is there. */
void pvmd_output_shell_begins(const struct pvmd_task *task);
void pvmd_output_shell_ends(const struct pvmd_task *task);

/* The task ends: what its process has printed goes out before anybody hears of the end. */
void pvmd_output_drain(pvmi_tid tid);

/* What goes to this task or host has to wait, or may go on. Called by hold.c. */
void pvmd_output_hold(pvmi_tid receiver, bool hold);

void pvmd_output_start(void);
void pvmd_output_stop(void);

#endif
