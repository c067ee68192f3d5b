/*
 * host_send.c - the send path of a host: processor, then an adapter's segmentation, FIFO, link. An adapter's VCs
 * with something to send form a round;
 * the first that has a credit and whose pacing allows it supplies the next cell.
 */
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "host.h"
#include "base/mbuf.h"
#include "vc_end.h"

enum { INJECTED_MAX = 256 }; /* cells of background sources that wait in an adapter */

static void pump(struct pvma_adapter *adapter);

/* ---- the round ---- */

static void join_round(struct pvma_vc *vc)
{
    struct pvma_adapter *adapter = vc->tx;
    if (vc->active)
        return;
    vc->active = true;
    vc->next_active = NULL;
    *adapter->round_tail = vc;
    adapter->round_tail = &vc->next_active;
    adapter->round_length++;
}

static struct pvma_vc *leave_round(struct pvma_adapter *adapter)
{
    struct pvma_vc *vc = adapter->round;
    adapter->round = vc->next_active;
    if (!adapter->round)
        adapter->round_tail = &adapter->round;
    adapter->round_length--;
    vc->active = false;
    return vc;
}

static bool has_cells(const struct pvma_vc *vc)
{
    return vc->ready || vc->injected.head || vc->turned.head;
}

static bool may_send(const struct pvma_vc *vc)
{
    bool no_credit = vc->ids.credits && !vc->credits;
    return !no_credit && has_cells(vc) && (vc->turned.head || vc->not_before <= pvma_sim_now(vc->host->node.sim));
}

/* A paced VC that is due moves to the front of the round, or it would fall behind its rate. */
static bool find_paced(struct pvma_adapter *adapter)
{
    struct pvma_vc *vc = adapter->has_paced ? adapter->round : NULL;
    while (vc && !(vc->gap && may_send(vc)))
        vc = vc->next_active;
    while (vc && adapter->round != vc)
        join_round(leave_round(adapter));
    return vc;
}

/*
 * Brings the first VC that may send now to the front of the round; false when there is none. VCs without credits leave
 * the round until one arrives. *due is lowered to the time at which a paced VC may send again.
 */
static bool find_sender(struct pvma_adapter *adapter, pvma_ps *due)
{
    if (find_paced(adapter))
        return true;
    for (unsigned left = adapter->round_length; left; left--) {
        struct pvma_vc *vc = adapter->round;
        if (may_send(vc))
            return true;
        leave_round(adapter);
        if ((vc->ids.credits && !vc->credits) || !has_cells(vc))
            continue;
        if (vc->not_before < *due)
            *due = vc->not_before;
        join_round(vc);
    }
    return false;
}

/* ---- cutting ---- */

/* A sender that waits for its call continues. */
static void release_sender(struct pvma_vc *vc, uint64_t cookie)
{
    if (vc->handler && vc->handler->taken)
        vc->handler->taken(vc->arg, vc, cookie);
}

/* If the host cuts the cells, the call that sends a PDU lasts until it has cut them. */
static bool cuts_in_call(const struct pvma_host *host)
{
    return pvma_host_cost(host, PVMA_COST_sar);
}

static void free_pdu(struct pvma_outgoing *pdu)
{
    pvma_payload_drop(pdu->payload);
    free(pdu);
}

static void finish_pdu(struct pvma_vc *vc)
{
    struct pvma_host *host = vc->host;
    struct pvma_outgoing *pdu = vc->ready;
    uint64_t cookie = pdu->cookie;
    vc->ready = pdu->next;
    if (!vc->ready)
        vc->ready_tail = &vc->ready;
    vc->cutting = false;
    vc->queued--;
    vc->tx->queued--;
    host->counters.pdus_sent++;
    host->counters.bytes_sent += pdu->payload->length;
    free_pdu(pdu);
    if (vc->handler && vc->handler->sent)
        vc->handler->sent(vc->arg, vc, cookie);
    if (cuts_in_call(host))
        release_sender(vc, cookie); /* the last: it may close the VC */
}

/* Notifies VCs that were refused. A handler may close any VC, so the scan restarts after each call. */
static void tell_of_room(struct pvma_adapter *adapter)
{
    struct pvma_host *host = adapter->host;
    for (struct pvma_vc *vc = host->vcs, *next; vc && adapter->queued < pvma_host_cost(host, PVMA_COST_tx_queue);
         vc = next) {
        next = vc->next;
        if (!vc->wants_room || vc->tx != adapter)
            continue;
        vc->wants_room = false;
        if (vc->handler && vc->handler->room)
            vc->handler->room(vc->arg, vc);
        next = host->vcs;
    }
}

