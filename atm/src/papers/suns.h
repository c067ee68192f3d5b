/*
 * suns.h - the Sun workstations of the four-APIs paper: costs computed and fitted from its rows of t_0 and r_max, anew
 * in each run.
 */
#ifndef PVMA_SUNS_H
#define PVMA_SUNS_H

#include "lab/lab.h"
#include "report/report.h"

enum suns_layout { SUNS_SWITCH, SUNS_DIRECT };

struct suns {
    const struct report *report;                                     /* its paper's values and parameters */
    struct pvma_profile aal5, aal34, sparc1_100, sparc1_200, sparc2; /* Fore API */
    struct pvma_profile adapter;                                     /* under IP: the station is charged all costs */
    struct pvma_host_costs costs;                                    /* Sun 4/690, ATM */
    double driver_us[3];                                             /* fixed, of both sides, by enum lab_network */
    unsigned long long events;
};

/* Fits all costs. */
void suns_fit(struct suns *suns, const struct report *report);

/* Fits only the costs of the Fore API's rows. */
void suns_fit_fore(struct suns *suns, const struct report *report);

/* A topology of `hosts` hosts with that profile; release it with layout_free(). */
void suns_network(struct pvma_topology *t, enum suns_layout layout, unsigned hosts, const struct pvma_profile *profile);

/* A setup of Sun 4/690 on that network, with SunOS's TCP and the paper's PVM. */
struct lab_setup suns_setup(const struct suns *suns, enum lab_network network, unsigned hosts,
                            struct pvma_topology *topology);

/* The costs on a processor that takes `factor` times as long. */
struct pvma_host_costs suns_scaled(const struct pvma_host_costs *costs, double factor);

#endif
