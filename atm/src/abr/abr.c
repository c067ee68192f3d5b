/* abr.c - see abr.h. */
#include "abr.h"

static int64_t between(int64_t low, int64_t value, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static void set_rate(struct pvma_abr *abr, int64_t bps)
{
    int64_t least = abr->minimum_bps > PVMA_ABR_TCR_BPS ? abr->minimum_bps : PVMA_ABR_TCR_BPS;
    abr->rate_bps = between(least, bps, abr->peak_bps > least ? abr->peak_bps : least);
}

void pvma_abr_init(struct pvma_abr *abr, int64_t peak_bps, int64_t minimum_bps, int64_t initial_bps)
{
    *abr = (struct pvma_abr){
        .peak_bps = peak_bps, .minimum_bps = minimum_bps, .initial_bps = initial_bps ? initial_bps : peak_bps};
    set_rate(abr, abr->initial_bps);
}

bool pvma_abr_is_due(const struct pvma_abr *abr)
{
    return !abr->begun || abr->since_forward >= PVMA_ABR_NRM - 1;
}

void pvma_abr_forward(struct pvma_abr *abr, pvma_ps now, struct pvma_rm *rm)
{
    if (abr->begun && now - abr->forward_at > PVMA_ABR_ADTF && abr->rate_bps > abr->initial_bps)
        set_rate(abr, abr->initial_bps);
    abr->begun = true;
    abr->since_forward = 0;
    abr->forward_at = now;
    *rm = (struct pvma_rm){.er_bps = abr->peak_bps, .current_bps = abr->rate_bps, .minimum_bps = abr->minimum_bps};
}

void pvma_abr_count(struct pvma_abr *abr)
{
    abr->since_forward++;
}

/* RDF is 1/16: a cell with CI lowers the rate by that part of it. */
void pvma_abr_follow(struct pvma_abr *abr, const struct pvma_rm *rm)
{
    enum { RDF = 16 };
    int64_t bps = rm->er_bps;
    if (rm->congested)
        bps = bps < abr->rate_bps - abr->rate_bps / RDF ? bps : abr->rate_bps - abr->rate_bps / RDF;
    else if (rm->no_increase)
        bps = bps < abr->rate_bps ? bps : abr->rate_bps;
    set_rate(abr, bps);
}