static struct pvma_cell *cut_cell(struct pvma_vc *vc)
{
    if (!vc->cutting) {
        pvma_segmenter_start(&vc->segmenter, vc->aal, 0, vc->ready->payload->data, vc->ready->payload->length);
        vc->cutting = true;
    }
    struct pvma_cell *cell = pvma_cell_new(vc->host->node.cells);
    pvma_segmenter_next(&vc->segmenter, cell);
    return cell;
}

static pvma_ps cut_cost(const struct pvma_vc *vc)
{
    const struct pvma_host *host = vc->host;
    pvma_ps cost = pvma_host_cost(host, PVMA_COST_tx_cell) + pvma_host_cost(host, PVMA_COST_tx_bus);
    return vc->aal == PVMA_AAL34 ? cost + pvma_host_cost(host, PVMA_COST_tx_aal34) : cost;
}

/* The ABR source's cell of resource management, which may change its rate. */
static struct pvma_cell *forward_cell(struct pvma_vc *vc)
{
    struct pvma_host *host = vc->host;
    struct pvma_cell *cell = pvma_cell_new(host->node.cells);
    struct pvma_rm rm;
    pvma_abr_forward(vc->abr, pvma_sim_now(host->node.sim), &rm);
    pvma_vc_pace(vc, vc->abr->rate_bps);
    pvma_rm_write(&rm, cell);
    host->counters.rm_sent++;
    return cell;
}

/* A cell that costs nothing, since the adapter makes or has it: of resource management or of a source; or NULL. */
static struct pvma_cell *ready_cell(struct pvma_vc *vc)
{
    if (vc->abr && pvma_abr_is_due(vc->abr))
        return forward_cell(vc);
    if (vc->abr)
        pvma_abr_count(vc->abr);
    return pvma_cellq_pop(&vc->injected);
}

/* The next cell of a VC in its rate. */
static struct pvma_cell *paced_cell(struct pvma_vc *vc, pvma_ps *cost, bool *done)
{
    struct pvma_cell *cell = ready_cell(vc);
    *cost = cell ? 0 : cut_cost(vc);
    if (!cell) {
        cell = cut_cell(vc);
        *done = vc->segmenter.next == vc->segmenter.cells;
    }
    vc->not_before = vc->gap ? pvma_sim_now(vc->host->node.sim) + vc->gap : 0;
    return cell;
}

/* Takes the next cell of the VC at the front and advances the round. *done: it was the last cell of its PDU. */
static struct pvma_cell *next_cell(struct pvma_vc *vc, pvma_ps *cost, bool *done)
{
    struct pvma_host *host = vc->host;
    struct pvma_cell *cell = pvma_cellq_pop(&vc->turned);
    *cost = 0;
    *done = false;
    if (!cell)
        cell = paced_cell(vc, cost, done);
    cell->vpi = vc->ids.tx_vpi;
    cell->vci = vc->ids.tx_vci;
    vc->cells++;
    vc->credits -= vc->ids.credits != 0;
    if (*done || pvma_host_cost(host, PVMA_COST_turn)) {
        leave_round(vc->tx);
        join_round(vc);
    }
    return cell;
}

static void feed_link(struct pvma_adapter *adapter)
{
    struct pvma_link *link = adapter->at->out;
    if (!link || !pvma_link_is_free(link))
        return;
    struct pvma_cell *cell = pvma_cellq_pop(&adapter->urgent);
    if (!cell)
        cell = pvma_cellq_pop(&adapter->fifo);
    if (!cell)
        return;
    pvma_meter_add(adapter->at->departing, adapter->host->node.sim, -1);
    adapter->host->counters.cells_sent++;
    pvma_link_send(link, cell);
}

static void cell_is_cut(struct pvma_job *job)
{
    struct pvma_adapter *adapter = PVMA_OF(job, struct pvma_adapter, cut_job);
    pvma_cellq_push(&adapter->fifo, adapter->being_cut);
    pvma_meter_add(adapter->at->departing, adapter->host->node.sim, 1);
    adapter->being_cut = NULL;
    feed_link(adapter);
    pump(adapter);
}

static void start_cell(struct pvma_adapter *adapter, struct pvma_cell *cell, pvma_ps cost)
{
    struct pvma_host *host = adapter->host;
    if (!cost) {
        pvma_cellq_push(&adapter->fifo, cell);
        pvma_meter_add(adapter->at->departing, adapter->host->node.sim, 1);
        feed_link(adapter);
        return;
    }
    adapter->being_cut = cell;
    bool by_host = pvma_host_cost(host, PVMA_COST_sar);
    pvma_stage_put(by_host ? &host->processor : &adapter->tx_stage, &adapter->cut_job, cost);
}

