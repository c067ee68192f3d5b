/* graph_draft.c - the tables that the statements of a graph fill, and the rules between them. */
#include "graph_draft.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

__attribute__((format(printf, 2, 3))) static bool fault(struct dpi_graph_draft *draft, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(draft->why, sizeof draft->why, format, args);
    va_end(args);
    return false;
}

/*
 * Returns memory for one more element of a table with `count` elements; NULL and a fault: too many, or out of memory.
 */
static void *one_more(struct dpi_graph_draft *draft, size_t count, size_t bytes, const char *kinds)
{
    if (count >= DP_GRAPH_ITEMS_MAX) {
        fault(draft, "there are more than %d %s", DP_GRAPH_ITEMS_MAX, kinds);
        return NULL;
    }
    void *thing = calloc(1, bytes);
    if (!thing)
        draft->why[0] = '\0';
    return thing;
}

/* Frees an element for which its table has no memory, and sets the fault to out of memory. Returns false. */
static bool no_room(struct dpi_graph_draft *draft, void *thing)
{
    free(thing);
    draft->why[0] = '\0';
    return false;
}

/* ---- nodes ---- */

static struct draft_node *find_node(const struct dpi_graph_draft *draft, uint16_t nid)
{
    struct draft_node *node;
    HASH_FIND(hh, draft->nodes, &nid, sizeof nid, node);
    return node;
}

bool dpi_graph_draft_add_node(struct dpi_graph_draft *draft, uint16_t nid, const char *name)
{
    if (find_node(draft, nid))
        return fault(draft, "node %u is declared twice", nid);
    struct draft_node *node = one_more(draft, HASH_COUNT(draft->nodes), sizeof *node, "nodes");
    if (!node)
        return false;
    node->is.nid = nid;
    strcpy(node->is.name, name);
    return PVMC_HASH_ADD(hh, draft->nodes, is.nid, node) || no_room(draft, node);
}

bool dpi_graph_draft_remove_node(struct dpi_graph_draft *draft, uint16_t nid)
{
    struct draft_node *node = find_node(draft, nid);
    if (!node)
        return fault(draft, "there is no node %u", nid);
    if (node->processes)
        return fault(draft, "node %u still has processes: remove these first", nid);
    HASH_DELETE(hh, draft->nodes, node);
    free(node);
    return true;
}

/* ---- processes ---- */

static struct draft_process *find_process(const struct dpi_graph_draft *draft, const char *name)
{
    struct draft_process *process;
    HASH_FIND_STR(draft->processes, name, process);
    return process;
}

bool dpi_graph_draft_add_process(struct dpi_graph_draft *draft, const char *name, uint16_t nid)
{
    struct draft_node *node = find_node(draft, nid);
    if (find_process(draft, name))
        return fault(draft, "process %s is declared twice", name);
    if (!node)
        return fault(draft, "process %s: there is no node %u above this line", name, nid);
    struct draft_process *process = one_more(draft, HASH_COUNT(draft->processes), sizeof *process, "processes");
    if (!process)
        return false;
    strcpy(process->name, name);
    process->node = node;
    if (!PVMC_HASH_ADD_TEXT(hh, draft->processes, name, process))
        return no_room(draft, process);
    node->processes++;
    return true;
}

bool dpi_graph_draft_remove_process(struct dpi_graph_draft *draft, const char *name)
{
    struct draft_process *process = find_process(draft, name);
    if (!process)
        return fault(draft, "there is no process %s", name);
    if (process->endpoints)
        return fault(draft, "process %s still has endpoints: remove these first", name);
    process->node->processes--;
    HASH_DELETE(hh, draft->processes, process);
    free(process);
    return true;
}

/* ---- endpoints ---- */

static struct draft_endpoint *endpoint_at(const struct dpi_graph_draft *draft, uint16_t nid, uint16_t dpid)
{
    struct draft_endpoint key = {.point = {nid, dpid}}, *endpoint;
    HASH_FIND(hh, draft->endpoints, &key.point, sizeof key.point, endpoint);
    return endpoint;
}

/* NULL and a fault if there is none. */
static struct draft_endpoint *find_endpoint(struct dpi_graph_draft *draft, struct draft_point point)
{
    struct draft_process *process = find_process(draft, point.process);
    struct draft_endpoint *endpoint = process ? endpoint_at(draft, process->node->is.nid, point.dpid) : NULL;
    if (endpoint && endpoint->process == process)
        return endpoint;
    fault(draft, "there is no endpoint %s:%u above this line", point.process, point.dpid);
    return NULL;
}

