/*
 * group.h - what a task knows of its groups: a record per group, brought up to date from the group server.
 *
 * A member of a frozen group asks the server no more. All others ask at each call; the server sends the members only
 * when they have changed. Records are counted, because a message handler of the user may ask about groups while
 * one of his group calls waits.
 */
#ifndef PVMI_GROUP_H
#define PVMI_GROUP_H

#include <stdbool.h>
#include "../core/hash.h"
#include "members.h"
#include "parcel.h"

struct pvmi_group {
    unsigned refs;
    char *name;
    int id; /* 0 until the server has told it */
    bool frozen;
    bool lost;                    /* the server that knew it has ended */
    struct pvmi_members *members; /* NULL until the server has told them */

    /* collective calls */
    int number;                        /* of the one in progress, or the last */
    int finished;                      /* calls below this number are over for us */
    struct pvmi_members *participants; /* of the one in progress, or NULL */
    struct pvmi_parcel *kept; /* the parts that we gave in the last one, to be sent again when lost on the way */
    int kept_number;

    /* barriers of a frozen group */
    int broken;         /* error of all later ones, or 0: a member has ended or left */
    int fate;           /* the same for those who were waiting then */
    int epoch, barrier; /* a mismatch begins a new epoch, in which barriers count from 0 */
    bool in_barrier, missed_mismatch;

    UT_hash_handle by_name, by_id;
};

/*
 * Brings the record of a group up to date and returns it in *group, with a reference that the caller releases. counted:
 * this is the start of a collective call, which gets group->number and group->participants. Current context is the
 * server's. PvmNoGroup; PvmNotInGroup (counted only), PvmDSysErr when the server ended, PvmNoMem.
 */
int pvmi_group_fetch(const char *name, bool counted, struct pvmi_group **group);
void pvmi_group_release(struct pvmi_group *g); /* NULL is allowed */

/* Joins, leaves and freezes: as pvm_joingroup(), pvm_lvgroup() and pvm_freezegroup(). */
int pvmi_group_join(const char *name);
int pvmi_group_leave(const char *name);
int pvmi_group_freeze(const char *name, int size);

/* The record of a frozen group that we are in, if we have it, with a reference for the caller; NULL if not. */
struct pvmi_group *pvmi_group_frozen(const char *name);

/* The record with this id, or NULL. No reference. */
struct pvmi_group *pvmi_group_of(int id);

/* Are we in it? */
bool pvmi_group_is_member(const struct pvmi_group *g);

/* Replaces what is kept for sending again; takes over p, which may be NULL. */
void pvmi_group_keep(struct pvmi_group *g, struct pvmi_parcel *p);

/* Notes an event that the server told. */
void pvmi_group_event(int id, int kind, int value);

/* The server has ended: no record is worth anything. */
void pvmi_group_lose_all(void);

/* Drops all records: the task has a new tid. */
void pvmi_group_forget_all(void);

#endif
