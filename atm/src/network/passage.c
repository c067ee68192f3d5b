/*
 * passage.c - calls through a switch. A passage has one input and a leg for each output: a single one, or with
 * multicast one for each further switch and for each party on a host. The switch that sends SETUP over a link takes the
 * channels of both directions on it and returns them; the next switch does the same for the following links.
 */
#include <stdlib.h>
#include "core/hash.h"
#include "nodes/channel.h"
#include "control.h"
#include "nodes/fabric.h"
#include "network_parts.h"

struct key {
    struct pvma_address caller;
    uint32_t call;
};

struct leg {
    struct leg *next;
    unsigned port;
    struct pvma_channel *out, *back; /* back: duplex only */
    struct pvma_branch *branch, *back_branch;
    unsigned parties;
};

struct party {
    struct party *next;
    uint16_t number;
    struct leg *leg;
};

struct pvma_passage {
    struct key key;
    UT_hash_handle hh;
    unsigned in_port;
    struct pvma_signal setup; /* as received: identifiers, contract */
    struct leg *legs;
    struct party *parties;
};

static struct pvma_switch *switch_of(struct pvma_control *control)
{
    return pvma_switch_of(control->node);
}

static struct pvma_passage *find(struct pvma_control *control, const struct pvma_signal *signal)
{
    struct key key = {signal->caller, signal->call};
    struct pvma_passage *passage;
    HASH_FIND(hh, control->passages, &key, sizeof key, passage);
    return passage;
}

static struct party *find_party(struct pvma_passage *passage, uint16_t number)
{
    struct party *party = passage->parties;
    while (party && party->number != number)
        party = party->next;
    return party;
}

/* ---- legs ---- */

/* Takes channels of both directions on the link of a port. Returns 0, or a cause and takes nothing. */
static int take_channels(struct pvma_control *control, struct leg *leg, const struct pvma_contract *contract)
{
    struct pvma_port *port = &control->node->port[leg->port];
    int cause = pvma_channel_take_counted(port->out, &contract->wanted, &contract->minimum, &leg->out);
    if (cause || contract->flow != PVMA_DUPLEX)
        return cause;
    cause = pvma_channel_take_counted(port->in, &contract->back_wanted, &contract->back_minimum, &leg->back);
    if (cause)
        pvma_channel_give_back(leg->out);
    return cause;
}

static void connect_leg(struct pvma_control *control, struct pvma_passage *passage, struct leg *leg)
{
    struct pvma_switch *s = switch_of(control);
    const struct pvma_signal *in = &passage->setup;
    struct pvma_route *route = pvma_switch_route(s, passage->in_port, in->vpi, in->vci);
    if (!route)
        route = pvma_switch_add_route(s, passage->in_port, in->vpi, in->vci, &in->contract);
    pvma_switch_police(s, route, &in->contract.wanted);
    leg->branch = pvma_switch_add_branch(s, route, leg->port, leg->out->vpi, leg->out->vci);
    if (!leg->back)
        return;
    route = pvma_switch_add_route(s, leg->port, leg->back->vpi, leg->back->vci, &in->contract);
    pvma_switch_police(s, route, &leg->back->granted);
    leg->back_branch = pvma_switch_add_branch(s, route, passage->in_port, in->back_vpi, in->back_vci);
    pvma_switch_pair(leg->branch->route, route);
}

/* Returns what exceeds the contract that the called side has accepted. */
static void lower_leg(struct pvma_control *control, struct leg *leg, const struct pvma_contract *contract)
{
    pvma_channel_lower(leg->out, &contract->wanted);
    pvma_switch_police(switch_of(control), leg->branch->route, &contract->wanted);
    if (!leg->back)
        return;
    pvma_channel_lower(leg->back, &contract->back_wanted);
    pvma_switch_police(switch_of(control), leg->back_branch->route, &leg->back->granted);
}

static void remove_leg(struct pvma_control *control, struct pvma_passage *passage, struct leg *leg)
{
    struct leg **at = &passage->legs;
    while (*at != leg)
        at = &(*at)->next;
    *at = leg->next;
    pvma_switch_remove_branch(switch_of(control), leg->branch);
    pvma_channel_give_back(leg->out);
    if (leg->back) {
        pvma_switch_remove_branch(switch_of(control), leg->back_branch);
        pvma_channel_give_back(leg->back);
    }
    free(leg);
}

