/*
 * writer.h - the text formats of metrics: OpenMetrics 1.0, and the older one of Prometheus (text, version 0.0.4). They
 * differ in the names of counters and in the last line.
 */
#ifndef PVMD_METRICS_WRITER_H
#define PVMD_METRICS_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pvmd_metrics_writer {
    FILE *to;
    bool open_metrics;
};

enum pvmd_metrics_kind { PVMD_METRICS_COUNTER, PVMD_METRICS_GAUGE, PVMD_METRICS_HISTOGRAM };

/* Begins a family; its samples follow. `name` is without _total, `help` without newlines and backslashes. */
void pvmd_metrics_family(const struct pvmd_metrics_writer *w, const char *name, enum pvmd_metrics_kind kind,
                         const char *help);

/* A sample of a family. `label` may be NULL: no label; `value` may be any text. */
void pvmd_metrics_counter(const struct pvmd_metrics_writer *w, const char *name, const char *label, const char *value,
                          double count);
void pvmd_metrics_gauge(const struct pvmd_metrics_writer *w, const char *name, const char *label, const char *value,
                        double level);

/* A histogram: counts[i] observations were at most limits[i], counts[n] more than all limits. */
struct pvmd_metrics_histogram {
    const double *limits;
    const uint64_t *counts;
    unsigned n;
    double sum;
};
void pvmd_metrics_distribution(const struct pvmd_metrics_writer *w, const char *name,
                               const struct pvmd_metrics_histogram *h);

void pvmd_metrics_end(const struct pvmd_metrics_writer *w);

#endif
