/*
 * events.h - events in one room that concern rooms above it. A lower room raises them and does not know the listeners:
 * parts.c, above all rooms, lists the listeners of each event in the order in which they are called.
 */
#ifndef PVMD_EVENTS_H
#define PVMD_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/message/tid.h"

struct pvmd_host;
struct pvmd_task;

/* What it means that a slave tells another one how many of its frames have come (DM_LINK_COUNT). */
enum pvmd_count {
    PVMD_COUNT_PLAIN,
    PVMD_COUNT_QUESTION, /* we want to know the same of ours */
    PVMD_COUNT_ANSWER,   /* ... which came after all frames that had been sent before the question */
};

/* Each member is a list that ends with NULL. */
struct pvmd_listeners {
    void (*const *daemon_ends)(void);
    void (*const *host_joined)(const struct pvmd_host *host);
    void (*const *host_left)(unsigned index);
    void (*const *master_changed)(void);
    void (*const *tables_committed)(uint32_t seq);
    void (*const *link_up)(unsigned host_index);
    void (*const *link_lost)(unsigned host_index, const char *why);
    void (*const *link_out)(unsigned host_index);
    void (*const *link_count)(unsigned host_index, uint32_t received, enum pvmd_count kind);
    void (*const *sender_charged)(pvmc_tid sender, pvmc_tid receiver, size_t bytes);
    void (*const *sender_ended)(pvmc_tid sender);
    void (*const *client_gone)(pid_t pid);
    void (*const *task_enrolled)(struct pvmd_task *task);
    void (*const *task_left)(const struct pvmd_task *task);
    void (*const *task_ends)(const struct pvmd_task *task);
    void (*const *task_ended)(const struct pvmd_task *task);
};

/* Nobody listens until this is set. */
void pvmd_events_listen(const struct pvmd_listeners *all);

/* The daemon is about to leave its loop. */
void pvmd_tell_daemon_ends(void);

/* A host has become a member; or it no longer is one, and is no longer in the host table. */
void pvmd_tell_host_joined(const struct pvmd_host *host);
void pvmd_tell_host_left(unsigned index);

/* Another host, or this one, has become the master after the last one was lost: pvmd.master_index says which. */
void pvmd_tell_master_changed(void);

/* The master's changes of the machine's tables up to this one hold, whatever happens to it (quorum/tables.h). */
void pvmd_tell_tables_committed(uint32_t seq);

/* The link to a host is up; or it is lost for good, and `why` is for the log. */
void pvmd_tell_link_up(unsigned host_index);
void pvmd_tell_link_lost(unsigned host_index, const char *why);

/* We know of no master; this host says that it is the master, and that we are no member. We go on calling. */
void pvmd_tell_link_out(unsigned host_index);

/* We send to another slave through the master, and it is to know that `received` frames have come from it. */
void pvmd_tell_link_count(unsigned host_index, uint32_t received, enum pvmd_count kind);

/* This daemon has queued this much for a receiver on a task's behalf. */
void pvmd_tell_sender_charged(pvmc_tid sender, pvmc_tid receiver, size_t bytes);

/* The task will send nothing more; its unfinished messages are void. */
void pvmd_tell_sender_ended(pvmc_tid sender);

/* The process has closed its connection. */
void pvmd_tell_client_gone(pid_t pid);

/* The task has its tid, and its answer to TM_CONNECT. */
void pvmd_tell_task_enrolled(struct pvmd_task *task);

/* The task is about to lose its connection; its flags still say what it did for the machine. */
void pvmd_tell_task_left(const struct pvmd_task *task);

/* The task has ended and is still in the registry; then, it has been removed and is about to be freed. */
void pvmd_tell_task_ends(const struct pvmd_task *task);
void pvmd_tell_task_ended(const struct pvmd_task *task);

#endif
