/* route.c - what the daemons' route costs on the network: fore_atm.h for the functions of core/clock.h. */
#include "core/error.h"
#include "atm_transport.h"

_Static_assert(PVMC_SHADOWS_MAX <= ATM_SIM_ENDS_MAX, "the network must take as many");

int pvmt_atm_route_name(const struct pvmt_atm_library *library, uint32_t task)
{
    return library->sim_task(task) ? PVMC_EDOWN : 0;
}

int pvmt_atm_route_carry(const struct pvmt_atm_library *library, const struct pvmc_shadow *to, unsigned count,
                         uint64_t bytes)
{
    struct atm_sim_end ends[PVMC_SHADOWS_MAX];
    for (unsigned i = 0; i < count; i++)
        ends[i] = (struct atm_sim_end){to[i].task, to[i].number};
    return library->sim_carry(ends, count, bytes) ? PVMC_ENOTFOUND : 0;
}

int pvmt_atm_route_under_way(const struct pvmt_atm_library *library, unsigned first,
                             struct pvmc_shadow list[PVMC_SHADOWS_MAX], bool *handing)
{
    struct atm_sim_end ends[PVMC_SHADOWS_MAX];
    int left = 0, count = library->sim_under_way(first, ends, PVMC_SHADOWS_MAX, &left);
    *handing = count >= 0 && left;
    for (int i = 0; i < count; i++)
        list[i] = (struct pvmc_shadow){ends[i].task, ends[i].number};
    return count;
}
