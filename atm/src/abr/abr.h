/*
 * abr.h - an ABR source: the rate at which a VC may send now (ACR), and when its next resource-management cell is due.
 * A state machine without clock or I/O; the adapter of a host drives it.
 *
 * Of TM 4.0 it has: one forward cell, then Nrm - 1 = 31 others, and so on; the rate follows the explicit rate of each
 * cell that comes back, between MCR and PCR; ADTF: after 0.5 s without a forward cell, the rate is at most the initial
 * one. It has no part for sources that get no cell back (Trm, CRM), and raises its rate at once (RIF 1), since the
 * switches give explicit rates. A source whose rate would be 0 sends ten cells a second (TCR), or it would never learn
 * of a better one. Calls begin at their peak, so ADTF limits only PVCs that have an initial rate.
 */
#ifndef PVMA_ABR_H
#define PVMA_ABR_H

#include "rm.h"

enum { PVMA_ABR_NRM = 32 };
#define PVMA_ABR_ADTF    (500 * PVMA_MS)
#define PVMA_ABR_TCR_BPS (10 * PVMA_CELL_BITS)

struct pvma_abr {
    int64_t peak_bps, minimum_bps, initial_bps; /* PCR, MCR, ICR */
    int64_t rate_bps;                           /* ACR */
    uint32_t since_forward;                     /* cells since the last forward cell */
    pvma_ps forward_at;                         /* when it was sent */
    bool begun;
};

/* Begins at the initial rate; 0: the peak. */
void pvma_abr_init(struct pvma_abr *abr, int64_t peak_bps, int64_t minimum_bps, int64_t initial_bps);

/* Whether the next cell must be a forward one. */
bool pvma_abr_is_due(const struct pvma_abr *abr);

/* A forward cell is being sent: says what is in it. It may lower the rate. */
void pvma_abr_forward(struct pvma_abr *abr, pvma_ps now, struct pvma_rm *rm);

/* Another cell is being sent. */
void pvma_abr_count(struct pvma_abr *abr);

/* A cell has come back: follows its rate. */
void pvma_abr_follow(struct pvma_abr *abr, const struct pvma_rm *rm);

#endif
