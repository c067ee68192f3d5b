/*
 * newcomer.h - one host on its way into the machine, as the master sees it: name looked up, daemon launched, link made.
 * What comes then concerns all hosts, see add.c.
 */
#ifndef PVMD_NEWCOMER_H
#define PVMD_NEWCOMER_H

#include <ev.h>
#include "courier.h"
#include "hoster.h"
#include "hostfile.h"
#include "hosts.h"
#include "launch.h"
#include "resolve.h"

/* The value says what it waits for. */
enum pvmd_newcomer_phase {
    PVMD_NEWCOMER_TURN,   /* for its turn: only so many are launched at once */
    PVMD_NEWCOMER_NAME,   /* for the name service */
    PVMD_NEWCOMER_LAUNCH, /* for the daemon's line */
    PVMD_NEWCOMER_LINK,   /* for the link */
    PVMD_NEWCOMER_LINKED, /* for the others to know of it */
    PVMD_NEWCOMER_DONE,   /* for nothing: `status` tells */
};

struct pvmd_newcomer {
    struct pvmd_host_spec spec;
    enum pvmd_newcomer_phase phase;
    struct pvmd_host *host; /* its entry in the table, NULL when it has none (any more) */
    int status;             /* when DONE: the host's tid or a PvmXxx code */
    char *why;              /* for codes: what to tell the user; NULL: the code says it all */

    const struct pvmd_launcher *launcher;
    struct pvmd_resolve *resolve;
    struct pvmd_addresses found;  /* by the name service */
    char not_found[128];          /* its words when it found nothing */
    struct pvmd_hosting *hosting; /* while a hoster is asked to start it */
    struct pvmd_courier_key key;  /* with what the hoster starts we speak by this key */
    struct pvmd_launch *launch;
    ev_timer limit;
    double limit_s;
    /* Called once, when LINKED or DONE, from the loop or from pvmd_newcomer_begin(). */
    void (*settled)(struct pvmd_newcomer *n);
    void *owner;
};

/* Its turn: spec, host and settled are set. */
void pvmd_newcomer_begin(struct pvmd_newcomer *n);

/* News of its link. */
void pvmd_newcomer_link_up(struct pvmd_newcomer *n);

/* It cannot be added, whatever phase it is in: undoes what was done, frees its host entry, and is DONE. */
__attribute__((format(printf, 3, 4))) void pvmd_newcomer_fail(struct pvmd_newcomer *n, int code, const char *format,
                                                              ...);

/* Frees what it holds, not *n. */
void pvmd_newcomer_clear(struct pvmd_newcomer *n);

#endif
