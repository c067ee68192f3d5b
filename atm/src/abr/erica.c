/* erica.c - see erica.h. */
#include "erica.h"
#include "cells/cell.h"

enum { INTERVAL_CELLS = 30 };

static const double target_utilisation = 0.9, overload = 1.1;

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t rate_of(uint32_t cells, pvma_ps span)
{
    return (int64_t)((double)cells * PVMA_CELL_BITS * (double)PVMA_S / (double)span);
}

void pvma_erica_init(struct pvma_erica *erica, int64_t link_bps, pvma_ps now)
{
    int64_t target = (int64_t)(target_utilisation * (double)link_bps);
    *erica = (struct pvma_erica){.link_bps = link_bps,
                                 .since = now,
                                 .interval = 1,
                                 .target_bps = target,
                                 .share_bps = target,
                                 .most_before_bps = target,
                                 .most_now_bps = target};
}

static void end_interval(struct pvma_erica *e, pvma_ps now)
{
    pvma_ps span = now > e->since ? now - e->since : 1;
    int64_t left_bps = e->link_bps - rate_of(e->guaranteed_cells, span);
    e->target_bps = larger((int64_t)(target_utilisation * (double)left_bps), PVMA_CELL_BITS);
    e->load = (double)rate_of(e->cells, span) / (double)e->target_bps;
    e->share_bps = e->target_bps / e->vcs;
    e->most_before_bps = e->most_now_bps;
    e->most_now_bps = e->share_bps;
    e->since = now;
    e->interval++;
    e->cells = e->guaranteed_cells = e->vcs = 0;
}

void pvma_erica_count(struct pvma_erica *erica, struct pvma_erica_vc *vc, pvma_ps now)
{
    erica->vcs += vc->interval != erica->interval;
    vc->interval = erica->interval;
    if (++erica->cells == INTERVAL_CELLS)
        end_interval(erica, now);
}

void pvma_erica_count_guaranteed(struct pvma_erica *erica)
{
    erica->guaranteed_cells++;
}

int64_t pvma_erica_rate(struct pvma_erica *e, const struct pvma_erica_vc *vc)
{
    int64_t current_bps = vc->current_bps;
    double by_load = e->load > 0 ? (double)current_bps / e->load : (double)e->target_bps;
    int64_t own_bps = by_load < (double)e->target_bps ? (int64_t)by_load : e->target_bps;
    int64_t rate_bps = larger(e->load > overload ? e->share_bps : e->most_before_bps, own_bps);
    e->most_now_bps = larger(e->most_now_bps, rate_bps);
    if (rate_bps > e->share_bps && current_bps < e->share_bps)
        rate_bps = e->share_bps;
    return rate_bps < e->target_bps ? rate_bps : e->target_bps;
}
