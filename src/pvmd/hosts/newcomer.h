/*
 * newcomer.h - one host that the master is adding: its name lookup, the launch of its daemon, its link. The steps after
 * that concern all hosts: see add.c.
 */
#ifndef PVMD_NEWCOMER_H
#define PVMD_NEWCOMER_H

#include <ev.h>
#include "pvmd/launch/courier.h"
#include "pvmd/launch/delegate.h"
#include "pvmd/launch/hoster.h"
#include "hostfile.h"
#include "pvmd/base/hosts.h"
#include "pvmd/launch/launch.h"
#include "pvmd/launch/launchers/launcher.h"
#include "pvmd/net/resolve.h"

/* Named by what the newcomer waits for. */
enum pvmd_newcomer_phase {
    PVMD_NEWCOMER_TURN,   /* for its turn: launches are limited */
    PVMD_NEWCOMER_NAME,   /* for the name service */
    PVMD_NEWCOMER_LAUNCH, /* for the daemon's line */
    PVMD_NEWCOMER_LINK,   /* for the link */
    PVMD_NEWCOMER_LINKED, /* for the others to learn of it */
    PVMD_NEWCOMER_DONE,   /* for nothing: `status` is the result */
};

struct pvmd_newcomer {
    struct pvmd_host_spec spec;
    enum pvmd_newcomer_phase phase;
    struct pvmd_host *host; /* its entry in the table; NULL when DONE */
    int status;             /* when DONE: the host's tid or a PvmXxx code */
    char *why;              /* for codes: a message for the user; NULL: the code says everything */

    const struct pvmd_launcher *launcher;
    struct pvmd_resolve *resolve;
    struct pvmw_addresses found;  /* results of the name service */
    char not_found[128];          /* its message if it found nothing */
    struct pvmd_hosting *hosting; /* while a hoster starts it */
    struct pvmd_courier_key key;  /* for the daemon that the hoster starts */
    struct pvmd_launch *launch;
    unsigned token;                 /* once LINKED: the place of the token of which it has a use; 0: none */
    struct pvmd_arrival *arrival;   /* instead, of a daemon that joins by itself */
    struct pvmd_delegate *delegate; /* while a member launches it */
    unsigned at;                    /* the index of the host that does: ours, or the member's */
    bool counts;                    /* as one of that host's launches (fanout.h) */
    bool stays;                     /* no member is to launch it */
    unsigned suspect;               /* the member that could not launch it, or 0 */
    char *elsewhere;                /* why a member has not started it, or NULL */
    ev_timer limit, again, slow;
    double limit_s;
    int64_t again_until_us; /* a daemon that an earlier launch has started may still be there */
    /* Called when it is LINKED or DONE or back to TURN, or needs no room any more; from the loop or from _begin(). */
    void (*settled)(struct pvmd_newcomer *n);
    void *owner;
};

/* Whether a member could run its launcher in our place. */
bool pvmd_newcomer_travels(const struct pvmd_newcomer *n);

/* Starts to add it, with its launcher at this host, ours or a member; spec, host and settled must be set. */
void pvmd_newcomer_begin(struct pvmd_newcomer *n, unsigned at);

/*
 * Its link is lost before it was up. If the member that launched it has left, its daemon has ended for that reason:
 * it waits for its turn again, and this returns true.
 */
bool pvmd_newcomer_comes_back(struct pvmd_newcomer *n, const char *why);

/* Its link is up. */
void pvmd_newcomer_link_up(struct pvmd_newcomer *n);

/* Gives up in any phase: undoes all steps, frees the host entry, and is DONE. */
__attribute__((format(printf, 3, 4))) void pvmd_newcomer_fail(struct pvmd_newcomer *n, int code, const char *format,
                                                              ...);

/* Frees what it holds, not *n. */
void pvmd_newcomer_clear(struct pvmd_newcomer *n);

/* Another daemon, or this one, has become the master: those that the lost one was adding will end. */
void pvmd_newcomer_master_changed(void);

#endif
