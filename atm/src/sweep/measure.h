/* measure.h - what a load is measured by: its PDUs, and the queues of its network. */
#ifndef SWEEP_MEASURE_H
#define SWEEP_MEASURE_H

#include "capture/gauges.h"
#include "capture/traffic.h"
#include "experiment.h"

enum { SWEEP_INTERVALS = 1000 }; /* of a run, in which queues are read: 200 batches of MSER-5 */

/* A running load. */
struct sweep_record {
    const struct sweep_experiment *experiment;
    struct pvma_net *net;
    struct pvma_traffic **flows;
    size_t flow_count;
    struct pvma_gauges gauges;
    pvma_ps time;
    struct pvma_gauge *gauge[SWEEP_COLUMNS_MAX];      /* of a column's queue; NULL: of PDUs */
    struct pvma_reading *readings[SWEEP_COLUMNS_MAX]; /* of that gauge, SWEEP_INTERVALS + 1 */
};

/* The unit of a measure, NULL if there is none of this name; all of them, for messages. */
const char *sweep_measure_unit(const char *column);
const char *sweep_measure_names(void);

/* Finds the queues that the columns name. False after a message. */
bool sweep_record_begin(struct sweep_record *record);

/* Reads the queues at the end of an interval; 0: at the beginning. */
void sweep_record_read(struct sweep_record *record, unsigned interval);

/* When the warm-up ends, by MSER-5 on the first column; PVMA_NEVER: the run is too short. */
pvma_ps sweep_record_warmup(const struct sweep_record *record);

/* A column's result, from a time on. False after a message: there is none. */
bool sweep_record_result(const struct sweep_record *record, size_t column, pvma_ps from, double *result);

void sweep_record_end(struct sweep_record *record);

#endif
