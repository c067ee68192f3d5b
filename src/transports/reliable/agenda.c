/* agenda.c - a binary heap whose entries know their places. */
#include "agenda.h"
#include <stdlib.h>
#include "../../core/error.h"

static void put(struct pvmi_agenda *a, unsigned place, struct pvmi_agenda_entry *e)
{
    a->heap[place] = e;
    e->place = place;
}

static void rise(struct pvmi_agenda *a, struct pvmi_agenda_entry *e)
{
    unsigned at = e->place;
    for (; at > 1 && a->heap[at / 2]->due_us > e->due_us; at /= 2)
        put(a, at, a->heap[at / 2]);
    put(a, at, e);
}

static void sink(struct pvmi_agenda *a, struct pvmi_agenda_entry *e)
{
    unsigned at = e->place;
    for (;;) {
        unsigned child = 2 * at;
        if (child > a->count)
            break;
        if (child < a->count && a->heap[child + 1]->due_us < a->heap[child]->due_us)
            child++;
        if (a->heap[child]->due_us >= e->due_us)
            break;
        put(a, at, a->heap[child]);
        at = child;
    }
    put(a, at, e);
}

static void take_out(struct pvmi_agenda *a, struct pvmi_agenda_entry *e)
{
    struct pvmi_agenda_entry *last = a->heap[a->count--];
    unsigned place = e->place;
    e->place = 0;
    if (last == e)
        return;
    put(a, place, last);
    rise(a, last);
    sink(a, last);
}

static int grow(struct pvmi_agenda *a)
{
    unsigned room = a->room ? 2 * a->room : 64;
    struct pvmi_agenda_entry **heap = realloc(a->heap, room * sizeof *heap);
    if (!heap)
        return PVMI_ENOMEM;
    a->heap = heap;
    a->room = room;
    return 0;
}

int pvmi_agenda_set(struct pvmi_agenda *a, struct pvmi_agenda_entry *e, int64_t due_us)
{
    if (e->place && due_us == e->due_us)
        return 0;
    e->due_us = due_us;
    if (due_us == INT64_MAX) {
        if (e->place)
            take_out(a, e);
        return 0;
    }
    if (!e->place) {
        if (a->count + 1 >= a->room && grow(a))
            return PVMI_ENOMEM;
        put(a, ++a->count, e);
    }
    rise(a, e);
    sink(a, e);
    return 0;
}

void pvmi_agenda_clear(struct pvmi_agenda *a)
{
    free(a->heap);
    *a = (struct pvmi_agenda){.heap = NULL};
}
