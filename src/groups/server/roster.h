/*
 * roster.h - the group server's table of groups and members.
 */
#ifndef PVMG_ROSTER_H
#define PVMG_ROSTER_H

#include <stdbool.h>
#include "core/hash.h"
#include "list.h"

struct member {
    int tid, instance;
    int calls;            /* the number after that of its last collective call that the server knows of */
    int confirmed;        /* it has the list of all calls below this number, see calls.h */
    bool told_failure;    /* got the error of the last barrier that failed, see barrier.c */
    int told_deaths;      /* deaths of other members up to this one are known to it, see barrier.c */
    int waiting;          /* serial of the request with which it waits in a barrier or freeze, or 0 */
    int answered, answer; /* serial and code of its last JOIN, BARRIER or FREEZE, if a new server asks again */
    UT_hash_handle hh;
};

/* Members that wait until enough have arrived. */
struct barrier {
    int count;  /* number of members to wait for */
    bool whole; /* wait for all members of the group instead */
    int *tids;  /* members that have arrived, in order */
    int reached, capacity;
};

struct call;
struct pvmg_board;

struct group {
    char *name;
    int id;
    struct list *list; /* of the members, NULL until requested; in a frozen group: the members when it was frozen */
    int calls;         /* the number of the next collective call */
    struct call *in_progress;
    int calls_in_progress;
    bool frozen;
    int broken;     /* PvmNoGroup: the group was frozen and has lost a member */
    int first_loss; /* PvmNoTask or PvmNoGroup: that member died, or left */
    int deaths;     /* members that ended without leaving */
    int vacant;     /* of these, places that no task has taken by joining */
    int epoch;      /* of the barriers among members */
    int size;
    struct member *members; /* by tid */
    struct member **slots;  /* by instance; NULL: free */
    unsigned span;          /* of slots */
    struct barrier barrier, freeze;
    int pending_failures;                       /* members that still have to get the error of a failed barrier */
    int pending_code;                           /* that error */
    int *watchers, watching, watchers_capacity; /* tids that wait in a barrier among members */
    long conflict_since_ms;                     /* since when both watchers and a barrier here wait, or 0 */
    struct pvmg_board *board;                   /* offered to the members, or where they meet; or NULL */
    int meetings;                               /* by messages, see boards.c */
    int boards_offered, boards_closed;
    bool changed, recorded; /* see record.h */
    struct group *next_changed;
    UT_hash_handle hh;
};

struct group *pvmg_roster_find(const char *name);

/* The first group; continue with ->hh.next. */
struct group *pvmg_roster_first(void);
int pvmg_roster_count(void);

/* Adds a group without members; NULL: out of memory or too many groups. */
struct group *pvmg_roster_add(const char *name);

/* A recorded group gets back its id; later groups get higher ones. */
void pvmg_roster_set_id(struct group *g, int id);
int pvmg_roster_last_id(void);

/* Removes a group. */
void pvmg_roster_drop(struct group *g);

/* Adds a task with the lowest free instance; NULL: out of memory or too many members. */
struct member *pvmg_roster_add_member(struct group *g, int tid);
void pvmg_roster_remove_member(struct group *g, struct member *m);

/* The same with an instance of a recorded group. NULL also if it is taken or too large. */
struct member *pvmg_roster_restore_member(struct group *g, int tid, int instance);
struct member *pvmg_roster_member(const struct group *g, int tid);

/* The list of the members, without a reference for the caller; NULL: out of memory. */
struct list *pvmg_roster_list(struct group *g);

/* The group differs from its record: the next answer waits until it is recorded (record.h). */
void pvmg_roster_changed(struct group *g);

/* Takes a changed group off the list of those; NULL: there is none. */
struct group *pvmg_roster_take_changed(void);
bool pvmg_roster_has_changed(void);

/* Freezes the group with its current list. False: out of memory. */
bool pvmg_roster_freeze(struct group *g);

#endif