bool dpi_graph_draft_add_endpoint(struct dpi_graph_draft *draft, struct draft_point point, int mode,
                                  const char *interface)
{
    struct draft_process *process = find_process(draft, point.process);
    if (!process)
        return fault(draft, "endpoint %s:%u: there is no process %s above this line", point.process, point.dpid,
                     point.process);
    struct draft_endpoint *endpoint = endpoint_at(draft, process->node->is.nid, point.dpid);
    if (endpoint && endpoint->process == process)
        return fault(draft, "endpoint %s:%u is declared twice", point.process, point.dpid);
    if (endpoint)
        return fault(draft, "endpoint %s:%u: process %s has DPID %u of node %u already", point.process, point.dpid,
                     endpoint->process->name, point.dpid, process->node->is.nid);
    endpoint = one_more(draft, HASH_COUNT(draft->endpoints), sizeof *endpoint, "endpoints");
    if (!endpoint)
        return false;
    endpoint->point.nid = process->node->is.nid;
    endpoint->point.dpid = point.dpid;
    endpoint->process = process;
    endpoint->mode = mode;
    strcpy(endpoint->interface, interface);
    if (!PVMC_HASH_ADD(hh, draft->endpoints, point, endpoint))
        return no_room(draft, endpoint);
    process->endpoints++;
    return true;
}

static void drop_channel(struct dpi_graph_draft *draft, struct draft_channel *channel)
{
    DL_DELETE2(channel->edge.from->out, channel, out_prev, out_next);
    DL_DELETE2(channel->edge.to->in, channel, in_prev, in_next);
    HASH_DELETE(by_edge, draft->edges, channel);
    HASH_DELETE(hh, draft->channels, channel);
    free(channel);
}

static void drop_endpoint(struct dpi_graph_draft *draft, struct draft_endpoint *endpoint)
{
    while (endpoint->out)
        drop_channel(draft, endpoint->out);
    while (endpoint->in)
        drop_channel(draft, endpoint->in);
    endpoint->process->endpoints--;
    HASH_DELETE(hh, draft->endpoints, endpoint);
    free(endpoint);
}

bool dpi_graph_draft_remove_endpoint(struct dpi_graph_draft *draft, struct draft_point point)
{
    struct draft_endpoint *endpoint = find_endpoint(draft, point);
    if (endpoint)
        drop_endpoint(draft, endpoint);
    return endpoint;
}

/* ---- channels ---- */

static struct draft_channel *find_channel(const struct dpi_graph_draft *draft, const char *name)
{
    struct draft_channel *channel;
    HASH_FIND_STR(draft->channels, name, channel);
    return channel;
}

static bool may_join(struct dpi_graph_draft *draft, const char *name, const struct draft_edge *edge)
{
    struct draft_channel *twin;
    HASH_FIND(by_edge, draft->edges, edge, sizeof *edge, twin);
    if (find_channel(draft, name))
        return fault(draft, "channel %s is declared twice", name);
    if (edge->from->process == edge->to->process)
        return fault(draft, "channel %s begins and ends at process %s: a channel joins two processes", name,
                     edge->from->process->name);
    if (twin)
        return fault(draft, "channel %s: channel %s joins the same endpoints", name, twin->name);
    if (edge->from->mode != edge->to->mode)
        return fault(draft, "channel %s: its endpoints differ in their mode (raw, reliable, go-back-n)", name);
    return true;
}

bool dpi_graph_draft_add_channel(struct dpi_graph_draft *draft, const char *name, struct draft_point from,
                                 struct draft_point to)
{
    struct draft_edge edge = {find_endpoint(draft, from), NULL};
    if (!edge.from || !(edge.to = find_endpoint(draft, to)) || !may_join(draft, name, &edge))
        return false;
    struct draft_channel *channel = one_more(draft, HASH_COUNT(draft->channels), sizeof *channel, "channels");
    if (!channel)
        return false;
    strcpy(channel->name, name);
    channel->edge = edge;
    if (!PVMC_HASH_ADD(by_edge, draft->edges, edge, channel))
        return no_room(draft, channel);
    if (!PVMC_HASH_ADD_TEXT(hh, draft->channels, name, channel)) {
        HASH_DELETE(by_edge, draft->edges, channel);
        return no_room(draft, channel);
    }
    DL_APPEND2(edge.from->out, channel, out_prev, out_next);
    DL_APPEND2(edge.to->in, channel, in_prev, in_next);
    return true;
}

bool dpi_graph_draft_remove_channel(struct dpi_graph_draft *draft, const char *name)
{
    struct draft_channel *channel = find_channel(draft, name);
    if (!channel)
        return fault(draft, "there is no channel %s", name);
    drop_channel(draft, channel);
    return true;
}

