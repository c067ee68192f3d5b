/*
 * lme.h - the Latency Monitoring Engine of the thesis (section 6.1.2), at the receiving side: it compares the time at
 * which a cell came with the time stamp in it, and says when latency becomes high or low again. It has neither clock
 * nor wire. Both ends are assumed to have one time.
 *
 * The sender's periodic cells come each interval. One that has not come after T_L counts as high latency. Cells with
 * data are measured too while latency is low, but the loss of one means nothing here.
 */
#ifndef PVMA_LME_H
#define PVMA_LME_H

#include "base/sim.h"

struct pvma_lme_settings {
    pvma_ps interval;   /* between periodic cells */
    pvma_ps lost_after; /* T_L: how long after it was due a periodic cell counts as lost */
    pvma_ps high, low;  /* T_M and T_m: latency above the one is high, latency below the other is low again */
    pvma_ps expected;   /* the part of each latency that does not count; 0 in the thesis */
};

/* Table 6.2: 0.1 s, 0.1 s, 100 us, 90 us. */
struct pvma_lme_settings pvma_lme_defaults(void);

struct pvma_lme {
    struct pvma_lme_settings settings;
    bool high;        /* the mode: latency exceeded T_M, and has not been below T_m since */
    pvma_ps next;     /* when the next periodic cell is sent; PVMA_NEVER: unknown */
    pvma_ps offender; /* when the cell was sent that changed the mode last */
    pvma_ps latency;  /* the last that was measured */
    uint64_t measured, lost;
};

void pvma_lme_init(struct pvma_lme *lme, const struct pvma_lme_settings *settings);

/* A cell that was sent at `stamp` has come. True: the mode has changed. */
bool pvma_lme_measure(struct pvma_lme *lme, pvma_ps stamp, pvma_ps now);

/* A periodic cell that was sent at `stamp` has come, and was measured. `last`: no other follows it. */
void pvma_lme_expect(struct pvma_lme *lme, pvma_ps stamp, bool last);

/* When a periodic cell counts as lost, unless it comes before; PVMA_NEVER: none is expected. */
pvma_ps pvma_lme_due(const struct pvma_lme *lme);

/* To be called when pvma_lme_due() has come. True: the mode has changed. */
bool pvma_lme_expire(struct pvma_lme *lme, pvma_ps now);

#endif
