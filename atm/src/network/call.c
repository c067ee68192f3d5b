/* call.c - calls at the hosts: the caller, the called side, and listeners. */
#include "call.h"
#include <stdlib.h>
#include "core/error.h"
#include "nodes/channel.h"
#include "broker.h"
#include "control.h"
#include "network_parts.h"
#include "nodes/vc_end.h"

enum state { ASKED, OFFERED, CONNECTED };

struct party {
    struct party *next;
    uint16_t number;
    bool there; /* connected; false: the request is unanswered */
};

struct pvma_call {
    struct pvma_call *next;
    struct pvma_control *control;
    bool caller;
    unsigned port; /* of the host, over which the call goes */
    enum state state;
    uint32_t number;
    struct pvma_address from, to;
    struct pvma_contract contract;
    const struct pvma_call_handler *handler;
    void *arg;
    struct pvma_vc *vc;
    void *part; /* of the network's broker; NULL: it has none in this call */
    uint32_t asap;
    /* the caller */
    struct pvma_channel *out, *back; /* back: duplex only */
    struct party *parties;
    uint16_t last_party;
    struct pvma_event refusal; /* a later refusal of a call that cannot start */
    int refusal_cause;
    /* the called side */
    uint16_t party;
    struct pvma_vc_ids ids; /* of the VC's end, for when the call is accepted */
};

struct pvma_listen {
    struct pvma_listen *next;
    uint32_t asap;
    pvma_listener *listener;
    void *arg;
};

static struct pvma_control *control_of(const struct pvma_host *host)
{
    return host->control;
}

static struct pvma_host *host_of(const struct pvma_call *call)
{
    return pvma_host_of(call->control->node);
}

/* ---- parties ---- */

