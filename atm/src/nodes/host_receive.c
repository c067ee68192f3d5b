/* host_receive.c - the receive path of a host: FIFO, reassembly, processor, user. */
#include <stdlib.h>
#include <string.h>
#include "host.h"
#include "vc_end.h"

/* ---- the processor ---- */

static void hand_over(struct pvma_job *job)
{
    struct pvma_incoming *pdu = PVMA_OF(job, struct pvma_incoming, job);
    struct pvma_host *host = pdu->host;
    struct pvma_vc *vc = pdu->vc;
    host->incoming = pdu->next;
    if (!host->incoming)
        host->incoming_tail = &host->incoming;
    host->waiting--;
    if (vc) {
        host->counters.pdus_received++;
        host->counters.bytes_received += pdu->length;
        pvma_sim_note(host->node.sim, (uint64_t)vc->ids.rx_vci << 32 ^ pdu->length);
        if (vc->handler && vc->handler->received)
            vc->handler->received(vc->arg, vc, pdu->data, pdu->length);
    }
    free(pdu);
}

static void to_processor(struct pvma_incoming *pdu)
{
    struct pvma_host *host = pdu->host;
    pdu->next = NULL;
    *host->incoming_tail = pdu;
    host->incoming_tail = &pdu->next;
    host->waiting++;
    pvma_ps cost =
        pvma_host_cost(host, PVMA_COST_rx_pdu) + (pvma_ps)pdu->length * pvma_host_cost(host, PVMA_COST_rx_byte);
    pvma_stage_put(&host->processor, &pdu->job, cost);
}

/* Copies the reassembled PDU out of the reassembler. */
static struct pvma_incoming *take_pdu(struct pvma_vc *vc)
{
    const struct pvma_reassembler *r = &vc->reassembler;
    struct pvma_incoming *pdu = pvma_new(sizeof *pdu + r->length);
    *pdu = (struct pvma_incoming){.job.done = hand_over, .host = vc->host, .vc = vc, .length = r->length};
    if (r->length)
        memcpy(pdu->data, r->data, r->length);
    return pdu;
}

static void hold(struct pvma_vc *vc)
{
    struct pvma_incoming *pdu = take_pdu(vc);
    *vc->held_tail = pdu;
    vc->held_tail = &pdu->next;
    vc->held_count++;
}

void pvma_vc_release_held(struct pvma_vc *vc)
{
    vc->hold = false;
    while (vc->held) {
        struct pvma_incoming *pdu = vc->held;
        vc->held = pdu->next;
        to_processor(pdu);
    }
    vc->held_tail = &vc->held;
    vc->held_count = 0;
}

static void accept_pdu(struct pvma_vc *vc)
{
    struct pvma_host *host = vc->host;
    int64_t limit = pvma_host_cost(host, PVMA_COST_rx_queue);
    if (!vc->handler && !vc->hold) {
        host->counters.reader_drops++;
    } else if ((vc->handler ? host->waiting : vc->held_count) >= limit) {
        host->counters.rx_queue_drops++;
        pvma_sim_note(host->node.sim, host->counters.rx_queue_drops);
    } else if (vc->handler) {
        to_processor(take_pdu(vc));
    } else {
        hold(vc);
    }
}

/* ---- reassembly ---- */

static struct pvma_vc *vc_of(const struct pvma_adapter *adapter, const struct pvma_cell *cell)
{
    return pvma_vctable_get(&adapter->rx, cell->vpi, cell->vci);
}

static void join_cell(struct pvma_adapter *adapter, struct pvma_cell *cell)
{
    struct pvma_host *host = adapter->host;
    struct pvma_vc *vc = vc_of(adapter, cell);
    if (pvma_host_cost(host, PVMA_COST_credits))
        pvma_link_return_credit(adapter->at->in, cell->vpi, cell->vci);
    enum pvma_aal_error error;
    enum pvma_reassembly result = vc ? pvma_reassembler_take(&vc->reassembler, cell, &error) : PVMA_MORE;
    pvma_cell_put(host->node.cells, cell);
    if (result == PVMA_DISCARDED)
        host->counters.aal[error]++;
    if (result == PVMA_PDU)
        accept_pdu(vc);
}

static pvma_ps join_cost(const struct pvma_adapter *adapter, const struct pvma_cell *cell)
{
    const struct pvma_host *host = adapter->host;
    const struct pvma_vc *vc = vc_of(adapter, cell);
    pvma_ps cost = pvma_host_cost(host, PVMA_COST_rx_cell) + pvma_host_cost(host, PVMA_COST_rx_bus);
    return vc && vc->aal == PVMA_AAL34 ? cost + pvma_host_cost(host, PVMA_COST_rx_aal34) : cost;
}

static void start_join(struct pvma_adapter *adapter)
{
    struct pvma_host *host = adapter->host;
    bool by_host = pvma_host_cost(host, PVMA_COST_sar);
    pvma_stage_put(by_host ? &host->processor : &adapter->rx_stage, &adapter->join_job,
                   join_cost(adapter, adapter->rx_fifo.head));
}

