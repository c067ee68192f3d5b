/* policer.c - the Generic Cell Rate Algorithm, for the peak and the mean of a contract. */
#include "policer.h"
#include "link.h"

void pvma_gcra_init(struct pvma_gcra *gcra, pvma_ps increment, pvma_ps limit)
{
    gcra->increment = increment;
    gcra->limit = limit;
}

bool pvma_gcra_conforms(const struct pvma_gcra *gcra, pvma_ps now)
{
    return !gcra->increment || now >= gcra->expected - gcra->limit;
}

void pvma_gcra_count(struct pvma_gcra *gcra, pvma_ps now)
{
    gcra->expected = (now > gcra->expected ? now : gcra->expected) + gcra->increment;
}

static pvma_ps cell_time(int64_t rate_bps)
{
    return rate_bps ? pvma_link_cell_time(rate_bps) : 0;
}

void pvma_policer_set(struct pvma_policer *policer, enum pvma_police action, const struct pvma_bandwidth *contract,
                      pvma_ps tolerance)
{
    pvma_ps peak = cell_time(contract->peak_bps), mean = cell_time(contract->mean_bps);
    int64_t more = contract->burst_cells > 1 ? contract->burst_cells - 1 : 0;
    policer->action = action;
    pvma_gcra_init(&policer->peak, peak, tolerance);
    pvma_gcra_init(&policer->mean, mean, (mean > peak ? more * (mean - peak) : 0) + tolerance);
}

enum pvma_police pvma_policer_judge(struct pvma_policer *policer, pvma_ps now, bool clp)
{
    bool tags = policer->action == PVMA_POLICE_TAG, above_peak = !pvma_gcra_conforms(&policer->peak, now);
    bool has_mean = policer->mean.increment;
    if (above_peak)
        return tags && !has_mean ? PVMA_POLICE_TAG : PVMA_POLICE_DROP;
    bool counts = !tags || !clp, above_mean = counts && !pvma_gcra_conforms(&policer->mean, now);
    if (above_mean && !tags)
        return PVMA_POLICE_DROP;
    pvma_gcra_count(&policer->peak, now);
    if (counts && !above_mean)
        pvma_gcra_count(&policer->mean, now);
    return above_mean ? PVMA_POLICE_TAG : PVMA_POLICE_NO;
}
