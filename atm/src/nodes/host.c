/* host.c - hosts and the ends of VCs: creation, queries, removal. Data moves in host_send.c and host_receive.c. */
#include "host.h"
#include <stdlib.h>
#include <string.h>
#include "vc_end.h"

static const struct pvma_node_ops host_ops = {pvma_host_cell, pvma_host_link_free, pvma_host_credit};

static void init_adapter(struct pvma_host *host, unsigned port)
{
    struct pvma_adapter *adapter = &host->adapter[port];
    adapter->host = host;
    adapter->at = &host->node.port[port];
    pvma_stage_init(&adapter->tx_stage, host->node.sim);
    pvma_stage_init(&adapter->rx_stage, host->node.sim);
    pvma_vctable_init(&adapter->rx);
    pvma_vctable_init(&adapter->tx);
    pvma_adapter_send_init(adapter);
    pvma_adapter_receive_init(adapter);
}

struct pvma_host *pvma_host_new(struct pvma_sim *sim, struct pvma_cells *cells, const char *name, unsigned number,
                                const struct pvma_profile *profile, unsigned adapters)
{
    struct pvma_host *host = pvma_new(sizeof *host + adapters * sizeof host->adapter[0]);
    host->node = (struct pvma_node){.ops = &host_ops,
                                    .sim = sim,
                                    .cells = cells,
                                    .name = pvma_copy_text(name),
                                    .ports = adapters,
                                    .port = pvma_new(adapters * sizeof *host->node.port),
                                    .number = number,
                                    .is_host = true,
                                    .credits = (uint32_t)profile->cost[PVMA_COST_credits]};
    host->profile = profile;
    host->mtu = (size_t)profile->cost[PVMA_COST_mtu];
    pvma_stage_init(&host->processor, sim);
    pvma_host_send_init(host);
    pvma_host_receive_init(host);
    for (unsigned port = 0; port < adapters; port++)
        init_adapter(host, port);
    return host;
}

/* ---- ends of VCs ---- */

void pvma_vc_pace(struct pvma_vc *vc, int64_t rate_bps)
{
    vc->gap = rate_bps ? pvma_link_cell_time(rate_bps) : 0;
    vc->tx->has_paced |= vc->gap != 0;
}

void pvma_vc_control(struct pvma_vc *vc, const struct pvma_bandwidth *granted, int64_t initial_bps)
{
    int64_t link_bps = vc->tx->at->out->options.rate_bps, peak_bps = granted->peak_bps;
    if (!vc->abr)
        vc->abr = pvma_new(sizeof *vc->abr);
    pvma_abr_init(vc->abr, peak_bps && peak_bps < link_bps ? peak_bps : link_bps, granted->mean_bps, initial_bps);
    pvma_vc_pace(vc, vc->abr->rate_bps);
}

static struct pvma_vc *new_vc(struct pvma_host *host, enum pvma_aal aal, const struct pvma_vc_ids *ids)
{
    struct pvma_vc *vc = pvma_new(sizeof *vc);
    vc->host = host;
    vc->tx = &host->adapter[ids->tx_port];
    vc->rx = &host->adapter[ids->rx_port];
    vc->aal = aal;
    vc->ids = *ids;
    vc->credits = ids->credits;
    vc->ready_tail = &vc->ready;
    vc->held_tail = &vc->held;
    pvma_cellq_init(&vc->injected);
    pvma_cellq_init(&vc->turned);
    pvma_reassembler_init(&vc->reassembler, aal, PVMA_PDU_MAX);
    vc->next = host->vcs;
    host->vcs = vc;
    pvma_vc_pace(vc, ids->paced_bps);
    return vc;
}

struct pvma_vc *pvma_vc_add(struct pvma_host *host, enum pvma_aal aal, const struct pvma_vc_ids *ids)
{
    struct pvma_vc *vc = new_vc(host, aal, ids);
    if (ids->sends)
        pvma_vctable_set(&vc->tx->tx, ids->tx_vpi, ids->tx_vci, vc);
    if (ids->receives)
        pvma_vctable_set(&vc->rx->rx, ids->rx_vpi, ids->rx_vci, vc);
    return vc;
}

static void unlink_vc(struct pvma_vc *vc)
{
    struct pvma_host *host = vc->host;
    struct pvma_vc **at = &host->vcs;
    while (*at != vc)
        at = &(*at)->next;
    *at = vc->next;
    if (vc->carrier)
        return;
    if (vc->ids.sends)
        pvma_vctable_remove(&vc->tx->tx, vc->ids.tx_vpi, vc->ids.tx_vci);
    if (vc->ids.receives)
        pvma_vctable_remove(&vc->rx->rx, vc->ids.rx_vpi, vc->ids.rx_vci);
}

