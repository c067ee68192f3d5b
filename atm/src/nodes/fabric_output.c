/*
 * fabric_output.c - output queues, first in first out, in one buffer that all ports share (ASX-100, ASX-200, and the
 * thesis's switch). Each port has two priorities: guaranteed cells go first, those of ABR and of best effort follow in
 * the order of their arrival. A cell occupies the buffer until its transmission begins. A full buffer drops an arriving
 * cell, but one that is not of best effort pushes out one that is. From the first cell of an ABR VC on, an output
 * computes explicit rates (abr/erica.h).
 * Options discard cells before the buffer is full: cells with CLP 1, and the cells of AAL5 frames that are or will be
 * incomplete (early and partial packet discard, Romanow and Floyd 1995).
 */
#include <stdlib.h>
#include "abr/rm.h"
#include "fabric.h"

struct output {
    struct pvma_cellq queue[PVMA_SERVICES];
    struct pvma_erica *erica;     /* NULL: it had no cell of ABR yet */
    struct pvma_erica_vc emitted; /* cells that are of no VC of this switch, as one VC */
};

struct shared {
    uint32_t queued; /* cells in all queues */
    bool discards;   /* cells may be discarded before the buffer is full */
    struct output output[];
};

static void *open_fabric(struct pvma_switch *s)
{
    struct shared *shared = pvma_new(sizeof *shared + s->options.ports * sizeof shared->output[0]);
    for (unsigned port = 0; port < s->options.ports; port++)
        for (int service = 0; service < PVMA_SERVICES; service++)
            pvma_cellq_init(&shared->output[port].queue[service]);
    shared->discards = s->options.clp_cells || s->options.epd_cells || s->options.ppd;
    return shared;
}

static void close_fabric(struct pvma_switch *s)
{
    struct shared *shared = s->state;
    for (unsigned port = 0; port < s->options.ports; port++) {
        for (int service = 0; service < PVMA_SERVICES; service++)
            pvma_cellq_clear(&shared->output[port].queue[service], s->node.cells);
        free(shared->output[port].erica);
    }
    free(shared);
}

/* ---- explicit rates ---- */

/* Counts a cell that arrives for an output. */
static void watch(struct pvma_switch *s, unsigned port, enum pvma_service service, struct pvma_branch *branch)
{
    struct output *output = &((struct shared *)s->state)->output[port];
    pvma_ps now = pvma_sim_now(s->node.sim);
    if (service == PVMA_ABR) {
        s->counters.abr_cells++;
        if (!output->erica) {
            output->erica = pvma_new(sizeof *output->erica);
            pvma_erica_init(output->erica, s->node.port[port].out->options.rate_bps, now);
        }
    }
    if (!output->erica)
        return;
    if (service == PVMA_VBR)
        pvma_erica_count_guaranteed(output->erica);
    else
        pvma_erica_count(output->erica, branch ? &branch->erica : &output->emitted, now);
}

static void lower(struct pvma_switch *s, struct pvma_rm *rm, const struct pvma_branch *branch, struct pvma_cell *cell)
{
    struct pvma_erica *erica = ((struct shared *)s->state)->output[branch->port].erica;
    int64_t rate_bps = erica ? pvma_erica_rate(erica, &branch->erica) : rm->er_bps;
    if (rate_bps >= rm->er_bps)
        return;
    rm->er_bps = rate_bps;
    s->counters.rm_lowered++;
    pvma_rm_write(rm, cell);
}

/*
 * A forward cell tells this switch the VC's rate. The cell that comes back is told the rate of the output by which the
 * VC went; a VC that comes back by another way is told on its way there.
 */
static void manage(struct pvma_switch *s, const struct pvma_route *route, struct pvma_branch *branch,
                   struct pvma_cell *cell)
{
    struct pvma_rm rm;
    if (!pvma_rm_read(&rm, cell))
        return;
    if (!rm.backward)
        branch->erica.current_bps = rm.current_bps;
    if (rm.backward && route->other)
        lower(s, &rm, route->other->branches, cell);
    else if (!rm.backward && !route->other)
        lower(s, &rm, branch, cell);
}

/* ---- queues ---- */

/* The next cell of an output: guaranteed, or else the one that arrived first. */
static struct pvma_cell *next_cell(struct pvma_switch *s, unsigned port)
{
    struct pvma_cellq *queue = ((struct shared *)s->state)->output[port].queue;
    struct pvma_cell *guaranteed = pvma_cellq_pop(&queue[PVMA_VBR]);
    if (guaranteed)
        return guaranteed;
    const struct pvma_cell *abr = queue[PVMA_ABR].head, *ubr = queue[PVMA_UBR].head;
    if (!abr || (ubr && ubr->at < abr->at))
        return pvma_cellq_pop(&queue[PVMA_UBR]);
    return pvma_cellq_pop(&queue[PVMA_ABR]);
}

