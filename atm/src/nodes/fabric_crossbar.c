/*
 * fabric_crossbar.c - the AN2: cells wait at their input in a queue per VC, so no VC blocks another. In each slot (the
 * time of a cell on the fastest link) inputs and outputs are matched, and each matched input sends one cell; VCs that
 * share an input and an output take turns. A VC without credit at the next node waits. With credits, the upstream
 * sender has as many as the VC has places here, so no cell is lost; without credits, a full queue drops cells.
 *
 * Options: with a speed-up there are several slots in the time of a cell, and cells wait in queues at the outputs too.
 * With inputs=fifo each input is one queue, of which only the oldest cell may go: its arrival time tells which it is.
 */
#include <stdlib.h>
#include <string.h>
#include "fabric.h"
#include "base/matching.h"

struct input {
    struct pvma_branch *round, **tail; /* branches with cells; the next one first */
    uint32_t cells;                    /* in all of them */
    pvma_ps oldest;                    /* FIFO: arrival of the cell that may go in this slot */
};

struct crossbar {
    struct pvma_switch *s;
    struct pvma_event slot;
    pvma_ps slot_time, last_slot;
    bool slot_known;
    struct pvma_branch *moved[PVMA_MATCHING_MAX]; /* in this slot, by input */
    struct pvma_cellq *output;                    /* per port: cells that wait for the link */
    struct pvma_cellq *urgent;                    /* per port: signalling and background, bypassing the crossbar */
    uint64_t *served; /* by input * ports + output: slot of the last match; NULL: random choices */
    struct input input[];
};

static void run_slot(struct pvma_event *event);

static void *open_fabric(struct pvma_switch *s)
{
    unsigned ports = s->options.ports;
    struct crossbar *x = pvma_new(sizeof *x + ports * sizeof x->input[0]);
    x->s = s;
    x->last_slot = -1;
    x->output = pvma_new(ports * sizeof *x->output);
    x->urgent = pvma_new(ports * sizeof *x->urgent);
    x->served = s->options.matching == PVMA_MATCHING_FAIR ? pvma_new(ports * ports * sizeof *x->served) : NULL;
    for (unsigned port = 0; port < ports; port++) {
        x->input[port].tail = &x->input[port].round;
        pvma_cellq_init(&x->output[port]);
        pvma_cellq_init(&x->urgent[port]);
    }
    pvma_event_init(&x->slot, PVMA_EVENT_SLOT, run_slot);
    return x;
}

static void close_fabric(struct pvma_switch *s)
{
    struct crossbar *x = s->state;
    for (unsigned port = 0; port < s->options.ports; port++) {
        pvma_cellq_clear(&x->output[port], s->node.cells);
        pvma_cellq_clear(&x->urgent[port], s->node.cells);
    }
    free(x->output);
    free(x->urgent);
    free(x->served);
    free(x);
}

/* ---- slots ---- */

/* A cell's time on the fastest link, or a part of it with a speed-up. Found at the first use because links are added
 * after switches. */
static pvma_ps slot_time(struct crossbar *x)
{
    for (unsigned port = 0; !x->slot_known && port < x->s->options.ports; port++) {
        const struct pvma_link *link = x->s->node.port[port].out;
        if (link && (!x->slot_time || link->cell_time < x->slot_time))
            x->slot_time = link->cell_time;
    }
    if (!x->slot_known)
        x->slot_time /= x->s->options.speedup;
    x->slot_known = true;
    return x->slot_time;
}

/* Schedules the next slot, at the first multiple of the slot time that has not run yet. */
static void wake(struct crossbar *x)
{
    if (pvma_event_is_scheduled(&x->slot))
        return;
    pvma_ps time = slot_time(x), now = pvma_sim_now(x->s->node.sim);
    pvma_ps at = (now + time - 1) / time * time;
    pvma_sim_at(x->s->node.sim, &x->slot, at == x->last_slot ? at + time : at);
}

