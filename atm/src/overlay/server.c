/* server.c - parallel computing servers: questions about addresses, and relayed connections. */
#include <stdlib.h>
#include <utlist.h>
#include "core/error.h"
#include "parts.h"

enum { MESSAGES_MAX = 4096 }; /* that wait for the processor; further ones come again */

/* A connection through this server. Side 0 leads to the caller. */
struct pvma_relay {
    struct pvma_hop_end *end[2];
    uint16_t mid[2];
    struct pvma_relay *prev, *next;
};

static bool is_ring(const struct pvma_overlay_server *server)
{
    return server->overlay->options->shape == PVMA_RING;
}

static void refuse(struct pvma_overlay_server *server)
{
    server->overlay->counters.refused++;
}

/* The station that a message names, if it is one of this server's. */
static struct pvma_overlay_station *own_station(const struct pvma_overlay_server *server, struct pvma_address address)
{
    struct pvma_overlay_station *station = pvma_overlay_station_of(server->overlay, address);
    return station && station->server == server ? station : NULL;
}

static bool is_from_caller(const struct pvma_overlay_server *server, const struct pvma_hop_end *end,
                           const struct pvma_overlay_message *m)
{
    const struct pvma_overlay_station *caller = own_station(server, m->caller);
    return caller && caller->server_end == end;
}

/* ---- addresses ---- */

static void forward_question(struct pvma_overlay_server *server, struct pvma_overlay_message *m);

/* The answer is at the caller's server. A ring may have the address on the other side of what is down. */
static void deliver_answer(struct pvma_overlay_server *server, struct pvma_overlay_message *m)
{
    struct pvma_overlay_station *caller = own_station(server, m->caller);
    if (!caller) {
        refuse(server);
    } else if (m->cause == PVMA_CAUSE_LINK_DOWN && is_ring(server) && !m->second) {
        server->overlay->counters.turned++;
        m->type = PVMA_OVERLAY_RESOLVE;
        m->second = true;
        m->turned = !m->turned;
        forward_question(server, m);
    } else {
        pvma_hop_signal(caller->server_end, m);
    }
}

/* Takes an answer the way that its question came. */
static void return_answer(struct pvma_overlay_server *server, struct pvma_overlay_message *m)
{
    if (m->origin == server->number) {
        deliver_answer(server, m);
        return;
    }
    struct pvma_hop_end *end =
        server->neighbours[pvma_overlay_next(server->overlay, server->number, m->origin, !m->turned)];
    m->hops++;
    pvma_hop_signal(end, m);
}

static void answer(struct pvma_overlay_server *server, struct pvma_overlay_message *m, int cause)
{
    m->type = PVMA_OVERLAY_ADDRESS;
    m->cause = (uint8_t)cause;
    m->server = (uint16_t)server->number;
    return_answer(server, m);
}

/* The neighbour that a question goes to next; NULL: it has been everywhere. */
static struct pvma_hop_end *next_for_question(const struct pvma_overlay_server *server,
                                              const struct pvma_overlay_message *m)
{
    const struct pvma_overlay *overlay = server->overlay;
    const struct pvma_overlay_station *called = pvma_overlay_station_of(overlay, m->called);
    unsigned next;
    if (is_ring(server))
        next = pvma_overlay_next(overlay, server->number, 0, m->turned);
    else if (called)
        next = pvma_overlay_next(overlay, server->number, called->server->number, false);
    else
        next = pvma_tree_parent(overlay->options, server->number); /* the root knows all stations */
    return next == server->number || (is_ring(server) && next == m->origin) ? NULL : server->neighbours[next];
}

/* A question visits each server once. Before it turned round, it had gone there and back the other way. */
static size_t hops_max(const struct pvma_overlay_server *server, const struct pvma_overlay_message *m)
{
    return (m->second ? 3 : 1) * server->overlay->server_count;
}

static void forward_question(struct pvma_overlay_server *server, struct pvma_overlay_message *m)
{
    struct pvma_hop_end *next = next_for_question(server, m);
    if (!next || m->hops >= hops_max(server, m)) {
        answer(server, m, PVMA_CAUSE_NO_ROUTE);
    } else if (next->hop->is_down) {
        answer(server, m, PVMA_CAUSE_LINK_DOWN);
    } else if (pvma_hop_is_congested(next)) {
        answer(server, m, PVMA_CAUSE_NO_BUFFER);
    } else {
        m->hops++;
        pvma_hop_signal(next, m);
    }
}

static bool may_be_direct(const struct pvma_overlay_server *server, const struct pvma_overlay_message *m)
{
    int direct = server->overlay->options->direct;
    return direct == PVMA_DIRECT_ALL || (direct == PVMA_DIRECT_SERVER && m->origin == server->number);
}

