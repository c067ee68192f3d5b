/* outage.c - failures in time, and what routing and calls make of them. */
#include "outage.h"
#include <stdlib.h>
#include "control.h"
#include "network_parts.h"
#include "nodes/fabric.h"
#include "nodes/link_failure.h"
#include "nodes/vc_end.h"

/* Both directions of a link. */
struct span {
    struct pvma_link **links;
    unsigned failures; /* that have begun and not ended */
    struct pvma_event release;
};

struct failure {
    struct pvma_outages *outages;
    const struct pvma_topo_failure *options;
    struct pvma_event event;
    pvma_ps next; /* beginning of the next failure */
    bool began;
};

struct pvma_outages {
    struct pvma_net *net;
    struct span *spans;
    struct failure *failures;
};

static struct pvma_control *control_of(struct pvma_node *node)
{
    return node->is_host ? pvma_host_of(node)->control : pvma_switch_of(node)->control;
}

/* T309 has expired: the calls over a link end. */
static void release_calls(struct pvma_event *event)
{
    struct span *span = PVMA_OF(event, struct span, release);
    for (int i = 0; i < 2; i++)
        pvma_link_forget_signalling(span->links[i]);
    for (int i = 0; i < 2; i++)
        pvma_control_lose_link(control_of(span->links[i]->from), span->links[i]->from_port);
}

static void tell(const struct pvma_net *net)
{
    if (net->links_changed)
        net->links_changed(net->watch_arg);
}

/* Takes both directions of a link down. Links count by their place in the topology. */
static void begin(struct pvma_outages *outages, size_t link)
{
    struct span *span = &outages->spans[link];
    if (span->failures++)
        return;
    for (int i = 0; i < 2; i++)
        pvma_link_fail(span->links[i]);
    pvma_routing_update(outages->net->routing);
    pvma_sim_after(outages->net->sim, &span->release, span->links[0]->options.t309);
    tell(outages->net);
}

/* Undoes one begin(). */
static void end(struct pvma_outages *outages, size_t link)
{
    struct span *span = &outages->spans[link];
    if (--span->failures)
        return;
    for (int i = 0; i < 2; i++)
        pvma_link_restore(span->links[i]);
    pvma_routing_update(outages->net->routing);
    pvma_sim_cancel(outages->net->sim, &span->release);
    tell(outages->net);
}

static void change(struct pvma_event *event)
{
    struct failure *failure = PVMA_OF(event, struct failure, event);
    struct pvma_outages *outages = failure->outages;
    const struct pvma_topo_failure *o = failure->options;
    failure->began = !failure->began;
    if (failure->began)
        begin(outages, o->link);
    else
        end(outages, o->link);
    if (failure->began && o->duration)
        pvma_sim_at(outages->net->sim, event, failure->next + o->duration);
    else if (!failure->began && o->every)
        pvma_sim_at(outages->net->sim, event, failure->next += o->every);
}

struct pvma_outages *pvma_outages_new(struct pvma_net *net)
{
    const struct pvma_topology *t = net->topology;
    struct pvma_outages *outages = pvma_new(sizeof *outages);
    outages->net = net;
    outages->spans = pvma_new(t->link_count * sizeof *outages->spans);
    outages->failures = pvma_new(t->failure_count * sizeof *outages->failures);
    for (size_t i = 0; i < t->link_count; i++) {
        outages->spans[i] = (struct span){.links = &net->links[2 * i]};
        pvma_event_init(&outages->spans[i].release, PVMA_EVENT_OUTAGE, release_calls);
    }
    for (size_t i = 0; i < t->failure_count; i++) {
        struct failure *failure = &outages->failures[i];
        *failure = (struct failure){.outages = outages, .options = &t->failures[i], .next = t->failures[i].at};
        pvma_event_init(&failure->event, PVMA_EVENT_OUTAGE, change);
        pvma_sim_at(net->sim, &failure->event, failure->next);
    }
    return outages;
}

void pvma_outages_free(struct pvma_outages *outages)
{
    if (!outages)
        return;
    free(outages->spans);
    free(outages->failures);
    free(outages);
}
