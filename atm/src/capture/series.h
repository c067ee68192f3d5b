/* series.h - the queues of a network as a table of CSV: a line for each queue and step of time. */
#ifndef PVMA_SERIES_H
#define PVMA_SERIES_H

#include "gauges.h"

struct pvma_series;

/* Begins a series at time 0, and writes the heading. */
struct pvma_series *pvma_series_new(struct pvma_net *net, FILE *out);

/* Writes the lines of the time since the step before; nothing if no time has passed. Errors stay in the stream. */
void pvma_series_step(struct pvma_series *series);

/* Ends before the network is freed. */
void pvma_series_free(struct pvma_series *series);

#endif