void pvma_vc_remove(struct pvma_vc *vc, int cause)
{
    unlink_vc(vc);
    pvma_vc_forget_sends(vc);
    pvma_vc_forget_receives(vc);
    if (vc->handler && vc->handler->closed)
        vc->handler->closed(vc->arg, vc, cause);
    pvma_reassembler_free(&vc->reassembler);
    pvma_payload_drop(vc->payload);
    free(vc->abr);
    free(vc);
}

void pvma_host_free(struct pvma_host *host)
{
    for (struct pvma_vc *vc = host->vcs; vc; vc = vc->next)
        vc->handler = NULL;
    while (host->vcs)
        pvma_vc_remove(host->vcs, 0);
    pvma_host_send_end(host);
    pvma_host_receive_end(host);
    for (unsigned port = 0; port < host->node.ports; port++) {
        pvma_vctable_free(&host->adapter[port].rx);
        pvma_vctable_free(&host->adapter[port].tx);
    }
    free(host->node.port);
    free(host->node.name);
    free(host);
}

void pvma_vc_handle(struct pvma_vc *vc, const struct pvma_vc_handler *handler, void *arg)
{
    vc->handler = handler;
    vc->arg = arg;
    if (handler)
        pvma_vc_release_held(vc);
}

/* ---- ends carried by others ---- */

struct pvma_vc *pvma_vc_add_carried(struct pvma_host *host, const struct pvma_contract *contract, bool sends,
                                    bool receives, pvma_vc_carrier *carrier, void *arg)
{
    const struct pvma_vc_ids ids = {.sends = sends, .receives = receives};
    struct pvma_vc *vc = new_vc(host, contract->aal, &ids);
    vc->carrier = carrier;
    vc->carrier_arg = arg;
    return vc;
}

const struct pvma_vc_handler *pvma_vc_handler(const struct pvma_vc *vc, void **arg)
{
    static const struct pvma_vc_handler nobody;
    *arg = vc->arg;
    return vc->handler ? vc->handler : &nobody;
}

void pvma_vc_count_queued(struct pvma_vc *vc, int change)
{
    vc->queued += (unsigned)change;
}

void pvma_vc_set_mtu(struct pvma_vc *vc, size_t mtu)
{
    vc->mtu = mtu;
}

/* ---- queries ---- */

size_t pvma_host_mtu(const struct pvma_host *host)
{
    return host->mtu;
}

void pvma_host_set_mtu(struct pvma_host *host, size_t mtu)
{
    host->mtu = mtu;
}

struct pvma_host *pvma_vc_host(const struct pvma_vc *vc)
{
    return vc->host;
}

size_t pvma_vc_mtu(const struct pvma_vc *vc)
{
    return vc->mtu ? vc->mtu : vc->host->mtu;
}

bool pvma_vc_sends(const struct pvma_vc *vc)
{
    return vc->ids.sends;
}

unsigned pvma_vc_queued(const struct pvma_vc *vc)
{
    return vc->queued;
}

int64_t pvma_vc_abr_rate(const struct pvma_vc *vc)
{
    return vc->abr ? vc->abr->rate_bps : 0;
}

uint64_t pvma_vc_cells(const struct pvma_vc *vc)
{
    return vc->cells;
}

uint64_t pvma_vc_useless_cells(const struct pvma_vc *vc)
{
    return vc->reassembler.useless_cells;
}

void pvma_vc_identifiers(const struct pvma_vc *vc, uint16_t *vpi, uint16_t *vci)
{
    *vpi = vc->ids.sends ? vc->ids.tx_vpi : vc->ids.rx_vpi;
    *vci = vc->ids.sends ? vc->ids.tx_vci : vc->ids.rx_vci;
}

const char *pvma_host_name(const struct pvma_host *host)
{
    return host->node.name;
}

const struct pvma_profile *pvma_host_profile(const struct pvma_host *host)
{
    return host->profile;
}

struct pvma_host_counters *pvma_host_counters(struct pvma_host *host)
{
    return &host->counters;
}

struct pvma_node *pvma_host_node(struct pvma_host *host)
{
    return &host->node;
}

struct pvma_host *pvma_host_of(struct pvma_node *node)
{
    return PVMA_OF(node, struct pvma_host, node);
}

struct pvma_stage *pvma_host_processor(struct pvma_host *host)
{
    return &host->processor;
}

unsigned pvma_host_queued(const struct pvma_host *host)
{
    unsigned queued = 0;
    for (unsigned port = 0; port < host->node.ports; port++)
        queued += host->adapter[port].queued;
    return queued;
}