static void send_next(struct pvma_switch *s, unsigned port)
{
    struct shared *shared = s->state;
    struct pvma_link *link = s->node.port[port].out;
    if (!link || !pvma_link_is_free(link))
        return;
    struct pvma_cell *cell = next_cell(s, port);
    if (!cell)
        return;
    shared->queued--;
    pvma_meter_add(s->node.port[port].departing, s->node.sim, -1);
    s->counters.cells_out++;
    s->port_counters[port].sent++;
    s->port_counters[port].waited += (uint64_t)(pvma_sim_now(s->node.sim) - cell->at);
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
    if (!counted && service != PVMA_UBR && push_out(s))
        return true;
    s->counters.would_drop += counted;
    s->port_counters[port].would_drop += counted;
    s->counters.dropped += !counted;
    s->counters.abr_dropped += !counted && service == PVMA_ABR;
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

static bool offer(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service,
                  struct pvma_route *route)
{
    if (has_place(s, port, service, route)) {
        enqueue(s, port, cell, service);
        return true;
    }
    pvma_sim_note(s->node.sim, s->counters.dropped);
    pvma_cell_put(s->node.cells, cell);
    return false;
}

/* ---- discarding before the buffer is full ---- */

/* Discards a cell of a VC and counts it. */
static void discard(struct pvma_switch *s, struct pvma_route *route, struct pvma_cell *cell, uint64_t *in_switch,
                    uint64_t *at_port)
{
    ++*in_switch;
    ++*at_port;
    route->dropped++;
    pvma_sim_note(s->node.sim, *in_switch);
    pvma_cell_put(s->node.cells, cell);
}

/* Early packet discard: a frame that begins above the threshold is discarded as a whole. */
static void begin_frame(struct pvma_switch *s, struct pvma_branch *branch)
{
    const struct shared *shared = s->state;
    bool early = s->options.epd_cells && branch->route->service == PVMA_UBR && shared->queued >= s->options.epd_cells;
    s->counters.epd_frames += early;
    s->port_counters[branch->port].epd_frames += early;
    branch->frame = early ? PVMA_FRAME_LOST : PVMA_FRAME_GOES;
}

/*
 * After a loss, partial packet discard gives up the rest of the frame. A lost last cell joins the next frame to this
 * one at the receiver, so the branch then stays as it is, and the next frame is given up too.
 */
static void end_cell(struct pvma_switch *s, struct pvma_branch *branch, bool last, bool lost)
{
    bool cut = lost && s->options.ppd;
    if (cut && (last || branch->frame != PVMA_FRAME_CUT)) {
        s->counters.ppd_frames++;
        s->port_counters[branch->port].ppd_frames++;
    }
    if (cut)
        branch->frame = PVMA_FRAME_CUT;
    else if (last)
        branch->frame = PVMA_FRAME_NONE;
}

/* Offers a cell whose loss priority lets it be discarded above a threshold; false when it was lost. */
static bool offer_by_priority(struct pvma_switch *s, struct pvma_branch *branch, struct pvma_cell *cell)
{
    const struct shared *shared = s->state;
    if (!cell->clp || !s->options.clp_cells || shared->queued < s->options.clp_cells)
        return offer(s, branch->port, cell, branch->route->service, branch->route);
    discard(s, branch->route, cell, &s->counters.clp_dropped, &s->port_counters[branch->port].clp_dropped);
    return false;
}

static void offer_selectively(struct pvma_switch *s, struct pvma_branch *branch, struct pvma_cell *cell)
{
    struct pvma_switch_port_counters *port = &s->port_counters[branch->port];
    bool last = cell->pti & PVMA_PTI_END;
    if (!branch->route->has_frames || pvma_cell_is_rm(cell)) {
        offer_by_priority(s, branch, cell);
        return;
    }
    if (branch->frame == PVMA_FRAME_NONE)
        begin_frame(s, branch);
    if (branch->frame == PVMA_FRAME_LOST) {
        discard(s, branch->route, cell, &s->counters.epd_cells, &port->epd_cells);
        branch->frame = last ? PVMA_FRAME_NONE : PVMA_FRAME_LOST;
    } else if (branch->frame == PVMA_FRAME_CUT && !last) {
        discard(s, branch->route, cell, &s->counters.ppd_cells, &port->ppd_cells);
    } else {
        end_cell(s, branch, last, !offer_by_priority(s, branch, cell));
    }
}

/* ---- cells ---- */

static void queue_cell(struct pvma_switch *s, struct pvma_route *route, struct pvma_cell *cell)
{
    const struct shared *shared = s->state;
    for (struct pvma_branch *branch = route->branches, *next; branch; branch = next) {
        next = branch->next;
        branch->cells++;
        struct pvma_cell *copy = pvma_switch_copy(s, cell, branch, !next);
        watch(s, branch->port, route->service, branch);
        if (pvma_cell_is_rm(copy))
            manage(s, route, branch, copy);
        if (shared->discards)
            offer_selectively(s, branch, copy);
        else
            offer(s, branch->port, copy, route->service, route);
    }
}

/* A full buffer does not drop signalling cells, see call.h. */
static void emit(struct pvma_switch *s, unsigned port, struct pvma_cell *cell, enum pvma_service service)
{
    cell->at = pvma_sim_now(s->node.sim);
    watch(s, port, service, NULL);
    if (pvma_cell_is_signalling(cell))
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
