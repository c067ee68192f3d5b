/* measure.c - see measure.h. */
#include "measure.h"
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "statistics.h"

enum measure {
    THROUGHPUT,
    LATENCY,
    LATENCY_P50,
    LATENCY_P95,
    LATENCY_P99,
    LATENCY_MAX,
    JITTER,
    LOSS,
    PDUS,
    QUEUE, /* from here on: of a queue */
    QUEUE_MAX,
    DROPS,
    UTILISATION,
    QUEUE_IN,
    QUEUE_IN_MAX,
    DROPS_IN,
    MEASURES
};

static const struct {
    const char *name, *unit;
} measures[] = {
    [THROUGHPUT] = {"throughput", "Mbit/s"},
    [LATENCY] = {"latency", "us"},
    [LATENCY_P50] = {"latency-p50", "us"},
    [LATENCY_P95] = {"latency-p95", "us"},
    [LATENCY_P99] = {"latency-p99", "us"},
    [LATENCY_MAX] = {"latency-max", "us"},
    [JITTER] = {"jitter", "us"},
    [LOSS] = {"loss", ""},
    [PDUS] = {"pdus", ""},
    [QUEUE] = {"queue", "cells"},
    [QUEUE_MAX] = {"queue-max", "cells"},
    [DROPS] = {"drops", "cells"},
    [UTILISATION] = {"utilisation", ""},
    [QUEUE_IN] = {"queue-in", "cells"},
    [QUEUE_IN_MAX] = {"queue-in-max", "cells"},
    [DROPS_IN] = {"drops-in", "cells"},
};

/* Of "NAME" or "NAME@FLOW" or "NAME@LINK"; MEASURES: there is none. */
static enum measure measure_of(const char *column)
{
    size_t length = strcspn(column, "@");
    enum measure m = 0;
    while (m < MEASURES && (strlen(measures[m].name) != length || memcmp(measures[m].name, column, length) != 0))
        m++;
    return m >= QUEUE && !column[length] ? MEASURES : m;
}

static const char *place_of(const char *column)
{
    const char *at = strchr(column, '@');
    return at ? at + 1 : NULL;
}

const char *sweep_measure_unit(const char *column)
{
    enum measure m = measure_of(column);
    return m == MEASURES ? NULL : measures[m].unit;
}

const char *sweep_measure_names(void)
{
    static char names[400];
    size_t used = 0;
    for (enum measure m = 0; m < MEASURES && used < sizeof names; m++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s%s", m ? ", " : "", measures[m].name,
                                 m >= QUEUE ? "@LINK" : "");
    return names;
}

/* ---- queues ---- */

static bool flow_is_named(const struct sweep_record *record, size_t flow, const char *place)
{
    return !place || !strcmp(pvma_traffic_name(record->flows[flow]), place);
}

/* Finds the queue or the flows of a column. */
static bool find_place(struct sweep_record *record, size_t column)
{
    const struct sweep_column *c = &record->experiment->columns[column];
    const char *place = place_of(c->name);
    enum measure m = measure_of(c->name);
    bool of_queue = m >= QUEUE;
    if (of_queue)
        record->gauge[column] = pvma_gauges_find(&record->gauges, place, m >= QUEUE_IN);
    bool found = record->gauge[column];
    for (size_t i = 0; i < record->flow_count && !of_queue; i++)
        found = found || flow_is_named(record, i, place);
    if (!found && !of_queue && !record->flow_count)
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: %s: the topology has no PVC; add to it: pvc FROM TO", record->experiment->path,
                 c->line, c->name);
    else if (!found)
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: %s: there is no such %s; write %s@FROM>TO", record->experiment->path, c->line,
                 c->name, of_queue ? "queue at a link" : "PVC", measures[m].name);
    return found;
}

bool sweep_record_begin(struct sweep_record *record)
{
    bool good = true;
    pvma_gauges_open(&record->gauges, record->net);
    for (size_t i = 0; i < record->experiment->column_count && good; i++) {
        good = find_place(record, i);
        if (record->gauge[i])
            record->readings[i] = pvma_new((SWEEP_INTERVALS + 1) * sizeof *record->readings[i]);
    }
    return good;
}

void sweep_record_read(struct sweep_record *record, unsigned interval)
{
    for (size_t i = 0; i < record->experiment->column_count; i++) {
        struct pvma_gauge *gauge = record->gauge[i];
        if (!gauge)
            continue;
        uint32_t most = gauge->meter.most;
        record->readings[i][interval] = pvma_gauge_read(gauge);
        gauge->meter.most = most; /* for other columns of this queue */
    }
    for (size_t i = 0; i < record->gauges.count; i++)
        record->gauges.gauge[i].meter.most = record->gauges.gauge[i].meter.length;
}

static double queue_value(const struct sweep_record *record, size_t column, unsigned first, unsigned last)
{
    const struct pvma_reading *readings = record->readings[column], *from = &readings[first], *to = &readings[last];
    pvma_ps span = record->time / SWEEP_INTERVALS * (last - first);
    uint32_t most = 0;
    switch (measure_of(record->experiment->columns[column].name)) {
    case QUEUE_MAX:
    case QUEUE_IN_MAX:
        for (unsigned i = first + 1; i <= last; i++)
            most = readings[i].most > most ? readings[i].most : most;
        return most;
    case DROPS:
    case DROPS_IN:
        return (double)(to->drops - from->drops);
    case UTILISATION:
        return pvma_gauge_utilisation(record->gauge[column], from, to, span);
    default:
        return pvma_gauge_mean(from, to, span);
    }
}

/* ---- PDUs ---- */

