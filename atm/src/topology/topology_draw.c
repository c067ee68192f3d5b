/* topology_draw.c - a topology as a Graphviz graph and as a list with all defaults. */
#include "base/quantity.h"
#include "topology.h"

static const char *model_name(const struct pvma_switch_options *sw)
{
    return sw->model == PVMA_CROSSBAR ? "crossbar" : "output queues";
}

static void dot_node(const struct pvma_topo_node *node, FILE *out)
{
    if (node->is_host)
        fprintf(out, "  \"%s\" [shape=box, label=\"%s\\n%s\"];\n", node->name, node->name, node->profile->name);
    else
        fprintf(out, "  \"%s\" [shape=doublecircle, label=\"%s\\n%s\\n%u ports\"];\n", node->name, node->name,
                model_name(&node->sw), node->sw.ports);
}

static void dot_link(const struct pvma_topology *t, const struct pvma_topo_link *link, FILE *out)
{
    char rate[32], delay[32];
    pvma_rate_format(link->options.rate_bps, rate, sizeof rate);
    pvma_time_format(link->options.propagation, delay, sizeof delay);
    fprintf(out, "  \"%s\" -- \"%s\" [label=\"%sbit/s", t->nodes[link->a].name, t->nodes[link->b].name, rate);
    if (link->options.propagation)
        fprintf(out, "\\n%s", delay);
    if (link->options.cell_loss > 0)
        fprintf(out, "\\nloss %g", link->options.cell_loss);
    if (link->options.bit_error_rate > 0)
        fprintf(out, "\\nber %g", link->options.bit_error_rate);
    fprintf(out, "\"];\n");
}

/* Each server as a process beside its host, with its VCs to other servers and to its stations. */
static void dot_overlay(const struct pvma_topology *t, FILE *out)
{
    static const char *const ring = "[style=bold, color=blue]", *const spoke = "[style=dashed, color=blue]";
    unsigned count = (unsigned)t->server_count;
    for (unsigned i = 0; i < count; i++) {
        fprintf(out, "  \"server %s\" [shape=component, color=blue, label=\"%s\"];\n", t->servers[i].name,
                t->servers[i].name);
        fprintf(out, "  \"server %s\" -- \"%s\" [style=dotted];\n", t->servers[i].name,
                t->nodes[t->servers[i].host].name);
        unsigned other = t->overlay.shape == PVMA_TREE ? pvma_tree_parent(&t->overlay, i) : (i + 1) % count;
        bool twice = t->overlay.shape == PVMA_RING && count == 2 && i;
        if (other != i && !twice)
            fprintf(out, "  \"server %s\" -- \"server %s\" %s;\n", t->servers[other].name, t->servers[i].name, ring);
    }
    for (size_t i = 0; i < t->node_count; i++)
        if (t->nodes[i].is_station)
            fprintf(out, "  \"server %s\" -- \"%s\" %s;\n", t->servers[t->nodes[i].server - 1].name, t->nodes[i].name,
                    spoke);
}

void pvma_topology_dot(const struct pvma_topology *t, FILE *out)
{
    fprintf(out, "graph atm {\n  node [fontname=\"sans\"]; edge [fontname=\"sans\", fontsize=10];\n");
    for (size_t i = 0; i < t->node_count; i++)
        dot_node(&t->nodes[i], out);
    for (size_t i = 0; i < t->link_count; i++)
        dot_link(t, &t->links[i], out);
    for (size_t i = 0; i < t->pvc_count; i++)
        fprintf(out, "  \"%s\" -- \"%s\" [style=dashed, dir=%s, constraint=false, label=\"%s\"];\n",
                t->nodes[t->pvcs[i].from].name, t->nodes[t->pvcs[i].to].name,
                t->pvcs[i].contract.flow == PVMA_DUPLEX ? "both" : "forward", pvma_aal_name(t->pvcs[i].contract.aal));
    for (size_t i = 0; i < t->source_count; i++) {
        const struct pvma_topo_source *s = &t->sources[i];
        fprintf(out, "  \"source %s\" [shape=cds];\n  \"source %s\" -- \"%s\" [style=dotted, dir=forward];\n", s->name,
                s->name, t->nodes[s->from].name);
    }
    dot_overlay(t, out);
    fprintf(out, "}\n");
}

/* ---- the list ---- */

static void list_host(const struct pvma_topo_node *node, FILE *out)
{
    fprintf(out, "host %s profile=%s adapters=%u", node->name, node->profile->name, node->adapters);
    if (node->vcis)
        fprintf(out, " vcis=%u", node->vcis);
    fprintf(out, "\n");
}

