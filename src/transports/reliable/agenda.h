/*
 * agenda.h - what is due when, soonest first: the connections of a transport, so that it need not look at all of them.
 * A heap: entering, changing and leaving take as many steps as the number of entries has bits.
 */
#ifndef PVMI_AGENDA_H
#define PVMI_AGENDA_H

#include <stddef.h>
#include <stdint.h>

/* Part of whatever is entered. */
struct pvmi_agenda_entry {
    int64_t due_us;
    unsigned place; /* in the heap, from 1; 0: not entered */
};

/* Zeroed: empty. */
struct pvmi_agenda {
    struct pvmi_agenda_entry **heap; /* from 1 */
    unsigned count, room;
};

/* Enters e, or moves it, or takes it out if due_us is INT64_MAX. 0 or PVMI_ENOMEM (it is not entered then). */
int pvmi_agenda_set(struct pvmi_agenda *a, struct pvmi_agenda_entry *e, int64_t due_us);

/* The one due next, or NULL. */
static inline struct pvmi_agenda_entry *pvmi_agenda_first(const struct pvmi_agenda *a)
{
    return a->count ? a->heap[1] : NULL;
}

/* Frees the heap; the entries are their owners'. */
void pvmi_agenda_clear(struct pvmi_agenda *a);

#endif
