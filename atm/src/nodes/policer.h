/*
 * policer.h - usage parameter control: compares the cells of a VC with its contract. The measure is the Generic Cell
 * Rate Algorithm GCRA(T, tau) of ITU-T I.371, as virtual scheduling in whole picoseconds, once for the peak and once
 * for the mean:
 *
 *   peak   T = time of a cell at the peak rate         tau = the tolerance of cell delay variation
 *   mean   T = time of a cell at the mean rate         tau = (burst - 1) * (T of the mean - T of the peak) + tolerance
 *
 * A rate of 0 is not checked. PVMA_POLICE_TAG lowers a cell's loss priority (CLP 1) where PVMA_POLICE_DROP discards
 * it; but as in TM 4.0's VBR.3, cells above the peak are discarded if the contract has a mean too, and cells that were
 * tagged before do not count for the mean.
 */
#ifndef PVMA_POLICER_H
#define PVMA_POLICER_H

#include "base/contract.h"

enum pvma_police { PVMA_POLICE_NO, PVMA_POLICE_DROP, PVMA_POLICE_TAG };

struct pvma_gcra {
    pvma_ps increment, limit; /* T and tau; T 0: every cell conforms */
    pvma_ps expected;         /* theoretical arrival time of the next cell */
};

struct pvma_policer {
    enum pvma_police action;
    struct pvma_gcra peak, mean;
};

void pvma_gcra_init(struct pvma_gcra *gcra, pvma_ps increment, pvma_ps limit);

/* Whether a cell at this time conforms. Only pvma_gcra_count() changes the state. */
bool pvma_gcra_conforms(const struct pvma_gcra *gcra, pvma_ps now);

/* Counts a conforming cell. */
void pvma_gcra_count(struct pvma_gcra *gcra, pvma_ps now);

/* Sets the contract, also while cells flow: what was counted remains. */
void pvma_policer_set(struct pvma_policer *policer, enum pvma_police action, const struct pvma_bandwidth *contract,
                      pvma_ps tolerance);

/* What to do with a cell of loss priority `clp`: PVMA_POLICE_NO means that it passes unchanged. */
enum pvma_police pvma_policer_judge(struct pvma_policer *policer, pvma_ps now, bool clp);

#endif