static void list_switch(const struct pvma_topo_node *node, FILE *out)
{
    static const char *const buffers[] = {"infinite", "", "count:"}, *const police[] = {"no", "drop", "tag"};
    const struct pvma_switch_options *sw = &node->sw;
    char latency[32], signal[32], fabric[32], cdvt[32], cells[16];
    pvma_time_format(sw->latency, latency, sizeof latency);
    pvma_time_format(sw->signal, signal, sizeof signal);
    pvma_time_format(sw->cdvt, cdvt, sizeof cdvt);
    pvma_rate_format(sw->fabric_bps, fabric, sizeof fabric);
    snprintf(cells, sizeof cells, "%u", sw->buffer_cells);
    fprintf(out, "switch %s model=%s ports=%u latency=%s buffer=%s%s", node->name,
            sw->model == PVMA_CROSSBAR ? "an2" : "output", sw->ports, latency, buffers[sw->buffer],
            sw->buffer == PVMA_BUFFER_INFINITE ? "" : cells);
    if (sw->fabric_bps)
        fprintf(out, " fabric=%s", fabric);
    if (sw->model == PVMA_CROSSBAR)
        fprintf(out, " credits=%u iterations=%u matching=%s speedup=%u outputs=%u inputs=%s", sw->credits,
                sw->iterations, sw->matching == PVMA_MATCHING_FAIR ? "fair" : "random", sw->speedup, sw->output_cells,
                sw->inputs == PVMA_INPUTS_FIFO ? "fifo" : "vc");
    else
        fprintf(out, " clp=%u epd=%u ppd=%s", sw->clp_cells, sw->epd_cells, sw->ppd ? "yes" : "no");
    fprintf(out, " police=%s cdvt=%s signal=%s\n", police[sw->police], cdvt, signal);
}

static void list_link(const struct pvma_topology *t, const struct pvma_topo_link *link, FILE *out)
{
    char rate[32], delay[32], t309[32];
    pvma_rate_format(link->options.rate_bps, rate, sizeof rate);
    pvma_time_format(link->options.propagation, delay, sizeof delay);
    pvma_time_format(link->options.t309, t309, sizeof t309);
    fprintf(out, "link %s %s rate=%s delay=%s loss=%g ber=%g t309=%s\n", t->nodes[link->a].name, t->nodes[link->b].name,
            rate, delay, link->options.cell_loss, link->options.bit_error_rate, t309);
}

/* Number of a link among those between its two nodes, from 1. */
static unsigned number_of_link(const struct pvma_topology *t, unsigned index)
{
    const struct pvma_topo_link *link = &t->links[index];
    unsigned number = 1;
    for (unsigned i = 0; i < index; i++)
        number += pvma_topo_link_joins(&t->links[i], link->a, link->b);
    return number;
}

static void list_failure(const struct pvma_topology *t, const struct pvma_topo_failure *f, FILE *out)
{
    const struct pvma_topo_link *link = &t->links[f->link];
    char at[32], duration[32], every[32];
    pvma_time_format(f->at, at, sizeof at);
    pvma_time_format(f->duration, duration, sizeof duration);
    pvma_time_format(f->every, every, sizeof every);
    fprintf(out, "fail %s %s link=%u at=%s for=%s every=%s\n", t->nodes[link->a].name, t->nodes[link->b].name,
            number_of_link(t, f->link), at, duration, every);
}

static void list_bandwidth(const struct pvma_contract *c, FILE *out)
{
    const struct pvma_bandwidth *b = &c->wanted;
    char rate[32];
    if (b->peak_bps) {
        pvma_rate_format(b->peak_bps, rate, sizeof rate);
        fprintf(out, " peak=%s", rate);
    }
    if (b->mean_bps) {
        pvma_rate_format(b->mean_bps, rate, sizeof rate);
        fprintf(out, c->service == PVMA_ABR ? " mcr=%s" : " mean=%s", rate);
    }
    if (c->initial_bps) {
        pvma_rate_format(c->initial_bps, rate, sizeof rate);
        fprintf(out, " icr=%s", rate);
    }
    if (b->burst_cells)
        fprintf(out, " burst=%d", b->burst_cells);
}

static void list_pvc(const struct pvma_topology *t, const struct pvma_topo_pvc *pvc, FILE *out)
{
    const struct pvma_contract *c = &pvc->contract;
    fprintf(out, "pvc %s %s aal=%s flow=%s service=%s paced=%s", t->nodes[pvc->from].name, t->nodes[pvc->to].name,
            pvma_aal_name(c->aal), c->flow == PVMA_DUPLEX ? "duplex" : "simplex", pvma_service_name(c->service),
            c->paced ? "yes" : "no");
    list_bandwidth(c, out);
    fprintf(out, "\n");
}

