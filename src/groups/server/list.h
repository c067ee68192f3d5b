/*
 * list.h - the members of a group at one time. Lists do not change and are counted: whoever keeps one holds a
 * reference.
 */
#ifndef LIST_H
#define LIST_H

struct list {
    unsigned refs;
    int generation; /* no other list has it */
    int size;
    int *instances, *tids; /* by ascending instance */
};

/* A list with one reference and room for `size` members; NULL: out of memory. */
struct list *list_new(int size);
struct list *list_ref(struct list *l);
void list_unref(struct list *l); /* NULL is allowed */

#endif