/* Segments cells while there are any, the FIFO has room and no cell is in progress. */
static void pump(struct pvma_adapter *adapter)
{
    pvma_ps due = PVMA_NEVER;
    bool room = false;
    int64_t fifo = pvma_host_cost(adapter->host, PVMA_COST_tx_fifo);
    while (!adapter->being_cut && adapter->fifo.length < fifo && find_sender(adapter, &due)) {
        pvma_ps cost;
        bool done;
        struct pvma_vc *vc = adapter->round;
        struct pvma_cell *cell = next_cell(vc, &cost, &done);
        start_cell(adapter, cell, cost);
        if (done)
            finish_pdu(vc);
        room |= done;
    }
    if (due != PVMA_NEVER)
        pvma_sim_at(adapter->host->node.sim, &adapter->due, due);
    if (room)
        tell_of_room(adapter);
}

static void pacing_is_over(struct pvma_event *event)
{
    pump(PVMA_OF(event, struct pvma_adapter, due));
}

void pvma_host_link_free(struct pvma_node *node, unsigned port)
{
    struct pvma_adapter *adapter = &pvma_host_of(node)->adapter[port];
    feed_link(adapter);
    pump(adapter);
}

void pvma_host_credit(struct pvma_node *node, unsigned port, uint16_t vpi, uint16_t vci)
{
    struct pvma_adapter *adapter = &pvma_host_of(node)->adapter[port];
    struct pvma_vc *vc = pvma_vctable_get(&adapter->tx, vpi, vci);
    if (!vc || !vc->ids.credits)
        return;
    vc->credits++;
    if (has_cells(vc))
        join_round(vc);
    pump(adapter);
}

/* ---- the processor ---- */

static bool floods(const struct pvma_host *host)
{
    return pvma_host_cost(host, PVMA_COST_send);
}

static bool is_full(const struct pvma_adapter *adapter)
{
    return adapter->queued >= pvma_host_cost(adapter->host, PVMA_COST_tx_queue);
}

static void drop_pdu(struct pvma_vc *vc, struct pvma_outgoing *pdu, enum pvma_drop why)
{
    uint64_t cookie = pdu->cookie;
    vc->queued--;
    free_pdu(pdu);
    if (vc->handler && vc->handler->dropped)
        vc->handler->dropped(vc->arg, vc, cookie, why);
}

static void enqueue(struct pvma_vc *vc, struct pvma_outgoing *pdu)
{
    pdu->next = NULL;
    *vc->ready_tail = pdu;
    vc->ready_tail = &pdu->next;
    join_round(vc);
}

static void leave_processor(struct pvma_host *host)
{
    host->working = host->working->next;
    if (!host->working)
        host->working_tail = &host->working;
}

/* Drops a PDU that found the send queue full (send=flood). The handler may close the VC, which clears pdu->vc. */
static void lose(struct pvma_host *host, struct pvma_outgoing *pdu)
{
    struct pvma_vc *vc = pdu->vc;
    host->counters.tx_queue_drops++;
    release_sender(vc, pdu->cookie);
    leave_processor(host);
    if (pdu->vc)
        drop_pdu(vc, pdu, PVMA_DROP_QUEUE);
    else
        free_pdu(pdu);
}

/* A sender that waits for its call continues before the adapter reports anything about the PDU. */
static void keep(struct pvma_host *host, struct pvma_outgoing *pdu)
{
    struct pvma_vc *vc = pdu->vc;
    uint64_t cookie = pdu->cookie;
    leave_processor(host);
    vc->tx->queued += floods(host);
    enqueue(vc, pdu);
    if (!cuts_in_call(host))
        release_sender(vc, cookie);
}

/* The processor has finished with a PDU, which enters the send queue if there is room. */
static void processed(struct pvma_job *job)
{
    struct pvma_outgoing *pdu = PVMA_OF(job, struct pvma_outgoing, job);
    struct pvma_adapter *adapter = pdu->adapter;
    struct pvma_host *host = adapter->host;
    if (!pdu->vc) {
        leave_processor(host);
        free_pdu(pdu);
    } else if (floods(host) && is_full(adapter)) {
        lose(host, pdu);
    } else {
        keep(host, pdu);
    }
    pump(adapter);
}

static int check_send(const struct pvma_vc *vc, size_t length)
{
    if (!vc->ids.sends)
        return PVMC_EPARAM;
    if (length > pvma_vc_mtu(vc) || (vc->aal == PVMA_AAL_RAW && !length))
        return PVMC_ELIMIT;
    return 0;
}