static struct party **find_party(struct pvma_call *call, uint16_t number)
{
    struct party **at = &call->parties;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

static void add_party(struct pvma_call *call, uint16_t number)
{
    struct party *party = pvma_new(sizeof *party);
    *party = (struct party){call->parties, number, false};
    call->parties = party;
}

static void remove_party(struct party **at)
{
    struct party *party = *at;
    *at = party->next;
    free(party);
}

/* ---- life ---- */

static struct pvma_call *new_call(struct pvma_control *control)
{
    struct pvma_call *call = pvma_new(sizeof *call);
    call->control = control;
    call->next = control->calls;
    control->calls = call;
    return call;
}

/* Returns what a call holds of the network. */
static void hang_up(struct pvma_call *call, int cause)
{
    if (call->vc)
        pvma_vc_remove(call->vc, cause);
    if (call->out)
        pvma_channel_give_back(call->out);
    if (call->back)
        pvma_channel_give_back(call->back);
    while (call->parties)
        remove_party(&call->parties);
    call->vc = NULL;
    call->out = call->back = NULL;
}

static const struct pvma_broker *broker_of(const struct pvma_call *call)
{
    return call->control->net->broker;
}

/* Ends the broker's part in a call. */
static void leave_broker(struct pvma_call *call, int cause)
{
    void *part = call->part;
    call->part = NULL;
    if (part && broker_of(call))
        broker_of(call)->over(part, cause);
}

/* Returns everything a call holds, and frees it. */
static void free_call(struct pvma_call *call, int cause)
{
    struct pvma_call **at = &call->control->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    if (call->caller)
        pvma_sim_cancel(call->control->node->sim, &call->refusal);
    leave_broker(call, cause);
    hang_up(call, cause);
    free(call);
}

/* Whether the broker may carry a call for which the network has no VCI. */
static bool may_be_carried(const struct pvma_call *call, int cause)
{
    return call->caller && call->part && call->state == ASKED && cause == PVMA_CAUSE_NO_VCI &&
           call->contract.flow != PVMA_MULTICAST;
}

static void end(struct pvma_call *call, int cause)
{
    if (may_be_carried(call, cause)) {
        hang_up(call, cause);
        broker_of(call)->no_vci(call->part);
        return;
    }
    if (call->handler && call->handler->ended)
        call->handler->ended(call->arg, call, cause);
    free_call(call, cause);
}

static struct pvma_call *find(struct pvma_control *control, const struct pvma_signal *signal, bool caller)
{
    struct pvma_call *call = control->calls;
    for (; call; call = call->next)
        if (call->caller == caller && call->number == signal->call &&
            call->from.switch_id == signal->caller.switch_id && call->from.port == signal->caller.port &&
            (caller || call->party == signal->party))
            break;
    return call;
}

static struct pvma_signal message(const struct pvma_call *call, enum pvma_signal_type type)
{
    return (struct pvma_signal){
        .type = type, .call = call->number, .party = call->party, .caller = call->from, .called = call->to};
}

/* ---- the caller ---- */

static void refused(struct pvma_event *event)
{
    struct pvma_call *call = PVMA_OF(event, struct pvma_call, refusal);
    end(call, call->refusal_cause);
}

/* The port that leads to the called host, or, if none does, the first that works: then the next node refuses. -1: none
 * works. */
static int way_out(const struct pvma_call *call)
{
    const struct pvma_node *node = call->control->node;
    struct pvma_host *to = pvma_net_host_with(call->control->net, call->to);
    int port = to ? pvma_routing_port(call->control->net->routing, node, pvma_host_node(to)->number) : -1;
    for (unsigned i = 0; i < node->ports && port < 0; i++)
        if (node->port[i].out && !node->port[i].out->is_down)
            port = (int)i;
    return port;
}

static int take_channels(struct pvma_call *call)
{
    const struct pvma_contract *contract = &call->contract;
    int way = way_out(call);
    if (way < 0)
        return PVMA_CAUSE_NO_ROUTE;
    call->port = (unsigned)way;
    const struct pvma_port *port = &call->control->node->port[way];
    int cause = pvma_channel_take_counted(port->out, &contract->wanted, &contract->minimum, &call->out);
    if (cause || contract->flow != PVMA_DUPLEX)
        return cause;
    return pvma_channel_take_counted(port->in, &contract->back_wanted, &contract->back_minimum, &call->back);
}

/* The caller's end exists from the start and holds PDUs that arrive before the answer. */
static void make_end(struct pvma_call *call)
{
    struct pvma_vc_ids ids = {.sends = true,
                              .receives = call->back != NULL,
                              .tx_port = call->port,
                              .rx_port = call->port,
                              .tx_vpi = call->out->vpi,
                              .tx_vci = call->out->vci,
                              .credits = call->out->link->to->credits};
    if (call->back) {
        ids.rx_vpi = call->back->vpi;
        ids.rx_vci = call->back->vci;
    }
    call->vc = pvma_vc_add(host_of(call), call->contract.aal, &ids);
    call->vc->hold = true;
}

static void send_setup(struct pvma_call *call)
{
    struct pvma_signal setup = message(call, PVMA_SETUP);
    setup.asap = call->asap;
    setup.contract = call->contract;
    setup.contract.wanted = call->out->granted;
    setup.vpi = call->out->vpi;
    setup.vci = call->out->vci;
    if (call->back) {
        setup.contract.back_wanted = call->back->granted;
        setup.back_vpi = call->back->vpi;
        setup.back_vci = call->back->vci;
    }
    pvma_control_originate(call->control, call->port, &setup);
}

/* Whether the network knows of the call: it was not refused at once, nor is it the broker's. */
static bool is_signalled(const struct pvma_call *call)
{
    return call->caller ? call->out != NULL : !call->part;
}

/* A callback may release other calls, so the search begins again after each. */
void pvma_calls_lose_link(struct pvma_control *control, unsigned port)
{
    for (struct pvma_call *call = control->calls; call;) {
        bool lost = call->port == port && is_signalled(call);
        if (lost)
            end(call, PVMA_CAUSE_LINK_DOWN);
        call = lost ? control->calls : call->next;
    }
}

void pvma_call_dial(struct pvma_call *call)
{
    call->refusal_cause = take_channels(call);
    if (call->refusal_cause) {
        pvma_sim_after(call->control->node->sim, &call->refusal, 0);
        return;
    }
    make_end(call);
    add_party(call, 0);
    send_setup(call);
}

struct pvma_call *pvma_call_open(struct pvma_host *from, struct pvma_address to, uint32_t asap,
                                 const struct pvma_contract *contract, const struct pvma_call_handler *handler,
                                 void *arg)
{
    struct pvma_control *control = control_of(from);
    struct pvma_call *call = new_call(control);
    call->caller = true;
    call->number = ++control->last_call;
    call->from = pvma_host_address(from);
    call->to = to;
    call->contract = *contract;
    call->handler = handler;
    call->arg = arg;
    call->asap = asap;
    pvma_event_init(&call->refusal, PVMA_EVENT_REFUSAL, refused);
    const struct pvma_call_request request = {from, call->from, to, asap, call->number, *contract};
    const struct pvma_broker *broker = control->net->broker;
    if (broker)
        call->part = broker->open(control->net->broker_arg, call, &request);
    if (!call->part)
        pvma_call_dial(call);
    return call;
}

int pvma_call_add_party(struct pvma_call *call, struct pvma_address to, uint32_t asap)
{
    if (!call->caller || call->state != CONNECTED || call->contract.flow != PVMA_MULTICAST ||
        call->last_party == PVMA_PARTY_ALL - 1)
        return PVMC_EPARAM;
    struct pvma_signal add = message(call, PVMA_ADD_PARTY);
    add.party = ++call->last_party;
    add.called = to;
    add.asap = asap;
    add_party(call, add.party);
    pvma_control_originate(call->control, call->port, &add);
    return add.party;
}

int pvma_call_drop_party(struct pvma_call *call, uint16_t party)
{
    struct party **at = find_party(call, party);
    if (!*at)
        return PVMC_ENOTFOUND;
    if (!call->parties->next)
        return PVMC_EPARAM;
    remove_party(at);
    struct pvma_signal drop = message(call, PVMA_RELEASE);
    drop.party = party;
    drop.cause = PVMA_CAUSE_NORMAL;
    pvma_control_originate(call->control, call->port, &drop);
    return 0;
}

void pvma_call_connect(struct pvma_call *call, struct pvma_vc *vc, const struct pvma_contract *granted)
{
    call->state = CONNECTED;
    call->contract = *granted;
    call->vc = vc;
    if (call->handler && call->handler->connected)
        call->handler->connected(call->arg, call, vc, &call->contract);
}

/* The broker has nothing to do with a VC of the network. */
static void leave_to_network(struct pvma_call *call)
{
    void *part = call->part;
    call->part = NULL;
    if (part)
        broker_of(call)->dialled(part);
}

static void connect_first(struct pvma_call *call, const struct pvma_signal *signal)
{
    leave_to_network(call);
    call->state = CONNECTED;
    call->contract = signal->contract;
    pvma_channel_lower(call->out, &signal->contract.wanted);
    if (call->back)
        pvma_channel_lower(call->back, &signal->contract.back_wanted);
    if (signal->contract.paced)
        pvma_vc_pace(call->vc, signal->contract.wanted.peak_bps);
    if (signal->contract.service == PVMA_ABR)
        pvma_vc_control(call->vc, &signal->contract.wanted, 0);
    if (call->handler && call->handler->connected)
        call->handler->connected(call->arg, call, call->vc, &call->contract);
}

static void take_connect(struct pvma_control *control, const struct pvma_signal *signal)
{
    struct pvma_call *call = find(control, signal, true);
    struct party *party = call ? *find_party(call, signal->party) : NULL;
    if (!party || party->there)
        return; /* dropped in the meantime */
    party->there = true;
    if (call->state == ASKED)
        connect_first(call, signal);
    else if (call->handler && call->handler->party)
        call->handler->party(call->arg, call, signal->party, 0);
}

static void party_is_gone(struct pvma_call *call, const struct pvma_signal *signal)
{
    struct party **at = find_party(call, signal->party);
    if (!*at)
        return;
    bool there = (*at)->there;
    remove_party(at);
    if (!call->parties)
        end(call, signal->cause);
    else if (there && call->handler && call->handler->party_left)
        call->handler->party_left(call->arg, call, signal->party, signal->cause);
    else if (!there && call->handler && call->handler->party)
        call->handler->party(call->arg, call, signal->party, signal->cause);
}

/* ---- the called side ---- */

static struct pvma_listen *find_listener(const struct pvma_control *control, uint32_t asap)
{
    struct pvma_listen *listen = control->listening;
    while (listen && listen->asap != asap)
        listen = listen->next;
    return listen;
}

static void offer(struct pvma_control *control, unsigned port, const struct pvma_listen *listen,
                  const struct pvma_signal *signal)
{
    struct pvma_call *call = new_call(control);
    bool duplex = signal->contract.flow == PVMA_DUPLEX;
    call->state = OFFERED;
    call->port = port;
    call->number = signal->call;
    call->party = signal->party;
    call->from = signal->caller;
    call->to = signal->called;
    call->contract = signal->contract;
    call->ids = (struct pvma_vc_ids){
        .receives = true, .tx_port = port, .rx_port = port, .rx_vpi = signal->vpi, .rx_vci = signal->vci};
    if (duplex) {
        call->ids.sends = true;
        call->ids.tx_vpi = signal->back_vpi;
        call->ids.tx_vci = signal->back_vci;
        call->ids.credits = control->node->port[port].out->to->credits;
    }
    listen->listener(listen->arg, call, signal->caller, &call->contract);
}

static void refuse(struct pvma_control *control, unsigned port, const struct pvma_signal *signal, enum pvma_cause cause)
{
    struct pvma_signal refusal = *signal;
    refusal.type = PVMA_RELEASE;
    refusal.cause = (uint8_t)cause;
    pvma_control_send(control, port, &refusal);
}

static void take_setup(struct pvma_control *control, unsigned port, const struct pvma_signal *signal)
{
    const struct pvma_adapter *adapter = &pvma_host_of(control->node)->adapter[port];
    const struct pvma_listen *listen = find_listener(control, signal->asap);
    if (pvma_vctable_get(&adapter->rx, signal->vpi, signal->vci) || find(control, signal, false))
        refuse(control, port, signal, PVMA_CAUSE_BAD_MESSAGE);
    else if (!listen)
        refuse(control, port, signal, PVMA_CAUSE_NO_LISTENER);
    else
        offer(control, port, listen, signal);
}

static void lower(struct pvma_bandwidth *to, const struct pvma_bandwidth *granted)
{
    if (granted->peak_bps < to->peak_bps)
        to->peak_bps = granted->peak_bps;
    if (granted->mean_bps < to->mean_bps)
        to->mean_bps = granted->mean_bps;
    if (granted->burst_cells < to->burst_cells)
        to->burst_cells = granted->burst_cells;
}

static void answer(struct pvma_call *call)
{
    struct pvma_contract *contract = &call->contract;
    int64_t back_peak = contract->back_wanted.peak_bps;
    call->ids.paced_bps = contract->paced ? back_peak : 0;
    call->vc = pvma_vc_add(host_of(call), contract->aal, &call->ids);
    if (contract->service == PVMA_ABR)
        pvma_vc_control(call->vc, &contract->back_wanted, 0);
    struct pvma_signal connect = message(call, PVMA_CONNECT);
    connect.contract = *contract;
    pvma_control_originate(call->control, call->port, &connect);
}

struct pvma_vc *pvma_call_accept(struct pvma_call *call, const struct pvma_bandwidth *granted,
                                 const struct pvma_call_handler *handler, void *arg)
{
    if (granted && call->contract.flow != PVMA_MULTICAST) /* a tree has one bandwidth, fixed by the first party */
        lower(&call->contract.wanted, granted);
    call->state = CONNECTED;
    call->handler = handler;
    call->arg = arg;
    if (call->part)
        call->vc = broker_of(call)->accept(call->part, &call->contract);
    else
        answer(call);
    return call->vc;
}

void pvma_call_watch(struct pvma_call *call, const struct pvma_call_handler *handler, void *arg)
{
    call->handler = handler;
    call->arg = arg;
}

bool pvma_call_is_other_end(const struct pvma_call *offered, const struct pvma_call *asking)
{
    return !offered->caller && asking->caller && offered->number == asking->number &&
           offered->from.switch_id == asking->from.switch_id && offered->from.port == asking->from.port;
}

struct pvma_address pvma_call_peer(const struct pvma_call *call)
{
    return call->caller ? call->to : call->from;
}

static void send_release(struct pvma_call *call, enum pvma_cause cause)
{
    struct pvma_signal release = message(call, PVMA_RELEASE);
    release.party = call->caller ? PVMA_PARTY_ALL : call->party;
    release.cause = (uint8_t)cause;
    pvma_control_originate(call->control, call->port, &release);
}

void pvma_call_refuse(struct pvma_call *call, enum pvma_cause cause)
{
    if (is_signalled(call))
        send_release(call, cause);
    free_call(call, cause);
}

void pvma_call_abandon(struct pvma_call *call, enum pvma_cause cause)
{
    if (is_signalled(call))
        send_release(call, cause);
    free_call(call, cause);
}

void pvma_call_release(struct pvma_call *call)
{
    pvma_call_abandon(call, PVMA_CAUSE_NORMAL);
}

/* ---- messages ---- */

static void take_release(struct pvma_control *control, const struct pvma_signal *signal)
{
    struct pvma_call *call = find(control, signal, true);
    if (call)
        party_is_gone(call, signal);
    else if ((call = find(control, signal, false)))
        end(call, signal->cause);
}

void pvma_call_act(struct pvma_control *control, unsigned port, const struct pvma_signal *signal)
{
    switch (signal->type) {
    case PVMA_SETUP:
        take_setup(control, port, signal);
        break;
    case PVMA_CONNECT:
        take_connect(control, signal);
        break;
    case PVMA_RELEASE:
        take_release(control, signal);
        break;
    case PVMA_ADD_PARTY: /* from a host linked to this one without a switch: no node could branch */
        refuse(control, port, signal, PVMA_CAUSE_NO_ROUTE);
        break;
    }
}

/* ---- for the broker ---- */

void pvma_call_end(struct pvma_call *call, int cause)
{
    call->part = NULL;
    end(call, cause);
}

bool pvma_call_offer(struct pvma_host *host, const struct pvma_call_request *request, void *part,
                     struct pvma_call **offered)
{
    const struct pvma_listen *listen = find_listener(control_of(host), request->asap);
    if (!listen)
        return false;
    struct pvma_call *call = *offered = new_call(control_of(host));
    call->state = OFFERED;
    call->number = request->number;
    call->from = request->caller;
    call->to = request->called;
    call->asap = request->asap;
    call->contract = request->contract;
    call->part = part;
    listen->listener(listen->arg, call, request->caller, &call->contract);
    return true;
}

/* ---- listeners ---- */

int pvma_host_listen(struct pvma_host *host, uint32_t asap, pvma_listener *listener, void *arg)
{
    struct pvma_control *control = control_of(host);
    if (find_listener(control, asap))
        return PVMC_EEXISTS;
    struct pvma_listen *listen = pvma_new(sizeof *listen);
    *listen = (struct pvma_listen){control->listening, asap, listener, arg};
    control->listening = listen;
    return 0;
}

void pvma_host_unlisten(struct pvma_host *host, uint32_t asap)
{
    struct pvma_listen **at = &control_of(host)->listening;
    while (*at && (*at)->asap != asap)
        at = &(*at)->next;
    struct pvma_listen *listen = *at;
    if (!listen)
        return;
    *at = listen->next;
    free(listen);
}

struct pvma_vc *pvma_call_vc(const struct pvma_call *call)
{
    return call->state == CONNECTED ? call->vc : NULL;
}

struct pvma_address pvma_host_address(const struct pvma_host *host)
{
    const struct pvma_link *link = host->node.port[0].out;
    if (!link || link->to->is_host)
        return (struct pvma_address){0, host->node.number};
    return (struct pvma_address){link->to->number + 1, link->to_port};
}

void pvma_calls_free(struct pvma_control *control)
{
    while (control->calls) {
        if (control->calls->vc)
            control->calls->vc->handler = NULL;
        free_call(control->calls, 0);
    }
    while (control->listening) {
        struct pvma_listen *listen = control->listening;
        control->listening = listen->next;
        free(listen);
    }
}