static void send_next(struct pvma_switch *s, unsigned port)
{
    struct crossbar *x = s->state;
    struct pvma_link *link = s->node.port[port].out;
    if (!link || !pvma_link_is_free(link))
        return;
    struct pvma_cell *cell = pvma_cellq_pop(&x->urgent[port]);
    if (!cell)
        cell = pvma_cellq_pop(&x->output[port]);
    if (!cell)
        return;
    s->counters.cells_out++;
    s->port_counters[port].sent++;
    s->port_counters[port].waited += (uint64_t)(pvma_sim_now(s->node.sim) - cell->at);
    pvma_link_send(link, cell);
    wake(x);
}

static bool may_send(const struct crossbar *x, const struct pvma_branch *branch)
{
    if (x->output[branch->port].length >= x->s->options.output_cells || (branch->limited && !branch->credits))
        return false;
    return x->s->options.inputs == PVMA_INPUTS_VC || branch->queue.head->at == x->input[branch->route->in_port].oldest;
}

/* Finds the cell of a FIFO that may go in this slot. Copies of one cell have the same arrival time. */
static void find_oldest(struct crossbar *x, unsigned port)
{
    struct input *input = &x->input[port];
    input->oldest = PVMA_NEVER;
    for (const struct pvma_branch *branch = input->round; branch; branch = branch->next_active)
        if (branch->queue.head->at < input->oldest)
            input->oldest = branch->queue.head->at;
}

static uint64_t wanted_outputs(struct crossbar *x, unsigned port)
{
    uint64_t outputs = 0;
    if (x->s->options.inputs == PVMA_INPUTS_FIFO)
        find_oldest(x, port);
    for (const struct pvma_branch *branch = x->input[port].round; branch; branch = branch->next_active)
        if (may_send(x, branch))
            outputs |= UINT64_C(1) << branch->port;
    return outputs;
}

/* ---- the round of an input ---- */

static void join_round(struct crossbar *x, struct pvma_branch *branch)
{
    struct input *input = &x->input[branch->route->in_port];
    if (branch->active)
        return;
    branch->active = true;
    branch->next_active = NULL;
    *input->tail = branch;
    input->tail = &branch->next_active;
}

static void leave_round(struct crossbar *x, struct pvma_branch *branch)
{
    struct input *input = &x->input[branch->route->in_port];
    struct pvma_branch **at = &input->round;
    if (!branch->active)
        return;
    while (*at != branch)
        at = &(*at)->next_active;
    *at = branch->next_active;
    if (!*at)
        input->tail = at;
    branch->active = false;
}

/* ---- cells ---- */

/* Returns to the upstream sender a credit for each cell that all branches have sent. */
static void return_credits(struct pvma_switch *s, struct pvma_route *route)
{
    if (!s->options.credits || !route->branches)
        return;
    uint64_t slowest = UINT64_MAX;
    for (const struct pvma_branch *branch = route->branches; branch; branch = branch->next)
        if (branch->cells < slowest)
            slowest = branch->cells;
    for (; route->returned < slowest; route->returned++)
        pvma_link_return_credit(s->node.port[route->in_port].in, route->vpi, route->vci);
}

static void transfer(struct crossbar *x, struct pvma_branch *branch)
{
    struct pvma_cell *cell = pvma_cellq_pop(&branch->queue);
    x->input[branch->route->in_port].cells--;
    pvma_meter_add(x->s->node.port[branch->route->in_port].arriving, x->s->node.sim, -1);
    leave_round(x, branch);
    if (branch->queue.length)
        join_round(x, branch); /* at the end, so other VCs have their turn */
    branch->credits -= branch->limited;
    branch->cells++;
    pvma_cellq_push(&x->output[branch->port], cell);
    return_credits(x->s, branch->route);
    send_next(x->s, branch->port);
}

static void transfer_matched(struct crossbar *x, unsigned in, unsigned out)
{
    struct pvma_branch *branch = x->input[in].round;
    while (branch->port != out || !may_send(x, branch))
        branch = branch->next_active;
    if (x->served)
        x->served[in * x->s->options.ports + out] = x->s->counters.slots;
    x->moved[in] = branch;
    transfer(x, branch);
}

/* The crossbar can copy one input's cell to several outputs in a slot: branches of the tree that have not sent it yet
 * send it now. */
