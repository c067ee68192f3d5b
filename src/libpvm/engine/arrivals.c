/* arrivals.c - see arrivals.h. A queue in an array that grows by doubling and wraps round. */
#include "arrivals.h"
#include <stdlib.h>
#include "inbox.h"
#include "task.h"

#define FIRST_SLOTS 64 /* a power of two, as all sizes */
#define SLOTS_KEPT  65536

size_t pvmi_arrivals_count;

static struct pvmi_message **slots;
static size_t slot_count, oldest;

static struct pvmi_message **slot(size_t index)
{
    return &slots[index & (slot_count - 1)];
}

/* False: out of memory, nothing has changed. */
static bool resize(size_t size)
{
    struct pvmi_message **other = malloc(size * sizeof *other);
    if (!other)
        return false;
    for (size_t i = 0; i < pvmi_arrivals_count; i++)
        other[i] = *slot(oldest + i);
    free(slots);
    slots = other;
    slot_count = size;
    oldest = 0;
    return true;
}

static bool append(struct pvmi_message *m)
{
    if (pvmi_arrivals_count == slot_count && !resize(slot_count ? 2 * slot_count : FIRST_SLOTS))
        return false;
    *slot(oldest + pvmi_arrivals_count++) = m;
    return true;
}

static void take_in(struct pvmi_message *m)
{
    if (!pvmi_handler_take(m))
        pvmi_inbox_put(m);
}

void pvmi_arrivals_put(struct pvmi_message *m)
{
    if (!pvmi_arrivals_count && (m->src == pvmi_task.tid || pvmi_inbox_is_wanted())) {
        take_in(m);
    } else if (!append(m)) {
        pvmi_inbox_lose((int)m->src, m->tag);
        pvmi_message_unref(m);
    }
}

struct pvmi_message *pvmi_arrivals_pop(void)
{
    if (!pvmi_arrivals_count)
        return NULL;
    struct pvmi_message *m = *slot(oldest++);
    if (!--pvmi_arrivals_count && slot_count > SLOTS_KEPT)
        resize(FIRST_SLOTS);
    return m;
}

bool pvmi_arrivals_take_in(void)
{
    struct pvmi_message *m = pvmi_arrivals_pop();
    if (m)
        take_in(m);
    return m;
}

void pvmi_arrivals_take_in_all(void)
{
    while (pvmi_arrivals_take_in())
        ;
}

void pvmi_arrivals_clear(void)
{
    struct pvmi_message *m;
    while ((m = pvmi_arrivals_pop()))
        pvmi_message_unref(m);
}

__attribute__((destructor)) static void free_all(void)
{
    pvmi_arrivals_clear();
    free(slots);
    slots = NULL;
    slot_count = oldest = 0;
}
