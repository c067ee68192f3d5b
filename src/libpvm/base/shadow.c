/* shadow.c - see shadow.h. */
#include "shadow.h"
#include <stddef.h>

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

int pvmi_shadow_ask(const struct pvmc_shadow **list)
{
    static struct pvmc_shadow under_way[PVMC_SHADOWS_MAX];
    int count = pvmc_virtual_clock ? pvmc_virtual_clock->under_way(under_way, &pvmi_shadow_handing) : -1;
    pvmi_shadow_due = pvmi_shadow_handing;
    *list = under_way;
    return count;
}

void pvmi_shadow_clear(void)
{
    pvmi_shadow_handing = pvmi_shadow_due = false;
}
