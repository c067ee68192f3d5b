/* shadow.c - see shadow.h. */
#include "shadow.h"
#include <stdlib.h>

bool pvmi_shadow_handing, pvmi_shadow_due;

void pvmi_shadow_enrolled(uint32_t tid)
{
    if (pvmc_virtual_clock)
        pvmc_virtual_clock->name(tid);
}

bool pvmi_shadow_begin(const struct pvmc_shadow *to, unsigned count, uint64_t bytes)
{
    for (unsigned i = 0, n; i < count; i += n) {
        n = count - i < PVMC_SHADOWS_MAX ? count - i : PVMC_SHADOWS_MAX;
        if (!pvmc_virtual_clock->carry(to + i, n, bytes))
            pvmi_shadow_handing = pvmi_shadow_due = true;
    }
    return pvmi_shadow_handing;
}

static struct pvmc_shadow *under_way;
static size_t room;

/* Room for another part of the list. False: out of memory. */
static bool make_room(size_t count)
{
    if (count + PVMC_SHADOWS_MAX <= room)
        return true;
    struct pvmc_shadow *larger = realloc(under_way, (count + PVMC_SHADOWS_MAX) * sizeof *larger);
    if (!larger)
        return false;
    under_way = larger;
    room = count + PVMC_SHADOWS_MAX;
    return true;
}

/* Nothing else happens on the network meanwhile, so the parts fit together. */
static int ask_for_all(void)
{
    int count = 0, n;
    do {
        if (!pvmc_virtual_clock || !make_room((size_t)count))
            return -1;
        n = pvmc_virtual_clock->under_way((unsigned)count, under_way + count, &pvmi_shadow_handing);
        count += n;
    } while (n == PVMC_SHADOWS_MAX);
    return n < 0 ? -1 : count;
}

int pvmi_shadow_ask(const struct pvmc_shadow **list)
{
    int count = ask_for_all();
    pvmi_shadow_due = pvmi_shadow_handing || (count < 0 && pvmi_shadow_due && pvmc_virtual_clock);
    *list = under_way;
    return count;
}

void pvmi_shadow_clear(void)
{
    pvmi_shadow_handing = pvmi_shadow_due = false;
}
