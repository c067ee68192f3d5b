/*
 * erica.h - explicit rates at an output of a switch: ERICA (Explicit Rate Indication for Congestion Avoidance; Jain,
 * Kalyanaraman, Goyal, Fahmy and Viswanathan, 1996). A state machine without clock or I/O.
 *
 * At the end of each interval of 30 cells:
 *
 *   target = 0.9 * (rate of the link - rate of guaranteed cells)
 *   load   = rate of the interval's other cells / target
 *   share  = target / number of VCs that sent in the interval
 *
 * A VC of rate CCR gets the larger one of `share` and CCR / load; while the load is at most 1.1, also as much as the VC
 * that got most in the interval before. So a VC below its share may rise to it, one above it keeps what others leave.
 *
 * Best-effort cells count as load, and their VCs as VCs, because they wait in the same queue and are not controlled:
 * that is how the thesis arranges its traffic ("a mixture of UBR and ABR").
 */
#ifndef PVMA_ERICA_H
#define PVMA_ERICA_H

#include "base/sim.h"

/* What an output knows of a VC. All zero: nothing yet. */
struct pvma_erica_vc {
    uint32_t interval;   /* in which it sent last */
    int64_t current_bps; /* the rate that its last forward cell told */
};

struct pvma_erica {
    int64_t link_bps;
    /* the interval now */
    pvma_ps since;
    uint32_t interval; /* its number, from 1 */
    uint32_t cells, guaranteed_cells, vcs;
    /* the interval before */
    double load;
    int64_t target_bps, share_bps;
    int64_t most_before_bps, most_now_bps; /* given to a VC in the interval before, and in this one */
};

void pvma_erica_init(struct pvma_erica *erica, int64_t link_bps, pvma_ps now);

/* A cell of a VC has arrived for the output; `guaranteed` cells are of no VC of interest. */
void pvma_erica_count(struct pvma_erica *erica, struct pvma_erica_vc *vc, pvma_ps now);
void pvma_erica_count_guaranteed(struct pvma_erica *erica);

/* The rate for a VC now. Its own rate and the load must be of the same time, so a cell that comes back is told the rate
 * when it passes, not when it was on its way there and waited. */
int64_t pvma_erica_rate(struct pvma_erica *erica, const struct pvma_erica_vc *vc);

#endif
