/* station.c - stations of the overlay: the calls of their programs, dialled or relayed. */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/error.h"
#include "parts.h"

enum {
    WORK_MAX = 4096,        /* messages that wait for the processor, of either direction */
    CONNECTIONS_MAX = 4096, /* of a station */
    EARLY_MAX = 64,         /* packets that arrive before the connection is there */
};

enum state {
    ASKING,   /* for the address */
    FAILING,  /* there is no way to the server: ends at once, but not within the caller's call */
    DIALLING, /* the network makes the call */
    SETTING_UP,
    OFFERED, /* to this station */
    CONNECTED,
    ENDED,
};

/* A packet that has arrived before the connection is there. */
struct early {
    struct early *next;
    size_t length;
    uint8_t data[];
};

struct pvma_flight {
    struct pvma_overlay_station *station;
    struct pvma_connection *connection; /* NULL: it has ended */
    uint64_t cookie;                    /* of the program */
    bool is_taken, is_sent;
    struct pvma_flight *prev, *next;
};

struct pvma_connection {
    struct pvma_overlay_station *station;
    struct pvma_call *call;
    struct pvma_call_request request;
    enum state state;
    bool second;     /* of the question, then of the set-up: the other way round a ring */
    uint16_t server; /* of the called station */
    uint16_t mid;    /* 0: none */
    struct pvma_vc *vc;
    bool wants_room, is_marked;
    struct early *early, **early_tail;
    unsigned early_count;
    struct pvma_event timer;
    struct pvma_connection *prev, *next;
};

static struct pvma_overlay_counters *counters_of(const struct pvma_overlay_station *station)
{
    return &station->overlay->counters;
}

static bool is_ring(const struct pvma_overlay_station *station)
{
    return station->overlay->options->shape == PVMA_RING;
}

/* ---- messages to the server ---- */

static void act(struct pvma_overlay_station *station, struct pvma_overlay_message *m);

static unsigned *waiting(struct pvma_overlay_station *station, bool is_out)
{
    return is_out ? &station->work_out : &station->work_in;
}

static void done(struct pvma_job *job)
{
    struct pvma_work *work = PVMA_OF(job, struct pvma_work, job);
    struct pvma_overlay_station *station = work->owner;
    bool is_stale = work->m.epoch != station->end->hop->epoch;
    --*waiting(station, work->is_out);
    pvma_sim_note(station->overlay->sim, (uint64_t)work->m.type << 40 ^ work->m.mid);
    if (!is_stale && work->is_out)
        pvma_hop_signal(station->end, &work->m);
    else if (!is_stale)
        act(station, &work->m);
    pvma_work_free(&station->work, work);
}

static void spend(struct pvma_overlay_station *station, const struct pvma_overlay_message *m, bool is_out)
{
    struct pvma_work *work = pvma_work_new(&station->work, station, station->end, m, NULL, 0);
    work->m.epoch = station->end->hop->epoch;
    work->is_out = is_out;
    work->job.done = done;
    ++*waiting(station, is_out);
    pvma_stage_put(pvma_host_processor(station->host), &work->job,
                   pvma_host_profile(station->host)->cost[PVMA_COST_signal]);
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
    spend(c->station, &m, true);
}

/* ---- life of a connection ---- */

static void time_out(struct pvma_event *event);

static struct pvma_connection *connection_new(struct pvma_overlay_station *station,
                                              const struct pvma_call_request *request, enum state state)
{
    struct pvma_connection *c = pvma_new(sizeof *c);
    c->station = station;
    c->request = *request;
    c->state = state;
    c->early_tail = &c->early;
    pvma_event_init(&c->timer, PVMA_EVENT_OVERLAY, time_out);
    DL_APPEND(station->connections, c);
    station->connection_count++;
    return c;
}

static struct early *take_early(struct pvma_connection *c)
{
    struct early *packet = c->early;
    c->early = packet->next;
    if (!c->early)
        c->early_tail = &c->early;
    c->early_count--;
    return packet;
}

/* Takes a connection out of the tables. Its packets that are on their way to the adapter go on alone. */
static void detach(struct pvma_connection *c)
{
    struct pvma_flight *flight;
    pvma_sim_cancel(c->station->overlay->sim, &c->timer);
    DL_FOREACH (c->station->flights, flight)
        if (flight->connection == c)
            flight->connection = NULL;
    while (c->early)
        free(take_early(c));
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
    counters_of(c->station)->unknown++;
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
    counters_of(c->station)->turned += is_ring(c->station);
    ask(c);
}

static struct pvma_overlay_station *station_at(const struct pvma_overlay *overlay, struct pvma_host *host)
{
    struct pvma_overlay_station *station = &overlay->stations[pvma_host_node(host)->number];
    return station->host ? station : NULL;
}

