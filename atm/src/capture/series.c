/* series.c - see series.h. */
#include "series.h"
#include <inttypes.h>
#include <stdlib.h>

struct pvma_series {
    struct pvma_gauges gauges;
    struct pvma_reading *before; /* of each gauge */
    pvma_ps at;
    FILE *out;
};

struct pvma_series *pvma_series_new(struct pvma_net *net, FILE *out)
{
    struct pvma_series *series = pvma_new(sizeof *series);
    series->out = out;
    pvma_gauges_open(&series->gauges, net);
    series->before = pvma_new(series->gauges.count * sizeof *series->before);
    fprintf(out, "time_us,link,queue,cells_mean,cells_max,drops,utilisation\n");
    return series;
}

static void write_line(struct pvma_series *series, size_t index, pvma_ps now)
{
    struct pvma_gauge *gauge = &series->gauges.gauge[index];
    struct pvma_reading *before = &series->before[index], after = pvma_gauge_read(gauge);
    pvma_ps span = now - series->at;
    fprintf(series->out, "%.6f,%s>%s,%s,%.6f,%" PRIu32 ",%" PRIu64 ",", (double)now / (double)PVMA_US,
            gauge->link->from->name, gauge->link->to->name, gauge->in ? "in" : "out",
            pvma_gauge_mean(before, &after, span), after.most, after.drops - before->drops);
    if (!gauge->in)
        fprintf(series->out, "%.6f", pvma_gauge_utilisation(gauge, before, &after, span));
    fprintf(series->out, "\n");
    *before = after;
}

void pvma_series_step(struct pvma_series *series)
{
    pvma_ps now = pvma_sim_now(pvma_net_sim(series->gauges.net));
    if (now == series->at)
        return;
    for (size_t i = 0; i < series->gauges.count; i++)
        write_line(series, i, now);
    series->at = now;
}

void pvma_series_free(struct pvma_series *series)
{
    pvma_gauges_close(&series->gauges);
    free(series->before);
    free(series);
}