/* The leg to another switch on this port, which a party can share; NULL when there is none. */
static struct leg *shared_leg(struct pvma_control *control, struct pvma_passage *passage, unsigned port)
{
    if (control->node->port[port].out->to->is_host)
        return NULL;
    struct leg *leg = passage->legs;
    while (leg && leg->port != port)
        leg = leg->next;
    return leg;
}

/* ---- parties ---- */

static void add_party(struct pvma_passage *passage, uint16_t number, struct leg *leg)
{
    struct party *party = pvma_new(sizeof *party);
    *party = (struct party){passage->parties, number, leg};
    passage->parties = party;
    leg->parties++;
}

static void remove_party(struct pvma_control *control, struct pvma_passage *passage, struct party *party)
{
    struct party **at = &passage->parties;
    while (*at != party)
        at = &(*at)->next;
    *at = party->next;
    if (--party->leg->parties == 0)
        remove_leg(control, passage, party->leg);
    free(party);
    if (passage->parties)
        return;
    HASH_DEL(control->passages, passage);
    free(passage);
}

static void refuse(struct pvma_control *control, unsigned port, const struct pvma_signal *signal, int cause)
{
    struct pvma_signal release = {.type = PVMA_RELEASE,
                                  .call = signal->call,
                                  .party = signal->party,
                                  .caller = signal->caller,
                                  .called = signal->called,
                                  .cause = (uint8_t)cause};
    pvma_control_send(control, port, &release);
}

static int way_to(struct pvma_control *control, struct pvma_address called)
{
    struct pvma_host *host = pvma_net_host_with(control->net, called);
    return host ? pvma_routing_port(control->net->routing, control->node, pvma_host_node(host)->number) : -1;
}

/* Adds a leg for a party and sends SETUP over it. Returns 0 or a cause. */
static int set_up(struct pvma_control *control, struct pvma_passage *passage, unsigned port,
                  const struct pvma_signal *signal)
{
    struct leg *leg = pvma_new(sizeof *leg);
    leg->port = port;
    int cause = take_channels(control, leg, &passage->setup.contract);
    if (cause) {
        free(leg);
        return cause;
    }
    leg->next = passage->legs;
    passage->legs = leg;
    connect_leg(control, passage, leg);
    add_party(passage, signal->party, leg);
    struct pvma_signal on = *signal;
    on.type = PVMA_SETUP;
    on.contract = passage->setup.contract;
    on.contract.wanted = leg->out->granted;
    on.vpi = leg->out->vpi;
    on.vci = leg->out->vci;
    if (leg->back) {
        on.contract.back_wanted = leg->back->granted;
        on.back_vpi = leg->back->vpi;
        on.back_vci = leg->back->vci;
    }
    pvma_control_send(control, port, &on);
    return 0;
}

/* ---- messages ---- */

static void take_setup(struct pvma_control *control, unsigned port, const struct pvma_signal *signal)
{
    int way = way_to(control, signal->called);
    bool known = find(control, signal) || pvma_switch_route(switch_of(control), port, signal->vpi, signal->vci);
    if (way < 0 || known || (unsigned)way == port) {
        refuse(control, port, signal, known ? PVMA_CAUSE_BAD_MESSAGE : PVMA_CAUSE_NO_ROUTE);
        return;
    }
    struct pvma_passage *passage = pvma_new(sizeof *passage);
    passage->key = (struct key){signal->caller, signal->call};
    passage->in_port = port;
    passage->setup = *signal;
    int cause = set_up(control, passage, (unsigned)way, signal);
    if (cause) {
        free(passage);
        refuse(control, port, signal, cause);
        return;
    }
    if (!PVMC_HASH_ADD(hh, control->passages, key, passage))
        pvma_out_of_memory();
}

