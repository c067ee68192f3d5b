/* inbox.c - a ring of arrivals, which grows. */
#include "inbox.h"
#include <stdlib.h>

static bool grow(struct pvmi_inbox *i)
{
    unsigned size = i->size ? 2 * i->size : 64;
    struct pvmi_arrival *arrivals = malloc(size * sizeof *arrivals);
    if (!arrivals)
        return false;
    for (unsigned n = i->oldest; n != i->end; n++)
        arrivals[n & (size - 1)] = i->arrivals[n & (i->size - 1)];
    free(i->arrivals);
    i->arrivals = arrivals;
    i->size = size;
    return true;
}

bool pvmi_inbox_add(struct pvmi_inbox *i, const struct pvmi_arrival *a)
{
    if (i->end - i->oldest == i->size && !grow(i))
        return false;
    i->arrivals[i->end++ & (i->size - 1)] = *a;
    return true;
}

const struct pvmi_arrival *pvmi_inbox_read(struct pvmi_inbox *i)
{
    return i->unread == i->end ? NULL : &i->arrivals[i->unread++ & (i->size - 1)];
}

struct pvmi_arrival pvmi_inbox_drop(struct pvmi_inbox *i)
{
    return i->arrivals[i->oldest++ & (i->size - 1)];
}

void pvmi_inbox_close(struct pvmi_inbox *i)
{
    while (i->oldest != i->end) {
        struct pvmi_arrival a = pvmi_inbox_drop(i);
        if (a.place == PVMI_IN_HEAP)
            free(a.owner);
    }
    free(i->arrivals);
}
