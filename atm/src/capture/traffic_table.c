/* traffic_table.c - the statistics of flows: latencies, and their table. */
#include <inttypes.h>
#include <stdlib.h>
#include "traffic.h"

static int by_size(const void *a, const void *b)
{
    pvma_ps x = *(const pvma_ps *)a, y = *(const pvma_ps *)b;
    return (x > y) - (x < y);
}

/* The smallest latency that `percent` of them do not exceed. */
static double percentile_us(const pvma_ps *sorted, size_t count, unsigned percent)
{
    size_t rank = (count * percent + 99) / 100;
    return (double)sorted[rank ? rank - 1 : 0] / (double)PVMA_US;
}

static size_t total(struct pvma_traffic *const *flows, size_t count)
{
    size_t all = 0, of_flow;
    for (size_t i = 0; i < count; i++) {
        pvma_traffic_samples(flows[i], &of_flow);
        all += of_flow;
    }
    return all;
}

/* What is summed up over all flows. */
struct sums {
    pvma_ps *latency;
    size_t count, pairs;
    double latency_ps, jitter_ps;
    uint64_t bytes;
};

static void add_flow(const struct pvma_traffic *flow, pvma_ps from, struct sums *sums)
{
    size_t count;
    const struct pvma_sample *samples = pvma_traffic_samples(flow, &count);
    for (size_t i = 0; i < count; i++) {
        if (samples[i].at < from)
            continue;
        sums->latency[sums->count++] = samples[i].latency;
        sums->latency_ps += (double)samples[i].latency;
        sums->bytes += samples[i].bytes;
        if (!i || samples[i - 1].at < from)
            continue;
        sums->jitter_ps += (double)llabs(samples[i].latency - samples[i - 1].latency);
        sums->pairs++;
    }
}

struct pvma_latency pvma_traffic_latency(struct pvma_traffic *const *flows, size_t count, pvma_ps from)
{
    struct sums sums = {.latency = pvma_new((total(flows, count) + 1) * sizeof(pvma_ps))};
    struct pvma_latency result = {0};
    for (size_t i = 0; i < count; i++)
        add_flow(flows[i], from, &sums);
    result.pdus = sums.count;
    result.bytes = sums.bytes;
    if (sums.count) {
        qsort(sums.latency, sums.count, sizeof *sums.latency, by_size);
        result.mean_us = sums.latency_ps / (double)sums.count / (double)PVMA_US;
        result.p50_us = percentile_us(sums.latency, sums.count, 50);
        result.p95_us = percentile_us(sums.latency, sums.count, 95);
        result.p99_us = percentile_us(sums.latency, sums.count, 99);
        result.most_us = percentile_us(sums.latency, sums.count, 100);
    }
    if (sums.pairs)
        result.jitter_us = sums.jitter_ps / (double)sums.pairs / (double)PVMA_US;
    free(sums.latency);
    return result;
}

void pvma_traffic_table(struct pvma_traffic *const *flows, size_t count, pvma_ps duration, FILE *out)
{
    fprintf(out, "flow,sent,received,lost,octets,throughput_mbits,latency_mean_us,latency_p50_us,latency_p95_us,"
                 "latency_p99_us,latency_max_us,jitter_us\n");
    for (size_t i = 0; i < count; i++) {
        struct pvma_traffic_counts c = pvma_traffic_count(flows[i]);
        struct pvma_latency l = pvma_traffic_latency(&flows[i], 1, 0);
        fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n",
                pvma_traffic_name(flows[i]), c.sent, c.received, c.lost, l.bytes,
                (double)l.bytes * 8e6 / (double)duration, l.mean_us, l.p50_us, l.p95_us, l.p99_us, l.most_us,
                l.jitter_us);
    }
}
