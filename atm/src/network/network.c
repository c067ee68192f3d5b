/* network.c - builds a network from its topology, with permanent VCs. */
#include "network.h"
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "broker.h"
#include "control.h"
#include "network_parts.h"
#include "outage.h"
#include "path.h"

/* ---- nodes and links ---- */

static void add_node(struct pvma_net *net, const struct pvma_topo_node *t)
{
    unsigned number = (unsigned)net->node_count;
    if (t->is_host) {
        struct pvma_host *host =
            pvma_host_new(net->sim, &net->cells, t->name, number, t->profile, t->adapters ? t->adapters : 1);
        net->hosts[net->host_count++] = host;
        net->nodes[number] = pvma_host_node(host);
    } else {
        struct pvma_switch *s =
            pvma_switch_new(net->sim, &net->cells, t->name, number, &t->sw, pvma_sim_seed(net->sim));
        net->switches[net->switch_count++] = s;
        net->nodes[number] = pvma_switch_node(s);
    }
    net->node_count++;
}

/* The fewer of both ends; 0: any number. */
static uint32_t vci_limit(const struct pvma_net *net, const struct pvma_topo_link *t)
{
    uint32_t a = net->topology->nodes[t->a].vcis, b = net->topology->nodes[t->b].vcis;
    return !a || (b && b < a) ? b : a;
}

static void add_link(struct pvma_net *net, const struct pvma_topo_link *t)
{
    uint64_t seed = pvma_sim_seed(net->sim);
    struct pvma_node *a = net->nodes[t->a], *b = net->nodes[t->b];
    net->links[net->link_count++] = pvma_link_new(a, t->a_port, b, t->b_port, &t->options, seed);
    net->links[net->link_count++] = pvma_link_new(b, t->b_port, a, t->a_port, &t->options, seed);
    for (size_t i = net->link_count - 2; i < net->link_count; i++)
        net->links[i]->vci_limit = vci_limit(net, t);
}

/* ---- permanent VCs ---- */

static void add_pvc(struct pvma_net *net, const struct pvma_path *there, const struct pvma_path *back)
{
    if (net->pvc_count == net->pvc_size) {
        net->pvc_size = net->pvc_size ? 2 * net->pvc_size : 16;
        net->pvcs = pvma_renew(net->pvcs, net->pvc_size * sizeof *net->pvcs);
    }
    net->pvcs[net->pvc_count++] = (struct pvma_net_pvc){there->first, back ? back->first : NULL};
}

/* Adds the end of a VC that sends on channel `out` and receives on `in`; either may be NULL. */
static struct pvma_vc *make_end(struct pvma_node *node, const struct pvma_contract *contract,
                                const struct pvma_channel *out, const struct pvma_bandwidth *granted,
                                const struct pvma_channel *in)
{
    struct pvma_vc_ids ids = {.sends = out != NULL, .receives = in != NULL};
    if (out) {
        ids.tx_port = out->link->from_port;
        ids.tx_vpi = out->vpi;
        ids.tx_vci = out->vci;
        ids.credits = out->link->to->credits;
        ids.paced_bps = contract->paced ? granted->peak_bps : 0;
    }
    if (in) {
        ids.rx_port = in->link->to_port;
        ids.rx_vpi = in->vpi;
        ids.rx_vci = in->vci;
    }
    struct pvma_vc *vc = pvma_vc_add(pvma_host_of(node), contract->aal, &ids);
    if (out && contract->service == PVMA_ABR)
        pvma_vc_control(vc, granted, contract->initial_bps);
    return vc;
}

static int set_up_pvc(struct pvma_net *net, struct pvma_host *from, struct pvma_host *to,
                      const struct pvma_contract *contract, bool counts, struct pvma_vc **a, struct pvma_vc **b)
{
    struct pvma_path there = {0}, back = {0};
    struct pvma_node *first = pvma_host_node(from), *last = pvma_host_node(to);
    bool duplex = contract->flow == PVMA_DUPLEX;
    int cause =
        first == last ? PVMA_CAUSE_NO_ROUTE : pvma_path_extend(&there, net->routing, first, last, contract, false);
    if (cause)
        return cause;
    if (duplex && (cause = pvma_path_extend(&back, net->routing, last, first, contract, true))) {
        pvma_path_remove(there.first);
        return cause;
    }
    if (contract->service == PVMA_ABR && duplex)
        pvma_path_pair(&there, &back);
    add_pvc(net, &there, duplex ? &back : NULL);
    if (counts) {
        pvma_channel_count(there.first);
        pvma_channel_count(back.last);
    }
    *a = make_end(first, contract, there.first, &there.granted, back.last);
    *b = make_end(last, contract, back.first, &back.granted, there.last);
    return 0;
}

int pvma_net_pvc(struct pvma_net *net, struct pvma_host *from, struct pvma_host *to,
                 const struct pvma_contract *contract, struct pvma_vc **a, struct pvma_vc **b)
{
    return set_up_pvc(net, from, to, contract, false, a, b);
}