static void take_question(struct pvma_overlay_server *server, const struct pvma_hop_end *end,
                          struct pvma_overlay_message *m)
{
    if (is_from_caller(server, end, m)) {
        m->origin = (uint16_t)server->number;
        m->hops = 0;
    }
    const struct pvma_overlay_station *called = own_station(server, m->called);
    if (!called) {
        forward_question(server, m);
        return;
    }
    m->direct = may_be_direct(server, m);
    answer(server, m, called->end->hop->is_down ? PVMA_CAUSE_NO_ROUTE : 0);
}

/* ---- relayed connections ---- */

static int side_of(const struct pvma_relay *relay, const struct pvma_hop_end *end, uint16_t mid)
{
    return relay->end[1] == end && relay->mid[1] == mid;
}

static void drop_relay(struct pvma_overlay_server *server, struct pvma_relay *relay)
{
    DL_DELETE(server->relays, relay);
    free(relay);
}

/* The shorter way round; the other one if that has failed, or its first VC is down. */
static void choose_way(const struct pvma_overlay_server *server, struct pvma_overlay_message *m)
{
    const struct pvma_overlay *overlay = server->overlay;
    if (!is_ring(server) || m->server == server->number)
        return;
    unsigned there = pvma_overlay_distance(overlay, server->number, m->server, false);
    m->turned = (2 * there > overlay->server_count) != m->second;
    if (m->second || !server->neighbours[pvma_overlay_next(overlay, server->number, 0, m->turned)]->hop->is_down)
        return;
    m->second = true;
    m->turned = !m->turned;
}

/* The end at which a connection leaves this server; NULL: the message makes no sense. */
static struct pvma_hop_end *way_out(const struct pvma_overlay_server *server, const struct pvma_overlay_message *m)
{
    const struct pvma_overlay *overlay = server->overlay;
    if (m->hops >= overlay->server_count)
        return NULL;
    if (m->server != server->number)
        return server->neighbours[pvma_overlay_next(overlay, server->number, m->server, m->turned)];
    const struct pvma_overlay_station *called = own_station(server, m->called);
    return called ? called->server_end : NULL;
}

static void set_up(struct pvma_overlay_server *server, struct pvma_hop_end *end, struct pvma_overlay_message *m)
{
    struct pvma_relay *relay = pvma_new(sizeof *relay);
    *relay = (struct pvma_relay){.end = {end}, .mid = {m->mid}};
    if (!pvma_hop_note_mid(end, m->mid, relay)) {
        refuse(server);
        pvma_hop_refuse_mid(end, m->mid, PVMA_CAUSE_NO_VCI);
        free(relay);
        return;
    }
    if (is_from_caller(server, end, m)) {
        m->origin = (uint16_t)server->number;
        m->hops = 0;
        choose_way(server, m);
    }
    struct pvma_hop_end *out = way_out(server, m);
    bool usable = out && out != end && !out->hop->is_down && !pvma_hop_is_congested(out);
    m->mid = usable ? pvma_hop_take_mid(out, relay) : 0;
    if (!m->mid) {
        bool is_down = out && out->hop->is_down;
        pvma_hop_release_mid(end, relay->mid[0],
                             !out      ? PVMA_CAUSE_NO_ROUTE
                             : is_down ? PVMA_CAUSE_LINK_DOWN
                                       : PVMA_CAUSE_NO_VCI);
        free(relay);
        return;
    }
    relay->end[1] = out;
    relay->mid[1] = m->mid;
    DL_APPEND(server->relays, relay);
    m->hops += m->server != server->number;
    pvma_hop_signal(out, m);
}

static void connect(struct pvma_overlay_server *server, const struct pvma_hop_end *end, struct pvma_overlay_message *m)
{
    const struct pvma_relay *relay = pvma_hop_mid(end, m->mid);
    if (!relay) /* released meanwhile */
        return;
    if (side_of(relay, end, m->mid) != 1) {
        refuse(server);
        return;
    }
    m->mid = relay->mid[0];
    m->hops += server->number != m->origin;
    pvma_hop_signal(relay->end[0], m);
}

static void release(struct pvma_overlay_server *server, struct pvma_hop_end *end, const struct pvma_overlay_message *m)
{
    struct pvma_relay *relay = pvma_hop_take_release(end, m);
    if (!relay)
        return;
    int other = !side_of(relay, end, m->mid);
    pvma_hop_release_mid(relay->end[other], relay->mid[other], m->cause);
    drop_relay(server, relay);
}

/* ---- the processor ---- */

static void act(struct pvma_overlay_server *server, struct pvma_hop_end *end, struct pvma_overlay_message *m)
{
    if (m->origin >= server->overlay->server_count || m->server >= server->overlay->server_count) {
        refuse(server);
        return;
    }
    switch (m->type) {
    case PVMA_OVERLAY_RESOLVE:
        take_question(server, end, m);
        break;
    case PVMA_OVERLAY_ADDRESS:
        return_answer(server, m);
        break;
    case PVMA_OVERLAY_SETUP:
        set_up(server, end, m);
        break;
    case PVMA_OVERLAY_CONNECT:
        connect(server, end, m);
        break;
    case PVMA_OVERLAY_RELEASE:
    case PVMA_OVERLAY_RELEASED:
        release(server, end, m);
        break;
    case PVMA_OVERLAY_DATA:
    case PVMA_OVERLAY_ACK:
        break;
    }
}