static void list_source(const struct pvma_topology *t, const struct pvma_topo_source *s, FILE *out)
{
    static const char *const types[] = {"cbr", "poisson", "onoff", "bernoulli"};
    const struct pvma_source_options *o = &s->options;
    char rate[32], on[32], off[32], start[32], stop[32];
    pvma_rate_format(o->rate_bps, rate, sizeof rate);
    fprintf(out, "source %s", s->name);
    if (s->in_switch)
        fprintf(out, " at=%s copy=%g", t->nodes[s->from].name, o->copy);
    else
        fprintf(out, " from=%s to=%s", t->nodes[s->from].name, s->to_name);
    fprintf(out, " type=%s rate=%s", types[o->type], rate);
    if (s->contract.service)
        fprintf(out, " service=%s", pvma_service_name(s->contract.service));
    list_bandwidth(&s->contract, out);
    pvma_time_format(o->start, start, sizeof start);
    pvma_time_format(o->stop, stop, sizeof stop);
    if (o->type == PVMA_ONOFF) {
        pvma_time_format(o->on_mean, on, sizeof on);
        pvma_time_format(o->off_mean, off, sizeof off);
        fprintf(out, " on=%s off=%s spacing=%s", on, off, o->spacing == PVMA_SPACING_CONSTANT ? "constant" : "random");
    }
    if (o->slot_bps) {
        pvma_rate_format(o->slot_bps, rate, sizeof rate);
        fprintf(out, " slot=%s", rate);
    }
    if (o->off_rate_bps) {
        pvma_rate_format(o->off_rate_bps, rate, sizeof rate);
        fprintf(out, " off-rate=%s", rate);
    }
    fprintf(out, " start=%s stop=%s\n", start, stop);
}

static void list_profile(const struct pvma_profile *profile, FILE *out)
{
    char value[32];
    fprintf(out, "profile %s like=ideal", profile->name);
    for (int cost = 0; cost < PVMA_COST_COUNT; cost++) {
        pvma_cost_format(cost, profile->cost[cost], value, sizeof value);
        fprintf(out, " %s=%s", pvma_cost_name(cost), value);
    }
    fprintf(out, "\n");
}

static void list_servers(const struct pvma_topology *t, FILE *out)
{
    char signal[32], relay[32], down[32], duration[32];
    for (size_t i = 0; i < t->server_count; i++) {
        const struct pvma_topo_server *s = &t->servers[i];
        pvma_time_format(s->signal, signal, sizeof signal);
        pvma_time_format(s->relay, relay, sizeof relay);
        fprintf(out, "server %s at=%s signal=%s relay=%s", s->name, t->nodes[s->host].name, signal, relay);
        if (s->down_at != PVMA_NEVER) {
            pvma_time_format(s->down_at, down, sizeof down);
            pvma_time_format(s->down_for, duration, sizeof duration);
            fprintf(out, " down=%s for=%s", down, duration);
        }
        fprintf(out, "\n");
    }
}

static void list_overlay(const struct pvma_topology *t, FILE *out)
{
    static const char *const directs[] = {"server", "all", "none"};
    const struct pvma_topo_overlay *o = &t->overlay;
    char retry[32], detect[32], patience[32];
    pvma_time_format(o->retry, retry, sizeof retry);
    pvma_time_format(o->detect, detect, sizeof detect);
    pvma_time_format(o->patience, patience, sizeof patience);
    fprintf(out, "overlay %s attach=%s direct=%s branch=%u mids=%u queue=%u retry=%s detect=%s patience=%s\n",
            o->shape == PVMA_TREE ? "tree" : "ring", o->attach == PVMA_ATTACH_ORDER ? "order" : "distance",
            directs[o->direct], o->branch, o->mids, o->queue, retry, detect, patience);
    list_servers(t, out);
    for (size_t i = 0; i < t->node_count; i++)
        if (t->nodes[i].is_station)
            fprintf(out, "station %s server=%s\n", t->nodes[i].name, t->servers[t->nodes[i].server - 1].name);
}

void pvma_topology_list(const struct pvma_topology *t, FILE *out)
{
    for (size_t i = 0; i < t->profile_count; i++)
        list_profile(t->profiles[i], out);
    for (size_t i = 0; i < t->node_count; i++) {
        if (t->nodes[i].is_host)
            list_host(&t->nodes[i], out);
        else
            list_switch(&t->nodes[i], out);
    }
    for (size_t i = 0; i < t->link_count; i++)
        list_link(t, &t->links[i], out);
    for (size_t i = 0; i < t->pvc_count; i++)
        list_pvc(t, &t->pvcs[i], out);
    for (size_t i = 0; i < t->source_count; i++)
        list_source(t, &t->sources[i], out);
    for (size_t i = 0; i < t->failure_count; i++)
        list_failure(t, &t->failures[i], out);
    if (t->overlay.line)
        list_overlay(t, out);
}
