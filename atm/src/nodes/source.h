/*
 * source.h - background traffic: cells at constant intervals (CBR), at exponential ones (Poisson), in each slot with
 * the same probability (Bernoulli), or ON-OFF: two states of exponential duration, each with intervals of a mean of its
 * own, exponential (thesis, App. B) or constant (a fluid, but for its cells).
 *
 * A source feeds VCs from its host's adapter, each cell one of them at random, or it sits in a switch: each of its
 * cells is then copied to each port with the probability `copy`, and the next node discards it.
 */
#ifndef PVMA_SOURCE_H
#define PVMA_SOURCE_H

#include "host.h"
#include "switch.h"

enum pvma_source_type { PVMA_CBR, PVMA_POISSON, PVMA_ONOFF, PVMA_BERNOULLI };

enum pvma_spacing { PVMA_SPACING_RANDOM, PVMA_SPACING_CONSTANT };

struct pvma_source_options {
    enum pvma_source_type type;
    int64_t rate_bps;          /* of 53-octet cells; ONOFF: in the state ON */
    int64_t off_rate_bps;      /* ONOFF: in the state OFF; 0: silence */
    int64_t slot_bps;          /* BERNOULLI: a slot is the time of a cell at this rate */
    int spacing;               /* ONOFF: enum pvma_spacing, of the cells in a state */
    pvma_ps on_mean, off_mean; /* ONOFF: mean durations */
    pvma_ps start, stop;       /* cells in [start, stop); stop 0: without end */
    double copy;               /* in a switch: probability of a copy for each port */
};

struct pvma_source;

/* A source that feeds ends of VCs of one host with cells of no meaning. The array is copied; count > 0. */
struct pvma_source *pvma_source_on_vcs(struct pvma_sim *sim, struct pvma_vc *const *vcs, size_t count,
                                       const struct pvma_source_options *options, const char *name);

/* A source in a switch. */
struct pvma_source *pvma_source_in_switch(struct pvma_sim *sim, struct pvma_switch *s,
                                          const struct pvma_source_options *options, const char *name);

void pvma_source_free(struct pvma_source *source);

/*
 * Leaves out the cells before `until`, a time not before now. Only for sources whose intervals have no memory, Poisson
 * and ON-OFF with random ones: what follows is as if the cells had come.
 */
void pvma_source_skip(struct pvma_source *source, pvma_ps until);

/* Cells generated so far, before copying, and the number that is usual for the time left out. */
uint64_t pvma_source_cells(const struct pvma_source *source);

/* The mean rate that follows from the options, in bit/s of cells. */
int64_t pvma_source_mean_bps(const struct pvma_source_options *options);

#endif