static void take_add_party(struct pvma_control *control, unsigned port, const struct pvma_signal *signal)
{
    struct pvma_passage *passage = find(control, signal);
    int way = way_to(control, signal->called);
    if (!passage || port != passage->in_port || passage->setup.contract.flow != PVMA_MULTICAST || way < 0 ||
        (unsigned)way == port || find_party(passage, signal->party)) {
        refuse(control, port, signal, passage ? PVMA_CAUSE_NO_ROUTE : PVMA_CAUSE_NO_CALL);
        return;
    }
    struct leg *leg = shared_leg(control, passage, (unsigned)way);
    if (leg) {
        add_party(passage, signal->party, leg);
        pvma_control_send(control, leg->port, signal);
        return;
    }
    int cause = set_up(control, passage, (unsigned)way, signal);
    if (cause)
        refuse(control, port, signal, cause);
}

static void take_connect(struct pvma_control *control, unsigned port, const struct pvma_signal *signal)
{
    struct pvma_passage *passage = find(control, signal);
    struct party *party = passage ? find_party(passage, signal->party) : NULL;
    if (!party || party->leg->port != port)
        return; /* the call has ended in the meantime, and a message tells the party */
    if (passage->setup.contract.flow != PVMA_MULTICAST) {
        lower_leg(control, party->leg, &signal->contract);
    }
    pvma_control_send(control, passage->in_port, signal);
}

/* RELEASE from the caller: releases one party or all, and forwards the message to them. */
static void release_down(struct pvma_control *control, struct pvma_passage *passage, const struct pvma_signal *signal)
{
    bool last = false;
    for (struct party *party = passage->parties, *next; party && !last; party = next) {
        next = party->next;
        if (signal->party != PVMA_PARTY_ALL && signal->party != party->number)
            continue;
        struct pvma_signal on = *signal;
        on.party = party->number;
        pvma_control_send(control, party->leg->port, &on);
        last = !passage->parties->next; /* removing it frees the passage */
        remove_party(control, passage, party);
    }
}

static void take_release(struct pvma_control *control, unsigned port, const struct pvma_signal *signal)
{
    struct pvma_passage *passage = find(control, signal);
    if (!passage)
        return;
    if (port == passage->in_port) {
        release_down(control, passage, signal);
        return;
    }
    struct party *party = find_party(passage, signal->party);
    if (!party || party->leg->port != port)
        return;
    pvma_control_send(control, passage->in_port, signal);
    remove_party(control, passage, party);
}

/* Ends the parties behind a port, and tells the caller's side. The passage goes with its last party. */
static void lose_parties(struct pvma_control *control, struct pvma_passage *passage, unsigned port)
{
    struct pvma_signal release = passage->setup;
    release.type = PVMA_RELEASE;
    release.cause = PVMA_CAUSE_LINK_DOWN;
    for (struct party *party = passage->parties, *next; party; party = next) {
        next = party->next;
        if (party->leg->port != port)
            continue;
        release.party = party->number;
        pvma_control_send(control, passage->in_port, &release);
        remove_party(control, passage, party);
    }
}

void pvma_passages_lose_link(struct pvma_control *control, unsigned port)
{
    struct pvma_passage *passage, *next;
    HASH_ITER (hh, control->passages, passage, next) {
        if (passage->in_port != port) {
            lose_parties(control, passage, port);
            continue;
        }
        struct pvma_signal release = passage->setup;
        release.type = PVMA_RELEASE;
        release.party = PVMA_PARTY_ALL;
        release.cause = PVMA_CAUSE_LINK_DOWN;
        release_down(control, passage, &release);
    }
}

void pvma_passage_act(struct pvma_control *control, unsigned port, const struct pvma_signal *signal)
{
    switch (signal->type) {
    case PVMA_SETUP:
        take_setup(control, port, signal);
        break;
    case PVMA_CONNECT:
        take_connect(control, port, signal);
        break;
    case PVMA_RELEASE:
        take_release(control, port, signal);
        break;
    case PVMA_ADD_PARTY:
        take_add_party(control, port, signal);
        break;
    }
}

void pvma_passages_free(struct pvma_control *control)
{
    struct pvma_passage *passage, *next;
    HASH_ITER (hh, control->passages, passage, next) {
        for (bool last = false; !last;) {
            last = !passage->parties->next;
            remove_party(control, passage, passage->parties);
        }
    }
}
