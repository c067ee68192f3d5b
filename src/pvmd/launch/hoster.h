/*
 * hoster.h - a task on the master's host that starts daemons on other hosts in the master's place (pvm_reg_hoster): it
 * is sent SM_STHOST with the command for each host, and answers with what that printed (SM_STHOSTACK).
 */
#ifndef PVMD_HOSTER_H
#define PVMD_HOSTER_H

#include "../core/tid.h"

#define PVMD_HOSTER_GATHER_S 0.05 /* hosts that are asked for within this time go in one message */

/* The hoster, or 0. */
pvmi_tid pvmd_hoster(void);

/* The task has become, or (0) is no longer, the hoster. */
void pvmd_hoster_set(pvmi_tid tid);
void pvmd_hoster_ended(pvmi_tid tid);

/* ---- for newcomer.c ---- */

struct pvmd_hosting; /* one host that a hoster is to start */

struct pvmd_hosting_order {
    pvmi_tid host;
    const char *options; /* so= of the hostfile, "" for none */
    const char *login;   /* "[user@]name" */
    const char *command; /* to be run there by a shell */
};

/* From the loop; one of them once, and the hosting is gone. */
struct pvmd_hosting_events {
    void (*answered)(void *owner, const char *result); /* the daemon's line, or the name of an error */
    void (*lost)(void *owner);                         /* there is no hoster any more, and no answer */
};

/* Asks the hoster. The texts are copied. NULL when out of memory. */
struct pvmd_hosting *pvmd_hoster_ask(const struct pvmd_hosting_order *order, const struct pvmd_hosting_events *events,
                                     void *owner);

/* No event follows; an answer that comes all the same is dropped. */
void pvmd_hoster_cancel(struct pvmd_hosting *h);

void pvmd_hoster_start(void);
void pvmd_hoster_stop(void);

#endif
