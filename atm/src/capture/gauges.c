/* gauges.c - see gauges.h. */
#include "gauges.h"
#include <stdlib.h>

static const uint64_t *drops_out(const struct pvma_link *link)
{
    return link->from->is_host ? NULL
                               : &pvma_switch_port_counters(pvma_switch_of(link->from), link->from_port)->dropped;
}

/* Output-queued switches have no queue at their inputs. */
static bool has_input_queue(const struct pvma_link *link)
{
    return link->to->is_host || pvma_switch_options(pvma_switch_of(link->to))->model == PVMA_CROSSBAR;
}

void pvma_gauges_open(struct pvma_gauges *gauges, struct pvma_net *net)
{
    size_t links = pvma_net_link_count(net);
    *gauges = (struct pvma_gauges){.net = net, .gauge = pvma_new(2 * links * sizeof *gauges->gauge)};
    for (size_t i = 0; i < links; i++) {
        const struct pvma_link *link = pvma_net_link_at(net, i);
        struct pvma_gauge *out = &gauges->gauge[gauges->count++];
        *out = (struct pvma_gauge){.link = link, .drops = drops_out(link)};
        link->from->port[link->from_port].departing = &out->meter;
        if (!has_input_queue(link))
            continue;
        struct pvma_gauge *in = &gauges->gauge[gauges->count++];
        *in = (struct pvma_gauge){.link = link, .in = true};
        if (link->to->is_host)
            in->drops = &pvma_host_counters(pvma_host_of(link->to))->rx_fifo_drops;
        link->to->port[link->to_port].arriving = &in->meter;
    }
}

void pvma_gauges_close(struct pvma_gauges *gauges)
{
    for (size_t i = 0; i < gauges->count; i++) {
        const struct pvma_link *link = gauges->gauge[i].link;
        link->from->port[link->from_port].departing = NULL;
        link->to->port[link->to_port].arriving = NULL;
    }
    free(gauges->gauge);
    gauges->gauge = NULL;
    gauges->count = 0;
}

struct pvma_reading pvma_gauge_read(struct pvma_gauge *gauge)
{
    struct pvma_reading reading = {.area = pvma_meter_area(&gauge->meter, pvma_sim_now(gauge->link->sim)),
                                   .drops = gauge->drops ? *gauge->drops : 0,
                                   .cells = gauge->link->counters.cells,
                                   .most = gauge->meter.most};
    gauge->meter.most = gauge->meter.length;
    return reading;
}

double pvma_gauge_mean(const struct pvma_reading *from, const struct pvma_reading *to, pvma_ps span)
{
    return span ? (double)(to->area - from->area) / (double)span : 0;
}

double pvma_gauge_utilisation(const struct pvma_gauge *gauge, const struct pvma_reading *from,
                              const struct pvma_reading *to, pvma_ps span)
{
    return span ? (double)(to->cells - from->cells) * (double)gauge->link->cell_time / (double)span : 0;
}

struct pvma_gauge *pvma_gauges_find(const struct pvma_gauges *gauges, const char *link, bool in)
{
    for (size_t i = 0; i < gauges->count; i++) {
        struct pvma_gauge *g = &gauges->gauge[i];
        if (g->in == in && pvma_link_is_named(g->link, link))
            return g;
    }
    return NULL;
}
