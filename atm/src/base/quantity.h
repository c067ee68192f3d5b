/*
 * quantity.h - figures with units, as in topologies and commands: times (12.5us, 300ms, 2s, 500ns, 10ps), rates
 * (149.76M, 155520k, oc3), counts and probabilities. All but probabilities are read exactly, without floating point.
 */
#ifndef PVMA_QUANTITY_H
#define PVMA_QUANTITY_H

#include "sim.h"

/* Each returns 0, PVMC_EFORMAT (not such a figure) or PVMC_ELIMIT (out of 0..max, or too fine). */

int pvma_time_parse(const char *text, pvma_ps max, pvma_ps *time); /* "0" needs no unit */
int pvma_count_parse(const char *text, int64_t max, int64_t *count);

/* A cell rate in bit/s > 0: a number with k, M or G (of 1000), or taxi100, 140, oc3, oc3line, an2, oc12. */
int pvma_rate_parse(const char *text, int64_t *rate_bps);

/* A probability, 0..1, also in scientific notation: 1e-6. */
int pvma_probability_parse(const char *text, double *p);

/* "12.5us": uses the largest unit in which the value is at least 1. */
void pvma_time_format(pvma_ps time, char *text, size_t size);

/* "149.76M". */
void pvma_rate_format(int64_t rate_bps, char *text, size_t size);

#endif
