/*
 * events.h - what happens in one room and concerns rooms above it. A lower room tells, and does not know who listens:
 * parts.c, above all rooms, lists the listeners of each event in the order in which they hear of it.
 */
#ifndef PVMD_EVENTS_H
#define PVMD_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/message/tid.h"

struct pvmd_host;
struct pvmd_task;

/* Each member is a list that ends with NULL. */
struct pvmd_listeners {
    void (*const *daemon_ends)(void);
    void (*const *host_joined)(const struct pvmd_host *host);
    void (*const *host_left)(unsigned index);
    void (*const *link_up)(unsigned host_index);
    void (*const *link_lost)(unsigned host_index, const char *why);
    void (*const *link_relayed)(unsigned host_index, uint32_t received);
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

/* A host has become a member; or it is one no longer, and is out of the host table. */
void pvmd_tell_host_joined(const struct pvmd_host *host);
void pvmd_tell_host_left(unsigned index);

/* The link to a host is up; or it is lost for good, `why` being for the log. */
void pvmd_tell_link_up(unsigned host_index);
void pvmd_tell_link_lost(unsigned host_index, const char *why);

/* From now on we send to another slave through the master; `received` frames came from it directly. */
void pvmd_tell_link_relayed(unsigned host_index, uint32_t received);

/* This daemon has queued so much for a receiver on a task's behalf. */
void pvmd_tell_sender_charged(pvmc_tid sender, pvmc_tid receiver, size_t bytes);

/* The task sends nothing more; messages that it has begun are void. */
void pvmd_tell_sender_ended(pvmc_tid sender);

/* The process has closed its connection. */
void pvmd_tell_client_gone(pid_t pid);

/* The task has its tid, and its answer to TM_CONNECT. */
void pvmd_tell_task_enrolled(struct pvmd_task *task);

/* The task is about to lose its connection; its flags still say what it did for the machine. */
void pvmd_tell_task_left(const struct pvmd_task *task);

/* The task has ended and is still in the registry; afterwards it is in the registry no longer, and freed next. */
void pvmd_tell_task_ends(const struct pvmd_task *task);
void pvmd_tell_task_ended(const struct pvmd_task *task);

#endif