static void cell_is_joined(struct pvma_job *job)
{
    struct pvma_adapter *adapter = PVMA_OF(job, struct pvma_adapter, join_job);
    struct pvma_cell *cell = pvma_cellq_pop(&adapter->rx_fifo);
    pvma_meter_add(adapter->at->arriving, adapter->host->node.sim, -1);
    if (adapter->rx_fifo.head)
        start_join(adapter);
    join_cell(adapter, cell);
}

static void enter_fifo(struct pvma_adapter *adapter, struct pvma_cell *cell)
{
    struct pvma_host *host = adapter->host;
    if (adapter->rx_fifo.length >= pvma_host_cost(host, PVMA_COST_rx_fifo)) {
        host->counters.rx_fifo_drops++;
        pvma_sim_note(host->node.sim, host->counters.rx_fifo_drops);
        pvma_cell_put(host->node.cells, cell);
        return;
    }
    pvma_cellq_push(&adapter->rx_fifo, cell);
    pvma_meter_add(adapter->at->arriving, adapter->host->node.sim, 1);
    if (adapter->rx_fifo.length == 1)
        start_join(adapter);
}

/* ---- resource management of ABR, in the adapter ---- */

/* Turns a cell round. When many wait, the oldest is worth least. */
static void turn_round(struct pvma_vc *vc, struct pvma_rm *rm, struct pvma_cell *cell)
{
    enum { TURNED_MAX = 16 };
    struct pvma_cells *cells = vc->host->node.cells;
    rm->backward = true;
    pvma_rm_write(rm, cell);
    pvma_cellq_push(&vc->turned, cell);
    if (vc->turned.length > TURNED_MAX)
        pvma_cell_put(cells, pvma_cellq_pop(&vc->turned));
    vc->host->counters.rm_turned++;
    pvma_vc_wake(vc);
}

/* The network has told the rate: the time of the next cell changes with it. */
static void follow(struct pvma_vc *vc, const struct pvma_rm *rm)
{
    pvma_ps gap = vc->gap;
    pvma_abr_follow(vc->abr, rm);
    pvma_vc_pace(vc, vc->abr->rate_bps);
    vc->not_before += vc->not_before ? vc->gap - gap : 0;
    vc->host->counters.rm_returned++;
    pvma_sim_note(vc->host->node.sim, (uint64_t)vc->abr->rate_bps);
    pvma_vc_wake(vc);
}

static void take_rm(struct pvma_vc *vc, struct pvma_cell *cell)
{
    struct pvma_rm rm;
    struct pvma_host *host = vc->host;
    bool good = vc->abr && pvma_rm_read(&rm, cell);
    if (good && !rm.backward) {
        turn_round(vc, &rm, cell);
        return;
    }
    pvma_cell_put(host->node.cells, cell);
    if (good)
        follow(vc, &rm);
    else
        host->counters.rm_bad++;
}

/* ---- cells from the link ---- */

static void take_cell(struct pvma_adapter *adapter, struct pvma_vc *vc, struct pvma_cell *cell)
{
    if (pvma_cell_is_rm(cell)) {
        if (pvma_host_cost(adapter->host, PVMA_COST_credits))
            pvma_link_return_credit(adapter->at->in, cell->vpi, cell->vci);
        take_rm(vc, cell);
    } else if (join_cost(adapter, cell) == 0) {
        join_cell(adapter, cell);
    } else {
        enter_fifo(adapter, cell);
    }
}

void pvma_host_cell(struct pvma_node *node, unsigned port, struct pvma_cell *cell)
{
    struct pvma_host *host = pvma_host_of(node);
    struct pvma_adapter *adapter = &host->adapter[port];
    host->counters.cells_received++;
    if (pvma_cell_is_signalling(cell) && host->signal_cell) {
        host->signal_cell(host, port, cell);
        return;
    }
    struct pvma_vc *vc = vc_of(adapter, cell);
    if (!vc) {
        bool background = cell->vpi == PVMA_VPI_BACKGROUND;
        host->counters.rx_background += background;
        host->counters.rx_unknown += !background;
        pvma_cell_put(node->cells, cell);
    } else {
        take_cell(adapter, vc, cell);
    }
}

/* ---- life ---- */

void pvma_host_receive_init(struct pvma_host *host)
{
    host->incoming_tail = &host->incoming;
}

void pvma_adapter_receive_init(struct pvma_adapter *adapter)
{
    pvma_cellq_init(&adapter->rx_fifo);
    adapter->join_job.done = cell_is_joined;
}

void pvma_host_receive_end(struct pvma_host *host)
{
    while (host->incoming) {
        struct pvma_incoming *pdu = host->incoming;
        host->incoming = pdu->next;
        free(pdu);
    }
    for (unsigned port = 0; port < host->node.ports; port++)
        pvma_cellq_clear(&host->adapter[port].rx_fifo, host->node.cells);
}

void pvma_vc_forget_receives(struct pvma_vc *vc)
{
    for (struct pvma_incoming *pdu = vc->host->incoming; pdu; pdu = pdu->next)
        if (pdu->vc == vc)
            pdu->vc = NULL;
    while (vc->held) {
        struct pvma_incoming *pdu = vc->held;
        vc->held = pdu->next;
        free(pdu);
    }
}