int pvma_net_pvc_watched(struct pvma_net *net, struct pvma_host *from, struct pvma_host *to,
                         const struct pvma_contract *contract, bool counts, struct pvma_vc **a, struct pvma_vc **b,
                         size_t *number)
{
    *number = net->pvc_count;
    return set_up_pvc(net, from, to, contract, counts, a, b);
}

bool pvma_net_pvc_is_up(const struct pvma_net *net, size_t number)
{
    const struct pvma_net_pvc *pvc = &net->pvcs[number];
    return pvma_path_is_up(pvc->there) && pvma_path_is_up(pvc->back);
}

void pvma_net_watch_links(struct pvma_net *net, void (*changed)(void *arg), void *arg)
{
    net->links_changed = changed;
    net->watch_arg = arg;
}

int pvma_net_pvc_tree(struct pvma_net *net, struct pvma_host *from, struct pvma_host *const *to, size_t count,
                      const struct pvma_contract *contract, struct pvma_vc **a, struct pvma_vc **ends)
{
    struct pvma_path path = {0};
    struct pvma_channel **leaves = pvma_new(count * sizeof *leaves);
    int cause = count ? 0 : PVMA_CAUSE_NO_ROUTE;
    for (size_t i = 0; i < count && !cause; i++) {
        cause = to[i] == from ? PVMA_CAUSE_NO_ROUTE
                              : pvma_path_extend(&path, net->routing, pvma_host_node(from), pvma_host_node(to[i]),
                                                 contract, false);
        leaves[i] = path.last;
    }
    if (cause && path.first)
        pvma_path_remove(path.first);
    if (!cause) {
        add_pvc(net, &path, NULL);
        *a = make_end(pvma_host_node(from), contract, path.first, &path.granted, NULL);
        for (size_t i = 0; i < count; i++)
            ends[i] = make_end(pvma_host_node(to[i]), contract, NULL, NULL, leaves[i]);
    }
    free(leaves);
    return cause;
}

/* ---- building ---- */

/* What to change in a topology whose VC is refused. */
static const char *advice(int cause)
{
    if (cause == PVMA_CAUSE_NO_ROUTE)
        return "; add a link that joins the two";
    if (cause == PVMA_CAUSE_NO_BANDWIDTH)
        return "; ask for less, or give the links of the path a higher rate=";
    return "";
}

static int build_pvcs(struct pvma_net *net)
{
    const struct pvma_topology *t = net->topology;
    for (size_t i = 0; i < t->pvc_count; i++) {
        const struct pvma_topo_pvc *pvc = &t->pvcs[i];
        int cause = pvma_net_pvc(net, pvma_host_of(net->nodes[pvc->from]), pvma_host_of(net->nodes[pvc->to]),
                                 &pvc->contract, &net->ends[2 * i], &net->ends[2 * i + 1]);
        if (!cause)
            continue;
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: the PVC from %s to %s is refused: %s%s", t->name, pvc->line,
                 t->nodes[pvc->from].name, t->nodes[pvc->to].name, pvma_cause_text(cause), advice(cause));
        return cause;
    }
    return 0;
}

static int build_source(struct pvma_net *net, size_t index)
{
    const struct pvma_topo_source *t = &net->topology->sources[index];
    struct pvma_node *from = net->nodes[t->from];
    if (t->in_switch) {
        net->sources[index] = pvma_source_in_switch(net->sim, pvma_switch_of(from), &t->options, t->name);
        return 0;
    }
    struct pvma_contract contract = t->contract;
    struct pvma_vc **vcs = pvma_new(t->to_count * sizeof(struct pvma_vc *)), *far;
    int cause = 0;
    for (size_t i = 0; i < t->to_count && !cause; i++)
        cause = pvma_net_pvc(net, pvma_host_of(from), pvma_host_of(net->nodes[t->to[i]]), &contract, &vcs[i], &far);
    if (cause)
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: the VC of source %s is refused: %s%s", net->topology->name, t->line, t->name,
                 pvma_cause_text(cause), advice(cause));
    else
        net->sources[index] = pvma_source_on_vcs(net->sim, vcs, t->to_count, &t->options, t->name);
    free(vcs);
    return cause;
}

static void allocate(struct pvma_net *net)
{
    const struct pvma_topology *t = net->topology;
    net->nodes = pvma_new(t->node_count * sizeof *net->nodes);
    net->hosts = pvma_new(t->node_count * sizeof *net->hosts);
    net->switches = pvma_new(t->node_count * sizeof *net->switches);
    net->links = pvma_new(2 * t->link_count * sizeof *net->links);
    net->ends = pvma_new(2 * t->pvc_count * sizeof *net->ends);
    net->sources = pvma_new(t->source_count * sizeof *net->sources);
}

