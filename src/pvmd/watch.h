/*
 * watch.h - knowing when a task ends, wherever it runs. Here each task of interest is watched once, however many want
 * to know; its own daemon is asked by DM_WATCH and tells with DM_TASK_ENDED.
 */
#ifndef PVMD_WATCH_H
#define PVMD_WATCH_H

#include "../core/tid.h"

struct pvmd_watch;

/* The task has ended, or never was, or its host is lost. The watch is freed afterwards. */
typedef void pvmd_watch_ended(void *arg, pvmi_tid tid);

/* `ended` is called once, from the loop, unless the watch is cancelled before. NULL when out of memory (logged). */
struct pvmd_watch *pvmd_watch(pvmi_tid tid, pvmd_watch_ended *ended, void *arg);

/* Cancels; NULL is allowed. */
void pvmd_watch_cancel(struct pvmd_watch *w);

/* A task of this host has ended: tells the daemons that watch it. Called by tasks.c. */
void pvmd_watch_task_ended(pvmi_tid tid);

/* Calls `each` for the tids watched here: for `tickle 3`. */
void pvmd_watch_list(void (*each)(pvmi_tid tid, unsigned count));

void pvmd_watch_start(void);
void pvmd_watch_stop(void);

#endif
