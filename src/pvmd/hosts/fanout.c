/* fanout.c - see fanout.h. */
#include "fanout.h"
#include "core/config.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/net/link.h"

static unsigned last_asked; /* members take turns */

static bool has_room(const struct pvmd_host *h)
{
    return h->launches < pvmc_config_integer(PVMC_SETTING_LAUNCH_FANOUT);
}

bool pvmd_fanout_is_free_here(void)
{
    return has_room(pvmd_host_self());
}

static bool can_help(const struct pvmd_host *h)
{
    return h && h != pvmd_host_self() && h->state == PVMD_HOST_UP && !h->draining && !h->launch_suspect &&
           pvmd_link_state(h) == PVMD_LINK_UP && has_room(h);
}

unsigned pvmd_fanout_member(void)
{
    if (!pvmc_config_bool(PVMC_SETTING_LAUNCH_TREE))
        return 0;
    for (unsigned i = 0; i < PVMC_HOST_INDEX_MAX; i++) {
        unsigned index = (last_asked + i) % PVMC_HOST_INDEX_MAX + 1;
        if (can_help(pvmd_host_any(index))) {
            last_asked = index;
            return index;
        }
    }
    return 0;
}

void pvmd_fanout_begin(unsigned index)
{
    struct pvmd_host *h = pvmd_host_any(index);
    if (h)
        h->launches++;
}

/* The member may have left meanwhile. */
void pvmd_fanout_end(unsigned index)
{
    struct pvmd_host *h = pvmd_host_any(index);
    if (h && h->launches)
        h->launches--;
}

void pvmd_fanout_suspect(unsigned index)
{
    struct pvmd_host *h = pvmd_host_any(index);
    if (h)
        h->launch_suspect = true;
}

void pvmd_fanout_clear(unsigned index)
{
    struct pvmd_host *h = pvmd_host_any(index);
    if (h)
        h->launch_suspect = false;
}

void pvmd_fanout_clear_all(void)
{
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++)
        pvmd_fanout_clear(i);
}
