/*
 * roster.h - the groups and their members, as the group server keeps them.
 */
#ifndef ROSTER_H
#define ROSTER_H

#include <stdbool.h>
#include "../../core/hash.h"
#include "list.h"

struct member {
    int tid, instance;
    int calls;         /* collective calls so far */
    bool told_failure; /* has had its share of the last barrier that failed, see meeting.c */
    UT_hash_handle hh;
};

/* Those who wait until enough of them are there. */
struct meeting {
    int count; /* how many are awaited; whole: as many as are in the group */
    bool whole;
    int *tids; /* who is there, in order of arrival */
    int reached, capacity;
};

struct call;

struct group {
    char *name;
    int id;
    struct list
        *list; /* of the members, or NULL until it is asked for; of a frozen group: of those who were in it then */
    int calls; /* collective calls of the member with the most */
    struct call *in_progress;
    bool frozen;
    int broken; /* PvmNoGroup: a frozen group that has lost a member */
    int epoch;  /* of the members' own barriers */
    int size;
    struct member *members; /* by tid */
    struct member **slots;  /* by instance; NULL: free */
    unsigned span;          /* of slots */
    struct meeting barrier, freeze;
    int owed_failures;                          /* callers of a failed barrier that are still to come */
    int owed_code;                              /* what they get */
    int *watchers, watching, watchers_capacity; /* members that wait in their own barrier */
    long conflict_since_ms;                     /* when they and the barrier here were first seen together, or 0 */
    UT_hash_handle hh;
};

struct group *roster_find(const char *name);

/* The first group; go on with ->hh.next. */
struct group *roster_first(void);
int roster_count(void);

/* A new group without members; NULL: out of memory or too many. */
struct group *roster_add(const char *name);

/* Removes a group that has no members left. */
void roster_drop(struct group *g);

/* Gives a task the lowest free instance; NULL: out of memory or too many. */
struct member *group_add(struct group *g, int tid);
void group_remove(struct group *g, struct member *m);
struct member *group_member(const struct group *g, int tid);

/* The list of the members, without a reference for the caller; NULL: out of memory. */
struct list *group_list(struct group *g);

/* No list changes from now on. False: out of memory. */
bool group_freeze(struct group *g);

#endif