/* ---- conversion from and to graphs ---- */

static struct draft_point point_of(const struct dp_graph *graph, size_t endpoint)
{
    const struct dp_graph_endpoint *e = &graph->endpoints[endpoint];
    return (struct draft_point){graph->processes[e->process].name, e->dpid};
}

bool dpi_graph_draft_from(struct dpi_graph_draft *draft, const struct dp_graph *graph)
{
    bool ok = true;
    for (size_t i = 0; ok && i < graph->node_count; i++)
        ok = dpi_graph_draft_add_node(draft, graph->nodes[i].nid, graph->nodes[i].name);
    for (size_t i = 0; ok && i < graph->process_count; i++)
        ok = dpi_graph_draft_add_process(draft, graph->processes[i].name, graph->nodes[graph->processes[i].node].nid);
    for (size_t i = 0; ok && i < graph->endpoint_count; i++)
        ok = dpi_graph_draft_add_endpoint(draft, point_of(graph, i), graph->endpoints[i].mode,
                                          graph->endpoints[i].interface);
    for (size_t i = 0; ok && i < graph->channel_count; i++) {
        const struct dp_graph_channel *channel = &graph->channels[i];
        ok = dpi_graph_draft_add_channel(draft, channel->name, point_of(graph, channel->from),
                                         point_of(graph, channel->to));
    }
    return ok;
}

static void copy_nodes(struct draft_node *nodes, struct dp_graph *graph)
{
    for (struct draft_node *node = nodes; node; node = node->hh.next) {
        node->index = graph->node_count++;
        graph->nodes[node->index] = node->is;
    }
}

static void copy_processes(struct draft_process *processes, struct dp_graph *graph)
{
    for (struct draft_process *process = processes; process; process = process->hh.next) {
        process->index = graph->process_count++;
        struct dp_graph_process *copy = &graph->processes[process->index];
        strcpy(copy->name, process->name);
        copy->node = process->node->index;
    }
}

static void copy_endpoints(struct draft_endpoint *endpoints, struct dp_graph *graph)
{
    for (struct draft_endpoint *endpoint = endpoints; endpoint; endpoint = endpoint->hh.next) {
        endpoint->index = graph->endpoint_count++;
        struct dp_graph_endpoint *copy = &graph->endpoints[endpoint->index];
        copy->process = endpoint->process->index;
        copy->dpid = endpoint->point.dpid;
        copy->mode = endpoint->mode;
        strcpy(copy->interface, endpoint->interface);
    }
}

static void copy_channels(struct draft_channel *channels, struct dp_graph *graph)
{
    for (struct draft_channel *channel = channels; channel; channel = channel->hh.next) {
        struct dp_graph_channel *copy = &graph->channels[graph->channel_count++];
        strcpy(copy->name, channel->name);
        copy->from = channel->edge.from->index;
        copy->to = channel->edge.to->index;
    }
}

struct dp_graph *dpi_graph_draft_finish(struct dpi_graph_draft *draft)
{
    struct dp_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return NULL;
    /* One more than needed: calloc(0) may return NULL. */
    graph->nodes = calloc(HASH_COUNT(draft->nodes) + 1, sizeof *graph->nodes);
    graph->processes = calloc(HASH_COUNT(draft->processes) + 1, sizeof *graph->processes);
    graph->endpoints = calloc(HASH_COUNT(draft->endpoints) + 1, sizeof *graph->endpoints);
    graph->channels = calloc(HASH_COUNT(draft->channels) + 1, sizeof *graph->channels);
    if (!graph->nodes || !graph->processes || !graph->endpoints || !graph->channels) {
        dp_graph_free(graph);
        return NULL;
    }
    copy_nodes(draft->nodes, graph);
    copy_processes(draft->processes, graph);
    copy_endpoints(draft->endpoints, graph);
    copy_channels(draft->channels, graph);
    return graph;
}

void dpi_graph_draft_free(struct dpi_graph_draft *draft)
{
    struct draft_endpoint *endpoint, *next_endpoint;
    struct draft_process *process, *next_process;
    struct draft_node *node, *next_node;
    HASH_ITER (hh, draft->endpoints, endpoint, next_endpoint)
        drop_endpoint(draft, endpoint);
    HASH_ITER (hh, draft->processes, process, next_process) {
        HASH_DELETE(hh, draft->processes, process);
        free(process);
    }
    HASH_ITER (hh, draft->nodes, node, next_node) {
        HASH_DELETE(hh, draft->nodes, node);
        free(node);
    }
}
