/*
 * members.h - the members of a group, as the server told them. A list is counted: whoever keeps one over a wait holds a
 * reference, because the group may get another list meanwhile. All that changes in it is who has gone.
 */
#ifndef PVMI_MEMBERS_H
#define PVMI_MEMBERS_H

#include <stdbool.h>

struct pvmi_members {
    unsigned refs;
    int generation;
    int size;
    int rank;              /* index of this task, or -1 */
    int *instances, *tids; /* by ascending instance */
    bool *gone;            /* which of them are no members any more */
};

/*
 * Reads `size` members from the active receive buffer; PvmNoMem, PvmBadMsg or the error of unpacking. *list then has
 * one reference.
 */
int pvmi_members_read(int generation, int size, struct pvmi_members **list);

/* Reads who of them has gone. */
int pvmi_members_read_gone(struct pvmi_members *list);

struct pvmi_members *pvmi_members_ref(struct pvmi_members *list);
void pvmi_members_unref(struct pvmi_members *list); /* NULL is allowed */

/* Index of a member, or -1. */
int pvmi_members_rank_of_tid(const struct pvmi_members *list, int tid);
int pvmi_members_rank_of_instance(const struct pvmi_members *list, int instance);

/* Notes that a task is no member any more; NULL is allowed. */
void pvmi_members_mark_gone(struct pvmi_members *list, int tid);

#endif
