/*
 * list.h - the members of a group at one time. Lists are immutable and reference-counted.
 */
#ifndef PVMG_LIST_H
#define PVMG_LIST_H

struct list {
    unsigned refs;
    int generation; /* unique number of this list */
    int size;
    int *instances, *tids; /* by ascending instance */
};

/* A list with one reference and room for `size` members; NULL: out of memory. */
struct list *pvmg_list_new(int size);
struct list *pvmg_list_ref(struct list *l);

/* A recorded list gets back its generation; later lists get higher ones. */
void pvmg_list_set_generation(struct list *l, int generation);
void pvmg_list_unref(struct list *l); /* NULL is allowed */

#endif