/* The flows of a column, in a new array. */
static struct pvma_traffic **flows_of(const struct sweep_record *record, size_t column, size_t *count)
{
    struct pvma_traffic **flows = pvma_new((record->flow_count + 1) * sizeof(struct pvma_traffic *));
    const char *place = place_of(record->experiment->columns[column].name);
    *count = 0;
    for (size_t i = 0; i < record->flow_count; i++)
        if (flow_is_named(record, i, place))
            flows[(*count)++] = record->flows[i];
    return flows;
}

/* The share of the PDUs that are missing between the first and the last that arrived. */
static double loss_of(struct pvma_traffic *const *flows, size_t count, pvma_ps from)
{
    double sent = 0, received = 0;
    for (size_t i = 0; i < count; i++) {
        size_t samples, first = 0;
        const struct pvma_sample *s = pvma_traffic_samples(flows[i], &samples);
        while (first < samples && s[first].at < from)
            first++;
        if (first == samples)
            continue;
        received += (double)(samples - first);
        sent += (double)(s[samples - 1].number - s[first].number + 1);
    }
    return sent > 0 ? 1 - received / sent : 0;
}

static double pdu_value(enum measure m, const struct pvma_latency *l, pvma_ps span)
{
    switch (m) {
    case THROUGHPUT:
        return span ? (double)l->bytes * 8e6 / (double)span : 0;
    case LATENCY:
        return l->mean_us;
    case LATENCY_P50:
        return l->p50_us;
    case LATENCY_P95:
        return l->p95_us;
    case LATENCY_P99:
        return l->p99_us;
    case LATENCY_MAX:
        return l->most_us;
    case JITTER:
        return l->jitter_us;
    default:
        return (double)l->pdus;
    }
}

bool sweep_record_result(const struct sweep_record *record, size_t column, pvma_ps from, double *result)
{
    const struct sweep_column *c = &record->experiment->columns[column];
    enum measure m = measure_of(c->name);
    size_t count;
    if (record->readings[column]) {
        pvma_ps step = record->time / SWEEP_INTERVALS;
        *result = queue_value(record, column, (unsigned)((from + step - 1) / step), SWEEP_INTERVALS);
        return true;
    }
    struct pvma_traffic **flows = flows_of(record, column, &count);
    struct pvma_latency l = pvma_traffic_latency(flows, count, from);
    *result = m == LOSS ? loss_of(flows, count, from) : pdu_value(m, &l, record->time - from);
    free(flows);
    if (!l.pdus && m != THROUGHPUT && m != PDUS)
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: %s: no PDU has arrived; run for a longer time", record->experiment->path,
                 c->line, c->name);
    return l.pdus || m == THROUGHPUT || m == PDUS;
}

/* ---- warm-up ---- */

static int by_arrival(const void *a, const void *b)
{
    const struct pvma_sample *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->latency > y->latency) - (x->latency < y->latency);
}

/* All samples of a column's flows, in the order of their arrival, in a new array. */
static struct pvma_sample *merge(const struct sweep_record *record, size_t column, size_t *total)
{
    size_t count, samples;
    struct pvma_traffic **flows = flows_of(record, column, &count);
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        pvma_traffic_samples(flows[i], &samples);
        *total += samples;
    }
    struct pvma_sample *all = pvma_new((*total + 1) * sizeof *all);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pvma_sample *of_flow = pvma_traffic_samples(flows[i], &samples);
        if (samples)
            memcpy(all + used, of_flow, samples * sizeof *all);
        used += samples;
    }
    free(flows);
    qsort(all, *total, sizeof *all, by_arrival);
    return all;
}

/* The latencies of the PDUs themselves. */
static pvma_ps warmup_by_pdus(const struct sweep_record *record)
{
    size_t total;
    struct pvma_sample *all = merge(record, 0, &total);
    double *values = pvma_new((total + 1) * sizeof *values);
    for (size_t i = 0; i < total; i++)
        values[i] = (double)all[i].latency;
    size_t out = sweep_mser5(values, total);
    pvma_ps end = out == SWEEP_SHORT ? PVMA_NEVER : out ? all[out].at : 0;
    free(values);
    free(all);
    return end;
}

/* Octets that arrived in each interval, or what its queue shows. */
static pvma_ps warmup_by_intervals(const struct sweep_record *record)
{
    double values[SWEEP_INTERVALS] = {0};
    pvma_ps step = record->time / SWEEP_INTERVALS;
    size_t total = 0;
    struct pvma_sample *all = record->gauge[0] ? NULL : merge(record, 0, &total);
    for (size_t i = 0; i < total; i++)
        if (all[i].at / step < SWEEP_INTERVALS)
            values[all[i].at / step] += (double)all[i].bytes;
    for (unsigned i = 0; i < SWEEP_INTERVALS && record->gauge[0]; i++)
        values[i] = queue_value(record, 0, i, i + 1);
    free(all);
    size_t out = sweep_mser5(values, SWEEP_INTERVALS);
    return out == SWEEP_SHORT ? PVMA_NEVER : (pvma_ps)out * step;
}

pvma_ps sweep_record_warmup(const struct sweep_record *record)
{
    const struct sweep_column *first = &record->experiment->columns[0];
    enum measure m = measure_of(first->name);
    bool by_pdus = m != THROUGHPUT && m != PDUS && m < QUEUE;
    return by_pdus ? warmup_by_pdus(record) : warmup_by_intervals(record);
}

void sweep_record_end(struct sweep_record *record)
{
    pvma_gauges_close(&record->gauges);
    for (size_t i = 0; i < record->experiment->column_count; i++)
        free(record->readings[i]);
}
