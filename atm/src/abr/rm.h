/*
 * rm.h - resource-management cells of ABR (ATM Forum, Traffic Management 4.0, section 5.10.3): a source sends one
 * forward after each so many cells, switches lower its explicit rate, and the destination turns it round.
 *
 * Rates are bit/s of 53-octet cells. In the cell they are cells per second in a floating format of nine bits of
 * mantissa, rounded up, so a rate that is read exceeds the one written by at most 0.2 %.
 */
#ifndef PVMA_RM_H
#define PVMA_RM_H

#include "cells/cell.h"

#define PVMA_PTI_RM 6 /* payload type of a resource-management cell of a VC */

struct pvma_rm {
    bool backward;       /* on its way back to the source */
    bool congested;      /* CI: the source must lower its rate */
    bool no_increase;    /* NI */
    int64_t er_bps;      /* explicit rate: what the source may send */
    int64_t current_bps; /* CCR: what the source sends */
    int64_t minimum_bps; /* MCR */
};

static inline bool pvma_cell_is_rm(const struct pvma_cell *cell)
{
    return cell->pti == PVMA_PTI_RM;
}

/* Sets a cell's payload type and payload; its identifiers are the caller's. */
void pvma_rm_write(const struct pvma_rm *rm, struct pvma_cell *cell);

/* Reads a resource-management cell; false when it is another protocol's, or damaged. */
bool pvma_rm_read(struct pvma_rm *rm, const struct pvma_cell *cell);

#endif
