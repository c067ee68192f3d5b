/*
 * members.h - the member list of a group, received from the server. Lists are reference-counted: a call that waits
 * holds a reference, because the group may get another list meanwhile. Only `gone` changes in a list.
 */
#ifndef PVMG_MEMBERS_H
#define PVMG_MEMBERS_H

#include <stdbool.h>

struct pvmg_members {
    unsigned refs;
    int generation;
    int size;
    int rank;              /* index of this task, or -1 */
    int *instances, *tids; /* by ascending instance */
    bool *gone;            /* which of them are no longer members */
};

/*
 * Reads `size` members from the active receive buffer into a new list with one reference; PvmNoMem, PvmBadMsg or the
 * error of unpacking.
 */
int pvmg_members_read(int generation, int size, struct pvmg_members **list);

/* Reads which of them are no longer members. */
int pvmg_members_read_gone(struct pvmg_members *list);

struct pvmg_members *pvmg_members_ref(struct pvmg_members *list);
void pvmg_members_unref(struct pvmg_members *list); /* NULL is allowed */

/* Index of a member, or -1. */
int pvmg_members_rank_of_tid(const struct pvmg_members *list, int tid);
int pvmg_members_rank_of_instance(const struct pvmg_members *list, int instance);

/* Marks a task as no longer a member; NULL is allowed. */
void pvmg_members_mark_gone(struct pvmg_members *list, int tid);

#endif
