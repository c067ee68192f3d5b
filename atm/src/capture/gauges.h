/*
 * gauges.h - the queues of cells of a whole network, measured in time: one gauge for each place where cells wait. Such
 * places are the two ends of a link: `out`, before it (an output queue, a host's FIFO), and `in`, behind it (the inputs
 * of a crossbar, the FIFO of a receiving adapter).
 */
#ifndef PVMA_GAUGES_H
#define PVMA_GAUGES_H

#include "network/network.h"

struct pvma_gauge {
    const struct pvma_link *link;
    bool in;
    struct pvma_meter meter;
    const uint64_t *drops; /* cells that found this queue full; NULL: it loses none */
};

/* What a gauge shows at one time. */
struct pvma_reading {
    uint64_t area, drops, cells; /* cells * ps in the queue; cells lost, and cells sent over the link, since time 0 */
    uint32_t most;               /* longest queue since the reading before */
};

struct pvma_gauges {
    struct pvma_net *net;
    struct pvma_gauge *gauge;
    size_t count;
};

/* Begins to measure, before anything is sent. */
void pvma_gauges_open(struct pvma_gauges *gauges, struct pvma_net *net);

/* Ends before the network is freed. */
void pvma_gauges_close(struct pvma_gauges *gauges);

/* Reads a gauge now, and begins a new search for the longest queue. */
struct pvma_reading pvma_gauge_read(struct pvma_gauge *gauge);

/* The mean length, and the share of its time during which the link was busy, from one reading to a later one. */
double pvma_gauge_mean(const struct pvma_reading *from, const struct pvma_reading *to, pvma_ps span);
double pvma_gauge_utilisation(const struct pvma_gauge *gauge, const struct pvma_reading *from,
                              const struct pvma_reading *to, pvma_ps span);

/* The gauge "FROM>TO"; NULL when there is none. */
struct pvma_gauge *pvma_gauges_find(const struct pvma_gauges *gauges, const char *link, bool in);

#endif
