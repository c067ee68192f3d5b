/* connection.c - the calls of a station's programs: addresses, calls that the network dials, and relayed connections.
 */
#include <stdlib.h>
#include <utlist.h>
#include "station.h"

static bool is_ring(const struct pvma_overlay_station *station)
{
    return station->overlay->options->shape == PVMA_RING;
}

static struct pvma_overlay_message message(const struct pvma_connection *c, enum pvma_overlay_type type)
{
    return (struct pvma_overlay_message){.type = type,
                                         .mid = c->mid,
                                         .number = c->request.number,
                                         .caller = c->request.caller,
                                         .called = c->request.called,
                                         .server = c->server,
                                         .asap = c->request.asap,
                                         .turned = c->second && is_ring(c->station),
                                         .second = c->second,
                                         .contract = c->request.contract};
}

static void send_message(const struct pvma_connection *c, enum pvma_overlay_type type, int cause)
{
    struct pvma_overlay_message m = message(c, type);
    m.cause = (uint8_t)cause;
    pvma_overlay_station_send(c->station, &m);
}

/* ---- life of a connection ---- */

static void time_out(struct pvma_event *event);

static struct pvma_connection *connection_new(struct pvma_overlay_station *station,
                                              const struct pvma_call_request *request, enum pvma_overlay_state state)
{
    struct pvma_connection *c = pvma_new(sizeof *c);
    c->station = station;
    c->request = *request;
    c->state = state;
    pvma_event_init(&c->timer, PVMA_EVENT_OVERLAY, time_out);
    DL_APPEND(station->connections, c);
    station->connection_count++;
    return c;
}

/* Takes a connection out of the tables. */
static void detach(struct pvma_connection *c)
{
    pvma_sim_cancel(c->station->overlay->sim, &c->timer);
    pvma_overlay_flights_forget(c);
    DL_DELETE(c->station->connections, c);
    c->station->connection_count--;
    c->state = ENDED;
}

/* The network's side ends a connection, whose MID is not in use any more. */
static void end(struct pvma_connection *c, int cause)
{
    detach(c);
    pvma_call_end(c->call, cause);
    free(c);
}

static void fail(struct pvma_connection *c, int cause)
{
    pvma_overlay_counters_of(c->station)->unknown++;
    end(c, cause);
}

/* The program has released or refused a call, or the network has ended it while it was dialled. */
static void over(void *part, int cause)
{
    struct pvma_connection *c = part;
    if (c->mid) {
        pvma_hop_forget_mid(c->station->end, c->mid);
        send_message(c, PVMA_OVERLAY_RELEASE, cause);
    }
    detach(c);
    free(c);
}

/* ---- addresses ---- */

static void ask(struct pvma_connection *c)
{
    send_message(c, PVMA_OVERLAY_RESOLVE, 0);
    pvma_sim_after(c->station->overlay->sim, &c->timer, c->station->overlay->options->patience / 2);
}

/* No answer has come. */
static void time_out(struct pvma_event *event)
{
    struct pvma_connection *c = PVMA_OF(event, struct pvma_connection, timer);
    if (c->second || c->state == FAILING) {
        fail(c, PVMA_CAUSE_NO_ROUTE);
        return;
    }
    c->second = true;
    pvma_overlay_counters_of(c->station)->turned += is_ring(c->station);
    ask(c);
}

static struct pvma_overlay_station *station_at(const struct pvma_overlay *overlay, struct pvma_host *host)
{
    struct pvma_overlay_station *station = &overlay->stations[pvma_host_node(host)->number];
    return station->host ? station : NULL;
}

static void *open(void *arg, struct pvma_call *call, const struct pvma_call_request *request)
{
    const struct pvma_overlay *overlay = arg;
    struct pvma_overlay_station *station = station_at(overlay, request->from);
    const struct pvma_overlay_station *called = pvma_overlay_station_of(overlay, request->called);
    if (!station || !called || called == station)
        return NULL;
    struct pvma_connection *c = connection_new(station, request, ASKING);
    c->call = call;
    if (station->end->hop->is_down || !pvma_overlay_station_has_room(station)) {
        c->state = FAILING;
        pvma_sim_after(overlay->sim, &c->timer, 0);
    } else {
        ask(c);
    }
    return c;
}

/* ---- relayed connections: the caller ---- */

/* The MID goes first, so a connection has none or the station's end knows it. */
static bool set_up(struct pvma_connection *c)
{
    c->mid = pvma_hop_take_mid(c->station->end, c);
    if (!c->mid)
        return false;
    c->state = SETTING_UP;
    send_message(c, PVMA_OVERLAY_SETUP, 0);
    return true;
}

static bool insists(const struct pvma_bandwidth *minimum)
{
    return minimum->peak_bps || minimum->mean_bps || minimum->burst_cells;
}

/* Servers relay at best effort, whatever was wanted, from one station to one. */
static void carry(struct pvma_connection *c)
{
    struct pvma_contract *contract = &c->request.contract;
    if (insists(&contract->minimum) || insists(&contract->back_minimum)) {
        end(c, PVMA_CAUSE_NO_BANDWIDTH);
        return;
    }
    *contract = (struct pvma_contract){.aal = contract->aal, .flow = contract->flow};
    c->second = false;
    if (contract->flow == PVMA_MULTICAST || !set_up(c))
        end(c, PVMA_CAUSE_NO_VCI);
}

