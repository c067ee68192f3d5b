/*
 * watch.h - tells when a task ends, wherever it runs. Each daemon watches a task once, for any number of listeners: it
 * sends DM_WATCH to the task's own daemon, which later sends DM_TASK_ENDED.
 */
#ifndef PVMD_WATCH_H
#define PVMD_WATCH_H

#include "core/message/tid.h"

struct pvmd_task;
struct pvmd_watch;

/* The task has ended, has never existed, or its host is lost. The watch is freed afterwards. */
typedef void pvmd_watch_ended(void *arg, pvmc_tid tid);

/* Calls `ended` once, from the loop, unless the watch is cancelled before. NULL: out of memory (logged). */
struct pvmd_watch *pvmd_watch(pvmc_tid tid, pvmd_watch_ended *ended, void *arg);

/* Cancels; NULL is allowed. */
void pvmd_watch_cancel(struct pvmd_watch *w);

/* A task of this host has ended: tells the daemons that watch it. */
void pvmd_watch_task_ended(const struct pvmd_task *task);

/* That host's tasks have ended. */
void pvmd_watch_host_left(unsigned index);

/* Calls `each` for the tids watched here: for `tickle 3`. */
void pvmd_watch_list(void (*each)(pvmc_tid tid, unsigned count));

void pvmd_watch_start(void);
void pvmd_watch_stop(void);

#endif
