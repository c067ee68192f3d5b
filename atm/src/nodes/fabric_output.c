/*
 * fabric_output.c - output queues, first in first out, in one buffer that all ports share (ASX-100, ASX-200, and the
 * thesis's switch). Each port has two queues; guaranteed cells go first. A cell occupies the buffer until its
 * transmission begins. A full buffer drops an arriving cell, but a guaranteed cell pushes out a best-effort one.
 */
#include <stdlib.h>
#include "fabric.h"

struct output {
    struct pvma_cellq queue[2]; /* by enum pvma_service */
};

struct shared {
    uint32_t queued; /* cells in all queues */
    struct output output[];
};

static void *open_fabric(struct pvma_switch *s)
{
    struct shared *shared = pvma_new(sizeof *shared + s->options.ports * sizeof shared->output[0]);
    for (unsigned port = 0; port < s->options.ports; port++)
        for (int service = 0; service < 2; service++)
            pvma_cellq_init(&shared->output[port].queue[service]);
    return shared;
}

static void close_fabric(struct pvma_switch *s)
{
    struct shared *shared = s->state;
    for (unsigned port = 0; port < s->options.ports; port++)
        for (int service = 0; service < 2; service++)
            pvma_cellq_clear(&shared->output[port].queue[service], s->node.cells);
    free(shared);
}

static void send_next(struct pvma_switch *s, unsigned port)
{
    struct shared *shared = s->state;
    struct pvma_link *link = s->node.port[port].out;
    if (!link || !pvma_link_is_free(link))
        return;
    struct pvma_cell *cell = pvma_cellq_pop(&shared->output[port].queue[PVMA_VBR]);
    if (!cell)
        cell = pvma_cellq_pop(&shared->output[port].queue[PVMA_UBR]);
    if (!cell)
        return;
    shared->queued--;
    pvma_meter_add(s->node.port[port].departing, s->node.sim, -1);
    s->counters.cells_out++;
    pvma_link_send(link, cell);
}

/* Drops the oldest best-effort cell of the port with the most of them; false when there is none. */
static bool push_out(struct pvma_switch *s)
{
    struct shared *shared = s->state;
    unsigned longest = 0;
    for (unsigned port = 1; port < s->options.ports; port++)
        if (shared->output[port].queue[PVMA_UBR].length > shared->output[longest].queue[PVMA_UBR].length)
            longest = port;
    struct pvma_cell *cell = pvma_cellq_pop(&shared->output[longest].queue[PVMA_UBR]);
    if (!cell)
        return false;
    shared->queued--;
    pvma_meter_add(s->node.port[longest].departing, s->node.sim, -1);
    s->counters.pushed_out++;
    pvma_cell_put(s->node.cells, cell);
    return true;
}

/* Counts a cell that meets a full buffer; true when the cell may be queued. */
static bool has_place(struct pvma_switch *s, unsigned port, enum pvma_service service, struct pvma_route *route)
{
    struct shared *shared = s->state;
    if (s->options.buffer == PVMA_BUFFER_INFINITE || shared->queued < s->options.buffer_cells)
        return true;
    bool counted = s->options.buffer == PVMA_BUFFER_COUNTED;
    if (!counted && service == PVMA_VBR && push_out(s))
        return true;
    s->counters.would_drop += counted;
    s->port_counters[port].would_drop += counted;
    s->counters.dropped += !counted;
    s->port_counters[port].dropped += !counted;
    if (route) {
        route->would_drop += counted;
        s->counters.routed_would_drop += counted;
        route->dropped += !counted;
    }
    return counted;
}

static void enqueue(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service)
{
    struct shared *shared = s->state;
    struct pvma_cellq *queue = &shared->output[port].queue[service];
    struct pvma_switch_port_counters *counters = &s->port_counters[port];
    pvma_cellq_push(queue, cell);
    pvma_meter_add(s->node.port[port].departing, s->node.sim, 1);
    if (++shared->queued > s->counters.most_queued)
        s->counters.most_queued = shared->queued;
    if (queue->length > counters->most_queued)
        counters->most_queued = queue->length;
    send_next(s, port);
}

static void offer(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service,
                  struct pvma_route *route)
{
    if (has_place(s, port, service, route)) {
        enqueue(s, port, cell, service);
        return;
    }
    pvma_sim_note(s->node.sim, s->counters.dropped);
    pvma_cell_put(s->node.cells, cell);
}

static void queue_cell(struct pvma_switch *s, struct pvma_route *route, struct pvma_cell *cell)
{
    for (struct pvma_branch *branch = route->branches; branch; branch = branch->next) {
        branch->cells++;
        offer(s, branch->port, pvma_switch_copy(s, cell, branch, !branch->next), route->service, route);
    }
}

/* A full buffer does not drop signalling cells, see call.h. */
static void emit(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service)
{
    if (cell->vpi == 0 && cell->vci == PVMA_VCI_SIGNALLING)
        enqueue(s, port, cell, service);
    else
        offer(s, port, cell, service, NULL);
}

static void no_credits(struct pvma_switch *s, struct pvma_branch *branch)
{
    (void)s, (void)branch;
}

const struct pvma_fabric pvma_fabric_output = {open_fabric, close_fabric, queue_cell, emit,
                                               send_next,   no_credits,   no_credits};
