/* layout.c - see layout.h. */
#include <stdio.h>
#include <stdlib.h>
#include "layout.h"

enum { TIMELESS = 1000 };

static unsigned speed = 1;

void layout_without_network(void)
{
    speed = TIMELESS;
}

unsigned layout_speed(void)
{
    return speed;
}

struct pvma_profile layout_profile(const char *name)
{
    struct pvma_profile p = {.name = (char *)name, .about = "of an experiment"};

#define X(cost_name, unit, initial, help) p.cost[PVMA_COST_##cost_name] = initial;
    PVMA_COSTS(X)
#undef X
    return p;
}

void layout_cost(struct pvma_profile *profile, enum pvma_cost cost, double us)
{
    profile->cost[cost] = (int64_t)(us * (double)PVMA_US + 0.5);
}

struct pvma_switch_options layout_output_queued(unsigned ports, pvma_ps latency)
{
    return (struct pvma_switch_options){
        .model = PVMA_OUTPUT_QUEUED, .ports = ports, .latency = latency, .buffer = PVMA_BUFFER_INFINITE};
}

void layout_begin(struct pvma_topology *t, const char *name)
{
    *t = (struct pvma_topology){.name = (char *)name};
}

void layout_free(struct pvma_topology *t)
{
    free(t->nodes);
    free(t->links);
    free(t->sources);
}

static struct pvma_topo_node *add_node(struct pvma_topology *t, const char *name)
{
    struct pvma_topo_node *node;

    t->nodes = pvma_renew(t->nodes, (t->node_count + 1) * sizeof *t->nodes);
    node = &t->nodes[t->node_count++];
    *node = (struct pvma_topo_node){0};
    snprintf(node->name, sizeof node->name, "%s", name);
    return node;
}

unsigned layout_host(struct pvma_topology *t, const char *name, const struct pvma_profile *profile)
{
    struct pvma_topo_node *node = add_node(t, name);

    node->is_host = true;
    node->profile = profile;
    return (unsigned)t->node_count - 1;
}

unsigned layout_hosts(struct pvma_topology *t, unsigned count, const struct pvma_profile *profile)
{
    unsigned first = (unsigned)t->node_count;
    char name[16];

    for (unsigned i = 1; i <= count; i++) {
        snprintf(name, sizeof name, "h%u", i);
        layout_host(t, name, profile);
    }
    return first;
}

unsigned layout_switch(struct pvma_topology *t, const char *name, const struct pvma_switch_options *options)
{
    struct pvma_switch_options *sw = &add_node(t, name)->sw;

    *sw = *options;
    sw->latency /= speed;
    return (unsigned)t->node_count - 1;
}

void layout_link(struct pvma_topology *t, unsigned a, unsigned b, int64_t rate_bps, pvma_ps propagation)
{
    t->links = pvma_renew(t->links, (t->link_count + 1) * sizeof *t->links);
    t->links[t->link_count++] =
        (struct pvma_topo_link){.a = a,
                                .b = b,
                                .a_port = t->nodes[a].links++,
                                .b_port = t->nodes[b].links++,
                                .options = {.rate_bps = rate_bps * speed, .propagation = propagation / speed}};
}

void layout_star(struct pvma_topology *t, const char *name, unsigned count, const struct pvma_profile *profile,
                 const struct pvma_switch_options *options, int64_t rate_bps, pvma_ps propagation)
{
    unsigned host, at;

    layout_begin(t, name);
    host = layout_hosts(t, count, profile);
    at = layout_switch(t, "s1", options);
    for (unsigned i = 0; i < count; i++)
        layout_link(t, host + i, at, rate_bps, propagation);
}

void layout_source(struct pvma_topology *t, const char *name, unsigned at_switch,
                   const struct pvma_source_options *options)
{
    struct pvma_topo_source *source;

    if (speed != 1)
        return;
    t->sources = pvma_renew(t->sources, (t->source_count + 1) * sizeof *t->sources);
    source = &t->sources[t->source_count++];
    *source = (struct pvma_topo_source){.in_switch = true, .from = at_switch, .options = *options};
    snprintf(source->name, sizeof source->name, "%s", name);
}