static void pass_on(struct pvma_overlay_server *server, const struct pvma_work *work)
{
    const struct pvma_relay *relay = pvma_hop_mid(work->end, work->m.mid);
    if (!relay) {
        server->overlay->counters.late++;
        return;
    }
    int other = !side_of(relay, work->end, work->m.mid);
    server->overlay->counters.packets++;
    pvma_hop_relay(relay->end[other], relay->mid[other], work->data, work->length);
}

static void done(struct pvma_job *job)
{
    struct pvma_work *work = PVMA_OF(job, struct pvma_work, job);
    struct pvma_overlay_server *server = work->owner;
    bool is_packet = work->m.type == PVMA_OVERLAY_DATA;
    bool is_stale = work->life != server->life || work->m.epoch != work->end->hop->epoch;
    server->work_packets -= is_packet;
    server->work_messages -= !is_packet;
    pvma_sim_note(server->overlay->sim, (uint64_t)work->m.type << 40 ^ work->m.mid);
    if (!is_stale && is_packet)
        pass_on(server, work);
    else if (!is_stale)
        act(server, work->end, &work->m);
    pvma_work_free(&server->work, work);
}

static void spend(struct pvma_overlay_server *server, struct pvma_work *work, pvma_ps cost)
{
    work->life = server->life;
    work->job.done = done;
    pvma_stage_put(pvma_host_processor(server->host), &work->job, cost);
}

static bool take_signal(void *arg, struct pvma_hop_end *end, const struct pvma_overlay_message *m)
{
    struct pvma_overlay_server *server = arg;
    if (server->work_messages >= MESSAGES_MAX)
        return false;
    server->work_messages++;
    spend(server, pvma_work_new(&server->work, server, end, m, NULL, 0), server->topo->signal);
    return true;
}

static void take_packet(void *arg, struct pvma_hop_end *end, uint16_t mid, const uint8_t *data, size_t length)
{
    struct pvma_overlay_server *server = arg;
    struct pvma_overlay_message m = {.type = PVMA_OVERLAY_DATA, .mid = mid, .epoch = end->hop->epoch};
    if (server->work_packets >= server->overlay->options->queue) {
        server->overlay->counters.lost++;
        return;
    }
    server->work_packets++;
    spend(server, pvma_work_new(&server->work, server, end, &m, data, length), server->topo->relay);
}

/* ---- failures ---- */

static void lose(void *arg, struct pvma_hop_end *end)
{
    struct pvma_overlay_server *server = arg;
    struct pvma_relay *relay, *next;
    DL_FOREACH_SAFE (server->relays, relay, next) {
        if (relay->end[0] != end && relay->end[1] != end)
            continue;
        int other = relay->end[0] == end;
        pvma_hop_release_mid(relay->end[other], relay->mid[other], PVMA_CAUSE_LINK_DOWN);
        drop_relay(server, relay);
    }
}

static void set_end_down(struct pvma_overlay_server *server, struct pvma_hop_end *end)
{
    pvma_hop_use(end, server->is_down ? NULL : &pvma_overlay_server_user, server);
    if (!server->is_down)
        pvma_hop_restart(end->hop);
    pvma_hop_check(server->overlay->net, end->hop);
}

static void forget_relays(struct pvma_overlay_server *server)
{
    while (server->relays)
        drop_relay(server, server->relays);
}

void pvma_overlay_server_set_down(struct pvma_overlay_server *server, bool is_down)
{
    const struct pvma_overlay *overlay = server->overlay;
    server->is_down = is_down;
    server->life++;
    forget_relays(server);
    for (size_t i = 0; i < overlay->server_count; i++)
        if (server->neighbours[i])
            set_end_down(server, server->neighbours[i]);
    for (size_t i = 0; i < overlay->node_count; i++)
        if (overlay->stations[i].server == server)
            set_end_down(server, overlay->stations[i].server_end);
}

const struct pvma_hop_user pvma_overlay_server_user = {.signal = take_signal, .packet = take_packet, .lost = lose};

/* ---- life ---- */

size_t pvma_overlay_server_in_use(const struct pvma_overlay_server *server)
{
    size_t count = server->work_messages + server->work_packets;
    const struct pvma_relay *relay;
    DL_FOREACH (server->relays, relay)
        count++;
    return count;
}

void pvma_overlay_server_close(struct pvma_overlay_server *server)
{
    forget_relays(server);
    while (server->work)
        pvma_work_free(&server->work, server->work);
    free(server->neighbours);
}