static void transfer_copies(struct crossbar *x, unsigned in, uint64_t *taken)
{
    const struct pvma_branch *first = x->moved[in];
    for (struct pvma_branch *branch = first->route->branches; branch; branch = branch->next) {
        bool same_cell = branch->queue.length && branch->cells + 1 == first->cells;
        if (!same_cell || *taken >> branch->port & 1 || !may_send(x, branch))
            continue;
        *taken |= UINT64_C(1) << branch->port;
        transfer(x, branch);
    }
}

static void run_slot(struct pvma_event *event)
{
    struct crossbar *x = PVMA_OF(event, struct crossbar, slot);
    struct pvma_switch *s = x->s;
    uint64_t wants[PVMA_MATCHING_MAX], all = 0;
    int match[PVMA_MATCHING_MAX];
    x->last_slot = pvma_sim_now(s->node.sim);
    for (unsigned port = 0; port < s->options.ports; port++)
        all |= wants[port] = wanted_outputs(x, port);
    if (!all)
        return; /* an arrival, a credit or a free link schedules the next slot */
    s->counters.slots++;
    s->counters.matched +=
        pvma_matching_find(wants, s->options.ports, s->options.iterations, &s->random, x->served, match);
    uint64_t taken = 0;
    for (unsigned in = 0; in < s->options.ports; in++) {
        if (match[in] < 0)
            continue;
        taken |= UINT64_C(1) << match[in];
        transfer_matched(x, in, (unsigned)match[in]);
    }
    for (unsigned in = 0; in < s->options.ports; in++)
        if (match[in] >= 0 && x->moved[in]->route->branches->next)
            transfer_copies(x, in, &taken);
    wake(x);
}

static void enqueue(struct pvma_switch *s, struct pvma_branch *branch, struct pvma_cell *cell)
{
    struct crossbar *x = s->state;
    struct input *input = &x->input[branch->route->in_port];
    uint32_t places = s->options.credits ? s->options.credits : s->options.buffer_cells;
    uint32_t queued = s->options.inputs == PVMA_INPUTS_FIFO ? input->cells : branch->queue.length;
    if (queued >= places && (s->options.credits || s->options.buffer != PVMA_BUFFER_INFINITE)) {
        s->counters.dropped++;
        s->port_counters[branch->port].dropped++;
        branch->route->dropped++;
        pvma_sim_note(s->node.sim, s->counters.dropped);
        pvma_cell_put(s->node.cells, cell);
        return;
    }
    pvma_cellq_push(&branch->queue, cell);
    pvma_meter_add(s->node.port[branch->route->in_port].arriving, s->node.sim, 1);
    input->cells++;
    if (++queued > s->counters.most_queued)
        s->counters.most_queued = queued;
    join_round(x, branch);
    wake(x);
}

static void queue_cell(struct pvma_switch *s, struct pvma_route *route, struct pvma_cell *cell)
{
    for (struct pvma_branch *branch = route->branches; branch; branch = branch->next)
        enqueue(s, branch, pvma_switch_copy(s, cell, branch, !branch->next));
}

static void emit(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service)
{
    struct crossbar *x = s->state;
    (void)service;
    cell->at = pvma_sim_now(s->node.sim);
    pvma_cellq_push(&x->urgent[port], cell);
    send_next(s, port);
}

static void credit(struct pvma_switch *s, struct pvma_branch *branch)
{
    branch->credits++;
    if (branch->queue.length)
        wake(s->state);
}

static void forget(struct pvma_switch *s, struct pvma_branch *branch)
{
    struct crossbar *x = s->state;
    leave_round(x, branch);
    x->input[branch->route->in_port].cells -= branch->queue.length;
    pvma_meter_add(s->node.port[branch->route->in_port].arriving, s->node.sim, -(int)branch->queue.length);
    branch->cells = UINT64_MAX; /* no longer the slowest */
    bool alone = branch->route->branches == branch && !branch->next;
    if (!alone)
        return_credits(s, branch->route);
}

const struct pvma_fabric pvma_fabric_crossbar = {open_fabric, close_fabric, queue_cell, emit,
                                                 send_next,   credit,       forget};
