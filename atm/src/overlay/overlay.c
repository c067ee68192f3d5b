/* overlay.c - builds the overlay of a topology: servers, stations and the VCs between them. */
#include "overlay.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/log.h"
#include "parts.h"

/* ---- for the parts ---- */

struct pvma_overlay_station *pvma_overlay_station_of(const struct pvma_overlay *overlay, struct pvma_address address)
{
    struct pvma_host *host = pvma_net_host_with(overlay->net, address);
    struct pvma_overlay_station *station = host ? &overlay->stations[pvma_host_node(host)->number] : NULL;
    return station && station->host ? station : NULL;
}

struct pvma_work *pvma_work_new(struct pvma_work **list, void *owner, struct pvma_hop_end *end,
                                const struct pvma_overlay_message *m, const uint8_t *data, size_t length)
{
    struct pvma_work *work = pvma_new(sizeof *work + length);
    work->owner = owner;
    work->end = end;
    work->m = *m;
    work->length = length;
    if (length)
        memcpy(work->data, data, length);
    DL_APPEND(*list, work);
    return work;
}

void pvma_work_free(struct pvma_work **list, struct pvma_work *work)
{
    DL_DELETE(*list, work);
    free(work);
}

/* ---- failures ---- */

static void links_changed(void *arg)
{
    const struct pvma_overlay *overlay = arg;
    for (size_t i = 0; i < overlay->hop_count; i++)
        pvma_hop_check(overlay->net, overlay->hops[i]);
}

static void fail_or_start(struct pvma_event *event)
{
    struct pvma_overlay_server *server = PVMA_OF(event, struct pvma_overlay_server, event);
    pvma_overlay_server_set_down(server, !server->is_down);
    if (server->is_down && server->topo->down_for)
        pvma_sim_after(server->overlay->sim, event, server->topo->down_for);
}

/* ---- building ---- */

/* Adds a VC between a station or a server, at end 0, and a server. NULL after a message: it does not fit. */
static struct pvma_hop *add_hop(struct pvma_overlay *overlay, unsigned line, struct pvma_host *a,
                                const struct pvma_overlay_server *b, bool counts)
{
    int cause;
    struct pvma_hop *hop =
        pvma_hop_new(overlay->net, a, b->host, counts, overlay->options, &overlay->hop_counters, &cause);
    if (hop)
        overlay->hops[overlay->hop_count++] = hop;
    else
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: the VC from %s to server %s is refused: %s", overlay->topology->name, line,
                 pvma_host_name(a), b->topo->name, pvma_cause_text(cause));
    return hop;
}

static bool join(struct pvma_overlay *overlay, struct pvma_overlay_server *a, struct pvma_overlay_server *b)
{
    if (a == b || a->neighbours[b->number])
        return true;
    struct pvma_hop *hop = add_hop(overlay, a->topo->line, a->host, b, false);
    if (!hop)
        return false;
    a->neighbours[b->number] = &hop->end[0];
    b->neighbours[a->number] = &hop->end[1];
    pvma_hop_use(&hop->end[0], &pvma_overlay_server_user, a);
    pvma_hop_use(&hop->end[1], &pvma_overlay_server_user, b);
    return true;
}

/* Each server of a ring is joined with the next one, each of a tree with its parent. */
static bool join_servers(struct pvma_overlay *overlay)
{
    bool good = true;
    for (unsigned i = 0; i < overlay->server_count && good; i++) {
        unsigned other = overlay->options->shape == PVMA_TREE ? pvma_tree_parent(overlay->options, i)
                                                              : (i + 1) % (unsigned)overlay->server_count;
        good = join(overlay, &overlay->servers[i], &overlay->servers[other]);
    }
    return good;
}

/* Gives the station a VC to its server, and its host the MTU of the servers. */
static bool add_station(struct pvma_overlay *overlay, unsigned node, size_t mtu)
{
    const struct pvma_topo_node *t = &overlay->topology->nodes[node];
    struct pvma_overlay_station *station = &overlay->stations[node];
    struct pvma_host *host = pvma_net_host(overlay->net, t->name);
    struct pvma_overlay_server *server = &overlay->servers[t->server - 1];
    struct pvma_hop *hop = add_hop(overlay, t->line, host, server, true);
    if (!hop)
        return false;
    *station = (struct pvma_overlay_station){
        .overlay = overlay, .host = host, .server = server, .end = &hop->end[0], .server_end = &hop->end[1]};
    pvma_hop_use(station->end, &pvma_overlay_station_user, station);
    pvma_hop_use(station->server_end, &pvma_overlay_server_user, server);
    if (mtu < pvma_host_mtu(host))
        pvma_host_set_mtu(host, mtu);
    return true;
}

/* What stations may send: servers must be able to relay it, behind a header that AAL5 has room for. */
static size_t mtu_of_servers(const struct pvma_overlay *overlay)
{
    size_t mtu = PVMA_PDU_MAX - PVMA_OVERLAY_HEADER;
    for (size_t i = 0; i < overlay->server_count; i++) {
        size_t own = pvma_host_mtu(overlay->servers[i].host);
        mtu = own < mtu ? own : mtu;
    }
    return mtu;
}

