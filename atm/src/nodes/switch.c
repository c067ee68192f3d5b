/* switch.c - tables, latency and counters, shared by all fabrics. */
#include "switch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abr/rm.h"
#include "fabric.h"

struct pvma_switch *pvma_switch_of(struct pvma_node *node)
{
    return PVMA_OF(node, struct pvma_switch, node);
}

/* ---- cells ---- */

/* The frame of a discarded cell is lost at the receiver, so partial packet discard gives its rest away. */
static void cut_frames(struct pvma_switch *s, struct pvma_route *route)
{
    if (!s->options.ppd || !route->has_frames)
        return;
    for (struct pvma_branch *branch = route->branches; branch; branch = branch->next) {
        bool cut = branch->frame == PVMA_FRAME_NONE || branch->frame == PVMA_FRAME_GOES;
        s->counters.ppd_frames += cut;
        s->port_counters[branch->port].ppd_frames += cut;
        branch->frame = cut ? PVMA_FRAME_CUT : branch->frame;
    }
}

/* Applies the contract to a cell; false when the cell is discarded. */
static bool is_admitted(struct pvma_switch *s, struct pvma_route *route, struct pvma_cell *cell)
{
    enum pvma_police verdict = pvma_policer_judge(route->policer, pvma_sim_now(s->node.sim), cell->clp);
    s->counters.tagged += verdict == PVMA_POLICE_TAG;
    cell->clp |= verdict == PVMA_POLICE_TAG;
    if (verdict != PVMA_POLICE_DROP)
        return true;
    s->counters.policed++;
    route->dropped++;
    pvma_sim_note(s->node.sim, s->counters.policed);
    cut_frames(s, route);
    pvma_cell_put(s->node.cells, cell);
    return false;
}

/* A cell has crossed the latency; its route may be gone by now. The latency is the same for all cells, so policing here
 * gives what it would give at the input. */
static void enter_fabric(struct pvma_switch *s, struct pvma_cell *cell)
{
    struct pvma_route *route = pvma_vctable_get(&s->in[cell->in_port], cell->vpi, cell->vci);
    if (route) {
        if (route->policer && !pvma_cell_is_rm(cell) && !is_admitted(s, route, cell))
            return;
        s->fabric->queue(s, route, cell);
    } else {
        s->counters.unknown++;
        pvma_cell_put(s->node.cells, cell);
    }
}

static void crossed(struct pvma_event *event)
{
    struct pvma_switch *s = PVMA_OF(event, struct pvma_switch, crossed);
    struct pvma_cell *cell = pvma_cellq_pop(&s->crossing);
    if (s->crossing.head)
        pvma_sim_at(s->node.sim, event, s->crossing.head->at);
    enter_fabric(s, cell);
}

static void cross(struct pvma_switch *s, struct pvma_cell *cell)
{
    if (!s->options.latency) {
        enter_fabric(s, cell);
        return;
    }
    cell->at = pvma_sim_now(s->node.sim) + s->options.latency;
    if (!s->crossing.head)
        pvma_sim_at(s->node.sim, &s->crossed, cell->at);
    pvma_cellq_push(&s->crossing, cell);
}

static void take_cell(struct pvma_node *node, unsigned port, struct pvma_cell *cell)
{
    struct pvma_switch *s = pvma_switch_of(node);
    if (pvma_cell_is_signalling(cell) && s->signal_cell) {
        s->signal_cell(s, port, cell);
        return;
    }
    s->counters.cells_in++;
    struct pvma_route *route = pvma_vctable_get(&s->in[port], cell->vpi, cell->vci);
    if (!route) {
        bool background = cell->vpi == PVMA_VPI_BACKGROUND;
        s->counters.background += background;
        s->counters.unknown += !background;
        pvma_cell_put(node->cells, cell);
        return;
    }
    route->cells++;
    s->counters.routed++;
    cell->in_port = (uint8_t)port;
    cross(s, cell);
}

static void take_link(struct pvma_node *node, unsigned port)
{
    struct pvma_switch *s = pvma_switch_of(node);
    s->fabric->link_free(s, port);
}

static void take_credit(struct pvma_node *node, unsigned port, uint16_t vpi, uint16_t vci)
{
    struct pvma_switch *s = pvma_switch_of(node);
    struct pvma_branch *branch = pvma_vctable_get(&s->out[port], vpi, vci);
    if (branch)
        s->fabric->credit(s, branch);
}

void pvma_switch_emit(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service)
{
    s->fabric->emit(s, port, cell, service);
}

/* ---- routes ---- */

struct pvma_route *pvma_switch_route(struct pvma_switch *s, unsigned in_port, uint16_t vpi, uint16_t vci)
{
    return pvma_vctable_get(&s->in[in_port], vpi, vci);
}

struct pvma_route *pvma_switch_add_route(struct pvma_switch *s, unsigned in_port, uint16_t vpi, uint16_t vci,
                                         const struct pvma_contract *contract)
{
    struct pvma_route *route = pvma_new(sizeof *route);
    route->in_port = in_port;
    route->vpi = vpi;
    route->vci = vci;
    route->service = contract->service;
    route->has_frames = contract->aal == PVMA_AAL5;
    pvma_vctable_set(&s->in[in_port], vpi, vci, route);
    return route;
}

void pvma_switch_pair(struct pvma_route *there, struct pvma_route *back)
{
    there->other = back;
    back->other = there;
}

