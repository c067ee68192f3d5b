/* arrivals.c - see arrivals.h. The queue is a ring that grows by doubling. */
#include "arrivals.h"
#include <stdlib.h>
#include "inbox.h"
#include "libpvm/base/call.h"
#include "libpvm/base/task.h"

#define FIRST_SLOTS 64 /* a power of two, like all sizes */
#define SLOTS_KEPT  65536

size_t pvmi_arrivals_count;

static struct pvmc_message **slots;
static size_t slot_count, oldest;

static struct pvmc_message **slot(size_t index)
{
    return &slots[index & (slot_count - 1)];
}

/* False: out of memory, nothing has changed. */
static PVMI_COLD bool resize(size_t size)
{
    struct pvmc_message **other = malloc(size * sizeof *other);
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

static bool append(struct pvmc_message *m)
{
    if (pvmi_arrivals_count == slot_count && !resize(slot_count ? 2 * slot_count : FIRST_SLOTS))
        return false;
    *slot(oldest + pvmi_arrivals_count++) = m;
    return true;
}

static void take_in(struct pvmc_message *m)
{
    if (!pvmi_handler_take(m))
        pvmi_inbox_put(m);
}

static PVMI_COLD void lose(struct pvmc_message *m)
{
    pvmi_inbox_lose((int)m->src, m->tag);
    pvmc_message_unref(m);
}

void pvmi_arrivals_put(struct pvmc_message *m)
{
    if (!pvmi_arrivals_count && (m->src == pvmi_task.tid || pvmi_inbox_is_wanted())) {
        take_in(m);
    } else if (!append(m)) {
        lose(m);
    }
}

struct pvmc_message *pvmi_arrivals_pop(void)
{
    if (!pvmi_arrivals_count)
        return NULL;
    struct pvmc_message *m = *slot(oldest++);
    if (!--pvmi_arrivals_count && slot_count > SLOTS_KEPT)
        resize(FIRST_SLOTS);
    return m;
}

PVMI_COLD bool pvmi_arrivals_remove(const struct pvmc_message *m)
{
    size_t at = 0;
    while (at < pvmi_arrivals_count && *slot(oldest + at) != m)
        at++;
    if (at == pvmi_arrivals_count)
        return false;
    for (pvmi_arrivals_count--; at < pvmi_arrivals_count; at++)
        *slot(oldest + at) = *slot(oldest + at + 1);
    return true;
}

bool pvmi_arrivals_take_in(void)
{
    struct pvmc_message *m = pvmi_arrivals_pop();
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
    struct pvmc_message *m;
    while ((m = pvmi_arrivals_pop()))
        pvmc_message_unref(m);
}

__attribute__((destructor)) static void free_all(void)
{
    pvmi_arrivals_clear();
    free(slots);
    slots = NULL;
    slot_count = oldest = 0;
}