struct pvma_net *pvma_net_new(const struct pvma_topology *topology, uint64_t seed)
{
    struct pvma_net *net = pvma_new(sizeof *net);
    net->topology = topology;
    net->sim = pvma_sim_new(seed);
    pvma_cells_init(&net->cells);
    allocate(net);
    for (size_t i = 0; i < topology->node_count; i++)
        add_node(net, &topology->nodes[i]);
    for (size_t i = 0; i < topology->link_count; i++)
        add_link(net, &topology->links[i]);
    net->routing = pvma_routing_new(net->nodes, net->node_count);
    pvma_control_install(net);
    int cause = build_pvcs(net);
    for (size_t i = 0; i < topology->source_count && !cause; i++)
        cause = build_source(net, i);
    net->outages = pvma_outages_new(net);
    if (cause) {
        pvma_net_free(net);
        return NULL;
    }
    return net;
}

void pvma_net_free(struct pvma_net *net)
{
    if (!net)
        return;
    for (size_t i = 0; i < net->topology->source_count; i++)
        pvma_source_free(net->sources[i]);
    pvma_control_remove(net);
    for (size_t i = 0; i < net->pvc_count; i++) {
        pvma_path_remove(net->pvcs[i].there);
        if (net->pvcs[i].back)
            pvma_path_remove(net->pvcs[i].back);
    }
    for (size_t i = 0; i < net->host_count; i++)
        pvma_host_free(net->hosts[i]);
    for (size_t i = 0; i < net->switch_count; i++)
        pvma_switch_free(net->switches[i]);
    for (size_t i = 0; i < net->link_count; i++)
        pvma_link_free(net->links[i]);
    pvma_outages_free(net->outages);
    pvma_routing_free(net->routing);
    pvma_cells_free(&net->cells);
    pvma_sim_free(net->sim);
    void *const blocks[] = {net->nodes, net->hosts, net->switches, net->links, net->ends, net->sources, net->pvcs};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        free(blocks[i]);
    free(net);
}

void pvma_net_set_broker(struct pvma_net *net, const struct pvma_broker *broker, void *arg)
{
    net->broker = broker;
    net->broker_arg = arg;
}

/* ---- queries ---- */

struct pvma_sim *pvma_net_sim(struct pvma_net *net)
{
    return net->sim;
}

const struct pvma_cells *pvma_net_cells(const struct pvma_net *net)
{
    return &net->cells;
}

static struct pvma_node *find_node(struct pvma_net *net, const char *name, bool host)
{
    int number = pvma_topology_node(net->topology, name);
    return number >= 0 && net->nodes[number]->is_host == host ? net->nodes[number] : NULL;
}

struct pvma_host *pvma_net_host(struct pvma_net *net, const char *name)
{
    struct pvma_node *node = find_node(net, name, true);
    return node ? pvma_host_of(node) : NULL;
}

struct pvma_host *pvma_net_host_at(struct pvma_net *net, size_t index)
{
    return index < net->host_count ? net->hosts[index] : NULL;
}

size_t pvma_net_host_count(const struct pvma_net *net)
{
    return net->host_count;
}

struct pvma_host *pvma_net_host_with(struct pvma_net *net, struct pvma_address address)
{
    size_t number = address.switch_id ? address.switch_id - 1 : address.port;
    if (number >= net->node_count || net->nodes[number]->is_host != !address.switch_id)
        return NULL;
    struct pvma_node *node = net->nodes[number];
    if (!address.switch_id)
        return pvma_host_of(node);
    const struct pvma_link *link = address.port < node->ports ? node->port[address.port].out : NULL;
    return link && link->to->is_host ? pvma_host_of(link->to) : NULL;
}

struct pvma_switch *pvma_net_switch(struct pvma_net *net, const char *name)
{
    struct pvma_node *node = find_node(net, name, false);
    return node ? pvma_switch_of(node) : NULL;
}

struct pvma_switch *pvma_net_switch_at(struct pvma_net *net, size_t index)
{
    return index < net->switch_count ? net->switches[index] : NULL;
}

struct pvma_link *pvma_net_link(struct pvma_net *net, const char *from, const char *to)
{
    for (size_t i = 0; i < net->link_count; i++)
        if (!strcmp(net->links[i]->from->name, from) && !strcmp(net->links[i]->to->name, to))
            return net->links[i];
    return NULL;
}

struct pvma_link *pvma_net_link_at(struct pvma_net *net, size_t index)
{
    return index < net->link_count ? net->links[index] : NULL;
}

size_t pvma_net_link_count(const struct pvma_net *net)
{
    return net->link_count;
}

struct pvma_vc *pvma_net_pvc_end(struct pvma_net *net, size_t index, bool called)
{
    return index < net->topology->pvc_count ? net->ends[2 * index + called] : NULL;
}

struct pvma_source *pvma_net_source(struct pvma_net *net, size_t index)
{
    return index < net->topology->source_count ? net->sources[index] : NULL;
}