void pvma_switch_police(struct pvma_switch *s, struct pvma_route *route, const struct pvma_bandwidth *granted)
{
    const struct pvma_link *in = s->node.port[route->in_port].in;
    bool is_abr = route->service == PVMA_ABR; /* its mean is what it may always send, not a limit */
    struct pvma_bandwidth limit = {granted->peak_bps, is_abr ? 0 : granted->mean_bps, granted->burst_cells};
    if (!s->options.police || !in->from->is_host || (!limit.peak_bps && !limit.mean_bps))
        return;
    if (!route->policer)
        route->policer = pvma_new(sizeof *route->policer);
    pvma_policer_set(route->policer, (enum pvma_police)s->options.police, &limit, s->options.cdvt);
}

struct pvma_branch *pvma_switch_add_branch(struct pvma_switch *s, struct pvma_route *route, unsigned port, uint16_t vpi,
                                           uint16_t vci)
{
    struct pvma_branch *branch = pvma_new(sizeof *branch);
    branch->route = route;
    branch->port = port;
    branch->vpi = vpi;
    branch->vci = vci;
    branch->credits = s->node.port[port].out->to->credits;
    branch->limited = branch->credits != 0;
    branch->cells = route->returned;
    pvma_cellq_init(&branch->queue);
    struct pvma_branch **at = &route->branches;
    while (*at)
        at = &(*at)->next;
    *at = branch;
    pvma_vctable_set(&s->out[port], vpi, vci, branch);
    return branch;
}

struct pvma_branch *pvma_route_branch(const struct pvma_route *route, unsigned port)
{
    struct pvma_branch *branch = route->branches;
    while (branch && branch->port != port)
        branch = branch->next;
    return branch;
}

void pvma_switch_remove_branch(struct pvma_switch *s, struct pvma_branch *branch)
{
    struct pvma_route *route = branch->route;
    struct pvma_branch **at = &route->branches;
    while (*at != branch)
        at = &(*at)->next;
    s->fabric->forget(s, branch);
    *at = branch->next;
    pvma_vctable_remove(&s->out[branch->port], branch->vpi, branch->vci);
    pvma_cellq_clear(&branch->queue, s->node.cells);
    free(branch);
    if (!route->branches) {
        pvma_vctable_remove(&s->in[route->in_port], route->vpi, route->vci);
        free(route->policer);
        if (route->other)
            route->other->other = NULL;
        free(route);
    }
}

/* ---- life ---- */

static const struct pvma_node_ops switch_ops = {take_cell, take_link, take_credit};

/* With a speed-up an output gets cells faster than its link takes them, so it needs a queue. */
static void complete(struct pvma_switch_options *options)
{
    enum { OUTPUT_CELLS = 256 };
    if (!options->speedup)
        options->speedup = 1;
    if (!options->output_cells)
        options->output_cells = options->speedup > 1 ? OUTPUT_CELLS : 1;
}

struct pvma_switch *pvma_switch_new(struct pvma_sim *sim, struct pvma_cells *cells, const char *name, unsigned number,
                                    const struct pvma_switch_options *options, uint64_t seed)
{
    struct pvma_switch *s = pvma_new(sizeof *s);
    unsigned ports = options->ports;
    s->node = (struct pvma_node){.ops = &switch_ops,
                                 .sim = sim,
                                 .cells = cells,
                                 .name = pvma_copy_text(name),
                                 .ports = ports,
                                 .port = pvma_new(ports * sizeof *s->node.port),
                                 .number = number,
                                 .fabric_bps = options->fabric_bps};
    s->options = *options;
    complete(&s->options);
    if (options->model == PVMA_CROSSBAR)
        s->node.credits = options->credits;
    else if (options->buffer == PVMA_BUFFER_FINITE)
        s->node.buffer_cells = options->buffer_cells;
    s->in = pvma_new(ports * sizeof *s->in);
    s->out = pvma_new(ports * sizeof *s->out);
    s->port_counters = pvma_new(ports * sizeof *s->port_counters);
    pvma_cellq_init(&s->crossing);
    pvma_event_init(&s->crossed, PVMA_EVENT_SWITCHED, crossed);
    char stream[96];
    snprintf(stream, sizeof stream, "switch %s", name);
    pvma_random_init(&s->random, seed, stream);
    s->fabric = options->model == PVMA_CROSSBAR ? &pvma_fabric_crossbar : &pvma_fabric_output;
    s->state = s->fabric->open(s);
    return s;
}

static void free_routes(struct pvma_switch *s, unsigned port)
{
    for (size_t i = 0; i < s->in[port].size; i++) {
        struct pvma_route *route = s->in[port].rows[i].value;
        for (struct pvma_branch *branch = route ? route->branches : NULL, *next; branch; branch = next) {
            next = branch->next;
            pvma_cellq_clear(&branch->queue, s->node.cells);
            free(branch);
        }
        if (route)
            free(route->policer);
        free(route);
    }
    pvma_vctable_free(&s->in[port]);
    pvma_vctable_free(&s->out[port]);
}

void pvma_switch_free(struct pvma_switch *s)
{
    s->fabric->close(s);
    for (unsigned port = 0; port < s->node.ports; port++)
        free_routes(s, port);
    pvma_cellq_clear(&s->crossing, s->node.cells);
    free(s->in);
    free(s->out);
    free(s->port_counters);
    free(s->node.port);
    free(s->node.name);
    free(s);
}

struct pvma_node *pvma_switch_node(struct pvma_switch *s)
{
    return &s->node;
}

const struct pvma_switch_options *pvma_switch_options(const struct pvma_switch *s)
{
    return &s->options;
}

const struct pvma_switch_counters *pvma_switch_counters(const struct pvma_switch *s)
{
    return &s->counters;
}

const struct pvma_switch_port_counters *pvma_switch_port_counters(const struct pvma_switch *s, unsigned port)
{
    return &s->port_counters[port];
}