static int send_pdu(struct pvma_vc *vc, const void *data, size_t length, uint64_t cookie, pvma_ps more)
{
    struct pvma_host *host = vc->host;
    int error = check_send(vc, length);
    if (error)
        return error;
    if (vc->carrier)
        return vc->carrier(vc->carrier_arg, data, length, cookie);
    if (!floods(host) && is_full(vc->tx)) {
        host->counters.tx_queue_waits++;
        vc->wants_room = true;
        return PVMC_EAGAIN;
    }
    struct pvma_outgoing *pdu = pvma_new(sizeof *pdu);
    *pdu = (struct pvma_outgoing){.job.done = processed,
                                  .adapter = vc->tx,
                                  .vc = vc,
                                  .cookie = cookie,
                                  .payload = pvma_payload_share(&vc->payload, data, length)};
    *host->working_tail = pdu;
    host->working_tail = &pdu->next;
    vc->queued++;
    vc->tx->queued += !floods(host);
    pvma_stage_put(&host->processor, &pdu->job,
                   pvma_host_cost(host, PVMA_COST_tx_pdu) + (pvma_ps)length * pvma_host_cost(host, PVMA_COST_tx_byte) +
                       pvma_mbufs(length) * pvma_host_cost(host, PVMA_COST_tx_mbuf) + more);
    return 0;
}

void pvma_vc_wake(struct pvma_vc *vc)
{
    if (has_cells(vc))
        join_round(vc);
    pump(vc->tx);
}

int pvma_vc_send(struct pvma_vc *vc, const void *data, size_t length, uint64_t cookie)
{
    return send_pdu(vc, data, length, cookie, 0);
}

int pvma_vc_send_again(struct pvma_vc *vc, const void *data, size_t length, uint64_t cookie)
{
    return send_pdu(vc, data, length, cookie, pvma_host_cost(vc->host, PVMA_COST_tx_again));
}

void pvma_vc_inject(struct pvma_vc *vc, struct pvma_cell *cell)
{
    if (vc->injected.length >= INJECTED_MAX) {
        vc->host->counters.inject_drops++;
        pvma_cell_put(vc->host->node.cells, cell);
        return;
    }
    pvma_cellq_push(&vc->injected, cell);
    join_round(vc);
    pump(vc->tx);
}

void pvma_host_urgent(struct pvma_host *host, unsigned port, struct pvma_cell *cell)
{
    struct pvma_adapter *adapter = &host->adapter[port];
    pvma_cellq_push(&adapter->urgent, cell);
    pvma_meter_add(adapter->at->departing, adapter->host->node.sim, 1);
    feed_link(adapter);
}

/* ---- life ---- */

static void take_from_round(struct pvma_vc *vc)
{
    for (unsigned left = vc->active ? vc->tx->round_length : 0; left; left--) {
        struct pvma_vc *first = leave_round(vc->tx);
        if (first != vc)
            join_round(first);
    }
}

void pvma_vc_forget_sends(struct pvma_vc *vc)
{
    struct pvma_host *host = vc->host;
    take_from_round(vc);
    for (struct pvma_outgoing *pdu = host->working; pdu; pdu = pdu->next) {
        if (pdu->vc == vc) {
            pdu->vc = NULL;
            vc->tx->queued -= !floods(host);
        }
    }
    while (vc->ready) {
        struct pvma_outgoing *pdu = vc->ready;
        vc->ready = pdu->next;
        vc->tx->queued--;
        drop_pdu(vc, pdu, PVMA_DROP_CLOSED);
    }
    pvma_cellq_clear(&vc->injected, host->node.cells);
    pvma_cellq_clear(&vc->turned, host->node.cells);
}

void pvma_host_send_init(struct pvma_host *host)
{
    host->working_tail = &host->working;
}

void pvma_adapter_send_init(struct pvma_adapter *adapter)
{
    adapter->round_tail = &adapter->round;
    adapter->cut_job.done = cell_is_cut;
    pvma_event_init(&adapter->due, PVMA_EVENT_SEGMENT, pacing_is_over);
    pvma_cellq_init(&adapter->fifo);
    pvma_cellq_init(&adapter->urgent);
}

void pvma_host_send_end(struct pvma_host *host)
{
    while (host->working) {
        struct pvma_outgoing *pdu = host->working;
        host->working = pdu->next;
        free_pdu(pdu);
    }
    for (unsigned port = 0; port < host->node.ports; port++) {
        struct pvma_adapter *adapter = &host->adapter[port];
        if (adapter->being_cut)
            pvma_cell_put(host->node.cells, adapter->being_cut);
        pvma_cellq_clear(&adapter->fifo, host->node.cells);
        pvma_cellq_clear(&adapter->urgent, host->node.cells);
    }
}
