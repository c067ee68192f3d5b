/*
 * source.h - background traffic: cells at constant intervals (CBR), at exponential ones (Poisson), or ON-OFF: two
 * states of exponential duration, each with exponential intervals of a mean of its own (thesis, App. B).
 *
 * A source feeds a VC from its host's adapter, or it sits in a switch: each of its cells is then copied to each port
 * with the probability `copy`, and the next node discards it.
 */
#ifndef PVMA_SOURCE_H
#define PVMA_SOURCE_H

#include "host.h"
#include "switch.h"

enum pvma_source_type { PVMA_CBR, PVMA_POISSON, PVMA_ONOFF };

struct pvma_source_options {
    enum pvma_source_type type;
    int64_t rate_bps;          /* of 53-octet cells; ONOFF: in the state ON */
    int64_t off_rate_bps;      /* ONOFF: in the state OFF; 0: silence */
    pvma_ps on_mean, off_mean; /* ONOFF: mean durations */
    pvma_ps start, stop;       /* cells in [start, stop); stop 0: without end */
    double copy;               /* in a switch: probability of a copy for each port */
};

struct pvma_source;

/* A source that feeds a VC's end with cells of no meaning. */
struct pvma_source *pvma_source_on_vc(struct pvma_sim *sim, struct pvma_vc *vc,
                                      const struct pvma_source_options *options, const char *name);

/* A source in a switch. */
struct pvma_source *pvma_source_in_switch(struct pvma_sim *sim, struct pvma_switch *s,
                                          const struct pvma_source_options *options, const char *name);

void pvma_source_free(struct pvma_source *source);

/* Cells generated so far, before copying. */
uint64_t pvma_source_cells(const struct pvma_source *source);

/* The mean rate that follows from the options, in bit/s of cells. */
int64_t pvma_source_mean_bps(const struct pvma_source_options *options);

#endif
