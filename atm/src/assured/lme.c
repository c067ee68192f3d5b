/* lme.c - see lme.h. */
#include "lme.h"

struct pvma_lme_settings pvma_lme_defaults(void)
{
    return (struct pvma_lme_settings){
        .interval = 100 * PVMA_MS, .lost_after = 100 * PVMA_MS, .high = 100 * PVMA_US, .low = 90 * PVMA_US};
}

void pvma_lme_init(struct pvma_lme *lme, const struct pvma_lme_settings *settings)
{
    *lme = (struct pvma_lme){.settings = *settings, .next = PVMA_NEVER};
}

static bool change(struct pvma_lme *lme, pvma_ps offender)
{
    lme->high = !lme->high;
    lme->offender = offender;
    return true;
}

bool pvma_lme_measure(struct pvma_lme *lme, pvma_ps stamp, pvma_ps now)
{
    lme->latency = now - stamp - lme->settings.expected;
    lme->measured++;
    bool crossed = lme->high ? lme->latency < lme->settings.low : lme->latency > lme->settings.high;
    return crossed && change(lme, stamp);
}

void pvma_lme_expect(struct pvma_lme *lme, pvma_ps stamp, bool last)
{
    lme->next = last ? PVMA_NEVER : stamp + lme->settings.interval;
}

pvma_ps pvma_lme_due(const struct pvma_lme *lme)
{
    return lme->next == PVMA_NEVER ? PVMA_NEVER : lme->next + lme->settings.lost_after;
}

/* Only a cell that comes lets it expect another, so silence ends in silence. */
bool pvma_lme_expire(struct pvma_lme *lme, pvma_ps now)
{
    if (now < pvma_lme_due(lme))
        return false;
    pvma_ps sent = lme->next;
    lme->next = PVMA_NEVER;
    lme->lost++;
    return !lme->high && change(lme, sent);
}