/* A signalling message must fit into a packet. */
static bool mtu_is_enough(const struct pvma_overlay *overlay, const struct pvma_host *host, unsigned line)
{
    if (pvma_host_mtu(host) >= PVMA_OVERLAY_MAX)
        return true;
    pvmc_log(PVMC_LOG_ERROR, "%s:%u: the MTU of host %s is %zu octets; servers and stations need %d",
             overlay->topology->name, line, pvma_host_name(host), pvma_host_mtu(host), PVMA_OVERLAY_MAX);
    return false;
}

static bool add_servers(struct pvma_overlay *overlay)
{
    const struct pvma_topology *t = overlay->topology;
    bool good = true;
    for (unsigned i = 0; i < t->server_count; i++) {
        struct pvma_overlay_server *server = &overlay->servers[overlay->server_count++];
        *server = (struct pvma_overlay_server){.overlay = overlay,
                                               .number = i,
                                               .topo = &t->servers[i],
                                               .host = pvma_net_host(overlay->net, t->nodes[t->servers[i].host].name),
                                               .neighbours = pvma_new(t->server_count * sizeof(struct pvma_hop_end *))};
        pvma_event_init(&server->event, PVMA_EVENT_OVERLAY, fail_or_start);
        if (server->topo->down_at != PVMA_NEVER)
            pvma_sim_at(overlay->sim, &server->event, server->topo->down_at);
        good = good && mtu_is_enough(overlay, server->host, server->topo->line);
    }
    return good;
}

static bool add_stations(struct pvma_overlay *overlay)
{
    const struct pvma_topology *t = overlay->topology;
    size_t mtu = mtu_of_servers(overlay);
    for (unsigned i = 0; i < t->node_count; i++) {
        if (!t->nodes[i].is_station)
            continue;
        if (!mtu_is_enough(overlay, pvma_net_host(overlay->net, t->nodes[i].name), t->nodes[i].line) ||
            !add_station(overlay, i, mtu))
            return false;
    }
    return true;
}

struct pvma_overlay *pvma_overlay_new(struct pvma_net *net, const struct pvma_topology *topology)
{
    struct pvma_overlay *overlay = pvma_new(sizeof *overlay);
    overlay->net = net;
    overlay->sim = pvma_net_sim(net);
    overlay->topology = topology;
    overlay->options = &topology->overlay;
    overlay->node_count = topology->node_count;
    overlay->servers = pvma_new(topology->server_count * sizeof *overlay->servers);
    overlay->stations = pvma_new(topology->node_count * sizeof *overlay->stations);
    overlay->hops = pvma_new((topology->server_count + topology->node_count) * sizeof(struct pvma_hop *));
    if (!add_servers(overlay) || !join_servers(overlay) || !add_stations(overlay)) {
        pvma_overlay_free(overlay);
        return NULL;
    }
    pvma_net_set_broker(net, &pvma_overlay_station_broker, overlay);
    pvma_net_watch_links(net, links_changed, overlay);
    return overlay;
}

void pvma_overlay_free(struct pvma_overlay *overlay)
{
    if (!overlay)
        return;
    pvma_net_set_broker(overlay->net, NULL, NULL);
    pvma_net_watch_links(overlay->net, NULL, NULL);
    for (size_t i = 0; i < overlay->node_count; i++)
        pvma_overlay_station_close(&overlay->stations[i]);
    for (size_t i = 0; i < overlay->server_count; i++) {
        pvma_sim_cancel(overlay->sim, &overlay->servers[i].event);
        pvma_overlay_server_close(&overlay->servers[i]);
    }
    for (size_t i = 0; i < overlay->hop_count; i++)
        pvma_hop_free(overlay->hops[i]);
    free(overlay->hops);
    free(overlay->servers);
    free(overlay->stations);
    free(overlay);
}

/* ---- counters ---- */

struct pvma_overlay_counters pvma_overlay_count(const struct pvma_overlay *overlay)
{
    struct pvma_overlay_counters counters = overlay->counters;
    counters.messages = overlay->hop_counters.messages;
    counters.repeated = overlay->hop_counters.repeated;
    counters.malformed = overlay->hop_counters.malformed;
    counters.lost += overlay->hop_counters.lost;
    return counters;
}

size_t pvma_overlay_in_use(const struct pvma_overlay *overlay)
{
    size_t count = 0;
    for (size_t i = 0; i < overlay->server_count; i++)
        count += pvma_overlay_server_in_use(&overlay->servers[i]);
    for (size_t i = 0; i < overlay->node_count; i++)
        if (overlay->stations[i].host)
            count += pvma_overlay_station_in_use(&overlay->stations[i]);
    for (size_t i = 0; i < overlay->hop_count; i++)
        count += overlay->hops[i]->end[0].mids.used + overlay->hops[i]->end[1].mids.used;
    return count;
}

void pvma_overlay_report(const struct pvma_overlay *overlay, FILE *out)
{
    const struct pvma_overlay_counters c = pvma_overlay_count(overlay);
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"addresses resolved", c.resolved},   {"addresses not resolved", c.unknown},
                {"questions turned round", c.turned}, {"hops of questions", c.hops},
                {"direct connections", c.dialled},    {"relayed connections", c.relayed},
                {"signalling messages", c.messages},  {"signalling repeated", c.repeated},
                {"malformed messages", c.malformed},  {"refused messages", c.refused},
                {"packets relayed", c.packets},       {"packets lost in servers", c.lost},
                {"packets too late", c.late}};
    fprintf(out, "overlay\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].value)
            fprintf(out, "  %-24s %12llu\n", rows[i].name, (unsigned long long)rows[i].value);
}
