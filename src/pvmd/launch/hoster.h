/*
 * hoster.h - the hoster (pvm_reg_hoster), a task on the master's host that starts daemons on other hosts in the
 * master's place. It gets SM_STHOST with a command for each host, and answers with the commands' output (SM_STHOSTACK).
 */
#ifndef PVMD_HOSTER_H
#define PVMD_HOSTER_H

#include "core/message/tid.h"

struct pvmd_task;

#define PVMD_HOSTER_GATHER_S 0.05 /* hosts within this time go into one message */

/* The hoster, or 0. */
pvmc_tid pvmd_hoster(void);

/* The task becomes, or (0) no task is any longer, the hoster. */
void pvmd_hoster_set(pvmc_tid tid);

/* A task has left: it may have been the hoster. */
void pvmd_hoster_task_left(const struct pvmd_task *task);

/* ---- for newcomer.c ---- */

struct pvmd_hosting; /* one host that the hoster is starting */

struct pvmd_hosting_order {
    pvmc_tid host;
    const char *options; /* so= of the hostfile, "" for none */
    const char *login;   /* "[user@]name" */
    const char *command; /* for a shell there */
};

/* From the loop: one of these events, once; the hosting is freed. */
struct pvmd_hosting_events {
    void (*answered)(void *owner, const char *result); /* the daemon's line, or the name of an error */
    void (*lost)(void *owner);                         /* the hoster has ended without an answer */
};

/* Asks the hoster. The texts are copied. NULL when out of memory. */
struct pvmd_hosting *pvmd_hoster_ask(const struct pvmd_hosting_order *order, const struct pvmd_hosting_events *events,
                                     void *owner);

/* No event follows; a later answer is dropped. */
void pvmd_hoster_cancel(struct pvmd_hosting *h);

void pvmd_hoster_start(void);
void pvmd_hoster_stop(void);

#endif