/* A program may open and release calls faster than their messages leave. */
static bool has_room(const struct pvma_overlay_station *station)
{
    return station->connection_count <= CONNECTIONS_MAX && station->work_out < WORK_MAX &&
           !pvma_hop_is_congested(station->end);
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
    if (station->end->hop->is_down || !has_room(station)) {
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
    counters_of(c->station)->dialled++;
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

static void take_address(struct pvma_overlay_station *station, const struct pvma_overlay_message *m)
{
    struct pvma_connection *c = find_asking(station, m->number);
    struct pvma_overlay_counters *counters = counters_of(station);
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

/* ---- packets ---- */

static int carry_packet(void *arg, const void *data, size_t length, uint64_t cookie)
{
    struct pvma_connection *c = arg;
    if (c->state != CONNECTED)
        return PVMC_EDOWN;
    struct pvma_flight *flight = pvma_new(sizeof *flight);
    *flight = (struct pvma_flight){.station = c->station, .connection = c, .cookie = cookie};
    int rc = pvma_hop_send(c->station->end, c->mid, data, length, (uint64_t)(uintptr_t)flight);
    if (rc) {
        c->wants_room = rc == PVMC_EAGAIN;
        free(flight);
        return rc;
    }
    DL_APPEND(c->station->flights, flight);
    pvma_vc_count_queued(c->vc, 1);
    return 0;
}

/* Frees a flight of which nothing more will be heard. */
static void land(struct pvma_flight *flight)
{
    DL_DELETE(flight->station->flights, flight);
    free(flight);
}

static void taken(void *arg, uint64_t cookie)
{
    struct pvma_flight *flight = (struct pvma_flight *)(uintptr_t)cookie;
    struct pvma_connection *c = flight->connection;
    uint64_t own = flight->cookie;
    (void)arg;
    flight->is_taken = true;
    if (flight->is_sent)
        land(flight);
    void *user;
    const struct pvma_vc_handler *handler = c ? pvma_vc_handler(c->vc, &user) : NULL;
    if (handler && handler->taken)
        handler->taken(user, c->vc, own);
}

static void sent(void *arg, uint64_t cookie)
{
    struct pvma_flight *flight = (struct pvma_flight *)(uintptr_t)cookie;
    struct pvma_connection *c = flight->connection;
    uint64_t own = flight->cookie;
    (void)arg;
    flight->is_sent = true;
    if (flight->is_taken)
        land(flight);
    if (!c)
        return;
    void *user;
    const struct pvma_vc_handler *handler = pvma_vc_handler(c->vc, &user);
    pvma_vc_count_queued(c->vc, -1);
    if (handler->sent)
        handler->sent(user, c->vc, own);
}

static void dropped(void *arg, uint64_t cookie, enum pvma_drop why)
{
    struct pvma_flight *flight = (struct pvma_flight *)(uintptr_t)cookie;
    struct pvma_connection *c = flight->connection;
    uint64_t own = flight->cookie;
    (void)arg;
    land(flight);
    if (!c)
        return;
    void *user;
    const struct pvma_vc_handler *handler = pvma_vc_handler(c->vc, &user);
    pvma_vc_count_queued(c->vc, -1);
    if (handler->dropped)
        handler->dropped(user, c->vc, own, why);
}

/* A handler may release any connection, or want room again, so those to be told are marked first. */
static void room(void *arg, struct pvma_hop_end *hop_end)
{
    struct pvma_overlay_station *station = arg;
    struct pvma_connection *c, *next;
    (void)hop_end;
    DL_FOREACH (station->connections, c) {
        c->is_marked = c->wants_room;
        c->wants_room = false;
    }
    for (c = station->connections; c; c = next) {
        next = c->next;
        if (!c->is_marked)
            continue;
        c->is_marked = false;
        void *user;
        const struct pvma_vc_handler *handler = pvma_vc_handler(c->vc, &user);
        if (handler->room)
            handler->room(user, c->vc);
        next = station->connections;
    }
}

static void deliver(struct pvma_connection *c, const uint8_t *data, size_t length)
{
    void *user;
    const struct pvma_vc_handler *handler = pvma_vc_handler(c->vc, &user);
    if (handler->received)
        handler->received(user, c->vc, data, length);
    else
        pvma_host_counters(c->station->host)->reader_drops++;
}

static void hold(struct pvma_connection *c, const uint8_t *data, size_t length)
{
    if (c->early_count >= EARLY_MAX) {
        counters_of(c->station)->lost++;
        return;
    }
    struct early *packet = pvma_new(sizeof *packet + length);
    packet->length = length;
    if (length)
        memcpy(packet->data, data, length);
    *c->early_tail = packet;
    c->early_tail = &packet->next;
    c->early_count++;
}

static void take_packet(void *arg, struct pvma_hop_end *hop_end, uint16_t mid, const uint8_t *data, size_t length)
{
    struct pvma_overlay_station *station = arg;
    struct pvma_connection *c = pvma_hop_mid(hop_end, mid);
    if (!c || c->state == OFFERED)
        counters_of(station)->late++;
    else if (c->state == SETTING_UP) /* its CONNECT is still at the processor */
        hold(c, data, length);
    else
        deliver(c, data, length);
}

/* Delivers what came early; a handler may release the connection. */
static void release_early(struct pvma_overlay_station *station, uint16_t mid)
{
    for (;;) {
        struct pvma_connection *c = pvma_hop_mid(station->end, mid);
        if (!c || !c->early)
            return;
        struct early *packet = take_early(c);
        deliver(c, packet->data, packet->length);
        free(packet);
    }
}

/* ---- relayed connections: set-up and release ---- */

static void make_end(struct pvma_connection *c, bool is_caller)
{
    bool duplex = c->request.contract.flow == PVMA_DUPLEX;
    c->state = CONNECTED;
    c->vc = pvma_vc_add_carried(c->station->host, &c->request.contract, is_caller || duplex, !is_caller || duplex,
                                carry_packet, c);
}

static struct pvma_vc *accept(void *part, const struct pvma_contract *granted)
{
    struct pvma_connection *c = part;
    c->request.contract = *granted;
    make_end(c, false);
    send_message(c, PVMA_OVERLAY_CONNECT, 0);
    return c->vc;
}

static void take_connect(struct pvma_overlay_station *station, const struct pvma_overlay_message *m)
{
    struct pvma_connection *c = pvma_hop_mid(station->end, m->mid);
    if (!c || c->state != SETTING_UP)
        return;
    counters_of(station)->relayed++;
    counters_of(station)->relay_hops += m->hops;
    c->request.contract = m->contract;
    make_end(c, true);
    pvma_call_connect(c->call, c->vc, &m->contract);
    release_early(station, m->mid);
}

static void take_setup(struct pvma_overlay_station *station, const struct pvma_overlay_message *m)
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
        counters_of(station)->refused++;
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

static void take_release(struct pvma_overlay_station *station, const struct pvma_overlay_message *m)
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

/* ---- the processor ---- */

static void act(struct pvma_overlay_station *station, struct pvma_overlay_message *m)
{
    switch (m->type) {
    case PVMA_OVERLAY_ADDRESS:
        take_address(station, m);
        break;
    case PVMA_OVERLAY_SETUP:
        take_setup(station, m);
        break;
    case PVMA_OVERLAY_CONNECT:
        take_connect(station, m);
        break;
    case PVMA_OVERLAY_RELEASE:
    case PVMA_OVERLAY_RELEASED:
        take_release(station, m);
        break;
    case PVMA_OVERLAY_RESOLVE:
        counters_of(station)->refused++;
        break;
    case PVMA_OVERLAY_DATA:
    case PVMA_OVERLAY_ACK:
        break;
    }
}

static bool take_signal(void *arg, struct pvma_hop_end *hop_end, const struct pvma_overlay_message *m)
{
    struct pvma_overlay_station *station = arg;
    (void)hop_end;
    if (station->work_in >= WORK_MAX)
        return false; /* it comes again */
    spend(station, m, false);
    return true;
}

/* The VC to the server has begun anew. A callback may open and release calls, so those to be ended are marked first. */
static void lose(void *arg, struct pvma_hop_end *hop_end)
{
    struct pvma_overlay_station *station = arg;
    struct pvma_connection *c, *next;
    (void)hop_end;
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

const struct pvma_hop_user pvma_overlay_station_user = {.signal = take_signal,
                                                        .packet = take_packet,
                                                        .taken = taken,
                                                        .sent = sent,
                                                        .dropped = dropped,
                                                        .room = room,
                                                        .lost = lose};

const struct pvma_broker pvma_overlay_station_broker = {
    .open = open, .no_vci = no_vci, .dialled = dialled, .accept = accept, .over = over};

/* ---- life ---- */

size_t pvma_overlay_station_in_use(const struct pvma_overlay_station *station)
{
    return station->connection_count + station->end->mids.used + station->work_in + station->work_out;
}

void pvma_overlay_station_close(struct pvma_overlay_station *station)
{
    while (station->connections) {
        struct pvma_connection *c = station->connections;
        detach(c);
        free(c);
    }
    while (station->flights)
        land(station->flights);
    while (station->work)
        pvma_work_free(&station->work, station->work);
}
