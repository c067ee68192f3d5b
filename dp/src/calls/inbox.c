/* inbox.c - a growing ring of messages. */
#include "inbox.h"
#include <stdlib.h>

static bool grow(struct dpi_inbox *i)
{
    unsigned size = i->size ? 2 * i->size : 64;
    struct dpi_arrival *arrivals = malloc(size * sizeof *arrivals);
    if (!arrivals)
        return false;
    for (unsigned n = i->oldest; n != i->end; n++)
        arrivals[n & (size - 1)] = i->arrivals[n & (i->size - 1)];
    free(i->arrivals);
    i->arrivals = arrivals;
    i->size = size;
    return true;
}

bool dpi_inbox_add(struct dpi_inbox *i, const struct dpi_arrival *a)
{
    if (i->end - i->oldest == i->size && !grow(i))
        return false;
    i->arrivals[i->end++ & (i->size - 1)] = *a;
    return true;
}

const struct dpi_arrival *dpi_inbox_read(struct dpi_inbox *i)
{
    return i->unread == i->end ? NULL : &i->arrivals[i->unread++ & (i->size - 1)];
}

struct dpi_arrival dpi_inbox_drop(struct dpi_inbox *i)
{
    return i->arrivals[i->oldest++ & (i->size - 1)];
}

void dpi_inbox_close(struct dpi_inbox *i)
{
    while (i->oldest != i->end) {
        struct dpi_arrival a = dpi_inbox_drop(i);
        if (a.place == DPI_IN_HEAP)
            free(a.owner);
    }
    free(i->arrivals);
}