static void no_vci(void *part)
{
    carry(part);
}

static void dialled(void *part)
{
    struct pvma_connection *c = part;
    pvma_overlay_counters_of(c->station)->dialled++;
    detach(c);
    free(c);
}

static struct pvma_connection *find_asking(const struct pvma_overlay_station *station, uint32_t number)
{
    struct pvma_connection *c;
    DL_FOREACH (station->connections, c)
        if (c->state == ASKING && c->request.number == number)
            return c;
    return NULL;
}

void pvma_overlay_take_address(struct pvma_overlay_station *station, const struct pvma_overlay_message *m)
{
    struct pvma_connection *c = find_asking(station, m->number);
    struct pvma_overlay_counters *counters = pvma_overlay_counters_of(station);
    if (!c)
        return; /* the program has given up, or this is the second answer */
    pvma_sim_cancel(station->overlay->sim, &c->timer);
    if (m->cause) {
        fail(c, m->cause == PVMA_CAUSE_LINK_DOWN ? PVMA_CAUSE_NO_ROUTE : m->cause);
        return;
    }
    counters->resolved++;
    counters->hops += m->hops;
    counters->hops_max = m->hops > counters->hops_max ? m->hops : counters->hops_max;
    c->server = m->server;
    if (!m->direct) {
        carry(c);
        return;
    }
    c->state = DIALLING;
    pvma_call_dial(c->call);
}

/* ---- relayed connections: set-up and release ---- */

static void make_end(struct pvma_connection *c, bool is_caller)
{
    bool duplex = c->request.contract.flow == PVMA_DUPLEX;
    c->state = CONNECTED;
    c->vc = pvma_vc_add_carried(c->station->host, &c->request.contract, is_caller || duplex, !is_caller || duplex,
                                pvma_overlay_carry_packet, c);
}

static struct pvma_vc *accept(void *part, const struct pvma_contract *granted)
{
    struct pvma_connection *c = part;
    c->request.contract = *granted;
    make_end(c, false);
    send_message(c, PVMA_OVERLAY_CONNECT, 0);
    return c->vc;
}

void pvma_overlay_take_connect(struct pvma_overlay_station *station, const struct pvma_overlay_message *m)
{
    struct pvma_connection *c = pvma_hop_mid(station->end, m->mid);
    if (!c || c->state != SETTING_UP)
        return;
    pvma_overlay_counters_of(station)->relayed++;
    pvma_overlay_counters_of(station)->relay_hops += m->hops;
    c->request.contract = m->contract;
    make_end(c, true);
    pvma_call_connect(c->call, c->vc, &m->contract);
    pvma_overlay_release_early(station, m->mid);
}

void pvma_overlay_take_setup(struct pvma_overlay_station *station, const struct pvma_overlay_message *m)
{
    const struct pvma_overlay *overlay = station->overlay;
    struct pvma_call_request request = {.from = pvma_net_host_with(overlay->net, m->caller),
                                        .caller = m->caller,
                                        .called = m->called,
                                        .asap = m->asap,
                                        .number = m->number,
                                        .contract = m->contract};
    struct pvma_connection *c = connection_new(station, &request, OFFERED);
    c->mid = m->mid;
    if (!request.from || station_at(overlay, request.from) == station || !pvma_hop_note_mid(station->end, m->mid, c)) {
        pvma_overlay_counters_of(station)->refused++;
        pvma_hop_refuse_mid(station->end, m->mid, PVMA_CAUSE_NO_VCI);
        detach(c);
        free(c);
    } else if (!pvma_call_offer(station->host, &request, c, &c->call)) {
        over(c, PVMA_CAUSE_NO_LISTENER);
    }
}

/* The way of a set-up was down: a ring has another one. */
static bool may_turn(const struct pvma_connection *c, int cause)
{
    return cause == PVMA_CAUSE_LINK_DOWN && c->state == SETTING_UP && is_ring(c->station) && !c->second;
}

void pvma_overlay_take_release(struct pvma_overlay_station *station, const struct pvma_overlay_message *m)
{
    struct pvma_connection *c = pvma_hop_take_release(station->end, m);
    if (!c)
        return;
    c->mid = 0;
    if (may_turn(c, m->cause)) {
        c->second = true;
        if (set_up(c))
            return;
    }
    end(c, m->cause);
}

/* ---- the end of all ---- */

/* A callback may open and release calls, so those to be ended are marked first. */
void pvma_overlay_connections_end(struct pvma_overlay_station *station)
{
    struct pvma_connection *c, *next;
    DL_FOREACH (station->connections, c) {
        c->is_marked = c->state != DIALLING;
        c->mid = c->is_marked ? 0 : c->mid;
    }
    for (c = station->connections; c; c = next) {
        next = c->next;
        if (!c->is_marked)
            continue;
        if (c->state == ASKING || c->state == FAILING)
            fail(c, PVMA_CAUSE_NO_ROUTE);
        else
            end(c, PVMA_CAUSE_LINK_DOWN);
        next = station->connections;
    }
}

void pvma_overlay_connections_free(struct pvma_overlay_station *station)
{
    while (station->connections) {
        struct pvma_connection *c = station->connections;
        detach(c);
        free(c);
    }
}

const struct pvma_broker pvma_overlay_station_broker = {
    .open = open, .no_vci = no_vci, .dialled = dialled, .accept = accept, .over = over};
