/* topology_overlay.c - the lines of servers and stations, and which station belongs to which server. */
#include <stdlib.h>
#include <string.h>
#include "topology_reader.h"

enum { OVERLAY_DIRECT_UNSET = -1 };

void pvma_read_overlay(struct pvma_reader *r)
{
#define FIELD(name) offsetof(struct pvma_topo_overlay, name)
    static const struct pvma_option options[] = {
        {"attach", PVMA_OPTION_CHOICE, FIELD(attach), 0, 0, "order|distance"},
        {"direct", PVMA_OPTION_CHOICE, FIELD(direct), 0, 0, "server|all|none"},
        {"branch", PVMA_OPTION_COUNT, FIELD(branch), 1, PVMA_SERVERS_MAX, NULL},
        {"mids", PVMA_OPTION_COUNT, FIELD(mids), 1, 65535, NULL},
        {"queue", PVMA_OPTION_COUNT, FIELD(queue), 1, 100000, NULL},
        {"retry", PVMA_OPTION_TIME, FIELD(retry), 0, 0, NULL},
        {"detect", PVMA_OPTION_TIME, FIELD(detect), 0, 0, NULL},
        {"patience", PVMA_OPTION_TIME, FIELD(patience), 0, 0, NULL},
        {0}};
#undef FIELD
    struct pvma_topo_overlay o = {.line = r->line,
                                  .direct = OVERLAY_DIRECT_UNSET,
                                  .branch = 2,
                                  .mids = 1023,
                                  .queue = 64,
                                  .retry = 200 * PVMA_MS,
                                  .detect = PVMA_S,
                                  .patience = 5 * PVMA_S};
    if (r->t->overlay.line) {
        pvma_reader_complain(r, r->line, "there is an overlay already on line %u; a network has one",
                             r->t->overlay.line);
        return;
    }
    o.shape = strcmp(r->word[1], "tree") ? PVMA_RING : PVMA_TREE;
    if (o.shape == PVMA_RING && strcmp(r->word[1], "ring"))
        pvma_reader_complain(r, r->line, "there is no overlay \"%.40s\"; write overlay ring or overlay tree",
                             r->word[1]);
    pvma_reader_options(r, 2, options, &o);
    if (o.retry < PVMA_MS || o.detect < PVMA_MS || o.patience < PVMA_MS)
        pvma_reader_complain(r, r->line, "retry, detect and patience are times of 1ms or more");
    if (o.direct == OVERLAY_DIRECT_UNSET)
        o.direct = o.shape == PVMA_RING ? PVMA_DIRECT_SERVER : PVMA_DIRECT_ALL;
    r->t->overlay = o;
}

/* ---- servers ---- */

static int server_of_name(const struct pvma_topology *t, const char *name)
{
    for (size_t i = 0; i < t->server_count; i++)
        if (!strcmp(t->servers[i].name, name))
            return (int)i;
    return -1;
}

static int server_at(const struct pvma_topology *t, unsigned host)
{
    for (size_t i = 0; i < t->server_count; i++)
        if (t->servers[i].host == host)
            return (int)i;
    return -1;
}

static bool add_server(struct pvma_reader *r, const char *name, const char *at, const struct pvma_topo_server *form)
{
    struct pvma_topology *t = r->t;
    int host = pvma_reader_node(r, at, true);
    if (host < 0)
        return false;
    if (!pvma_reader_is_name(name) || server_of_name(t, name) >= 0) {
        pvma_reader_complain(r, r->line, "the name of server \"%.40s\" is taken or invalid; choose another", name);
        return false;
    }
    if (server_at(t, (unsigned)host) >= 0 || t->nodes[host].is_station || t->server_count == PVMA_SERVERS_MAX) {
        pvma_reader_complain(r, r->line, "host %s has a server or is a station already, or there are %d servers", at,
                             PVMA_SERVERS_MAX);
        return false;
    }
    struct pvma_topo_server *server = pvma_reader_more((void **)&t->servers, &t->server_count, sizeof *server);
    *server = *form;
    server->line = r->line;
    server->host = (unsigned)host;
    strcpy(server->name, name);
    return true;
}

void pvma_read_server(struct pvma_reader *r)
{
#define FIELD(name) offsetof(struct pvma_topo_server, name)
    static const struct pvma_option options[] = {{"signal", PVMA_OPTION_TIME, FIELD(signal), 0, 0, NULL},
                                                 {"relay", PVMA_OPTION_TIME, FIELD(relay), 0, 0, NULL},
                                                 {"down", PVMA_OPTION_TIME, FIELD(down_at), 0, 0, NULL},
                                                 {"for", PVMA_OPTION_TIME, FIELD(down_for), 0, 0, NULL},
                                                 {0}};
#undef FIELD
    struct pvma_topo_server form = {.signal = 500 * PVMA_US, .relay = 100 * PVMA_US, .down_at = PVMA_NEVER};
    struct pvma_range names, hosts;
    char *at = pvma_reader_take(r, 2, "at");
    pvma_reader_options(r, 2, options, &form);
    if (!at) {
        pvma_reader_complain(r, r->line, "give the host of the server: at=HOST");
        return;
    }
    if (!pvma_range_parse(r, r->word[1], &names) || !pvma_range_parse(r, at, &hosts))
        return;
    if (names.count != hosts.count) {
        pvma_reader_complain(r, r->line, "%u names for servers at %u hosts: ranges must have equal lengths",
                             names.count, hosts.count);
        return;
    }
    for (unsigned i = 0; i < names.count; i++) {
        char name[PVMA_NAME_MAX + 1], host[PVMA_NAME_MAX + 1];
        if (!pvma_range_name(&names, i, name) || !pvma_range_name(&hosts, i, host)) {
            pvma_reader_complain(r, r->line, "a name is too long; at most %d characters are allowed", PVMA_NAME_MAX);
            return;
        }
        if (!add_server(r, name, host, &form))
            return;
    }
}

/* ---- stations ---- */

void pvma_read_station(struct pvma_reader *r)
{
    static const struct pvma_option options[] = {{0}};
    struct pvma_topology *t = r->t;
    struct pvma_range hosts;
    char *name = pvma_reader_take(r, 2, "server");
    int server = name ? server_of_name(t, name) : -1;
    pvma_reader_options(r, 2, options, NULL);
    if (name && server < 0)
        pvma_reader_complain(r, r->line, "there is no server \"%.40s\"; declare it on an earlier line", name);
    if ((name && server < 0) || !pvma_range_parse(r, r->word[1], &hosts))
        return;
    for (unsigned i = 0; i < hosts.count; i++) {
        char host[PVMA_NAME_MAX + 1];
        int node = pvma_range_name(&hosts, i, host) ? pvma_reader_node(r, host, true) : -1;
        if (node < 0)
            return;
        if (t->nodes[node].is_station || server_at(t, (unsigned)node) >= 0) {
            pvma_reader_complain(r, r->line, "host %s is a station or has a server already", host);
            return;
        }
        t->nodes[node].is_station = true;
        t->nodes[node].server = (unsigned)(server + 1);
    }
}

/* ---- which station belongs to which server ---- */

/* The neighbours of each node: those of node i are neighbour[first[i]] to neighbour[first[i + 1] - 1]. */
struct map {
    unsigned *first, *neighbour;
    unsigned *distance, *queue; /* of find_distances() */
};

static void map_open(const struct pvma_topology *t, struct map *map)
{
    size_t nodes = t->node_count;
    map->first = pvma_new((nodes + 2) * sizeof *map->first);
    map->neighbour = pvma_new(2 * t->link_count * sizeof *map->neighbour);
    map->distance = pvma_new(nodes * sizeof *map->distance);
    map->queue = pvma_new(nodes * sizeof *map->queue);
    unsigned *end = map->first + 1; /* of the nodes before; moves to that of the node itself */
    for (size_t i = 0; i < nodes && i + 1 < nodes; i++)
        end[i + 1] = end[i] + t->nodes[i].links;
    for (size_t i = 0; i < t->link_count; i++) {
        const struct pvma_topo_link *link = &t->links[i];
        map->neighbour[end[link->a]++] = link->b;
        map->neighbour[end[link->b]++] = link->a;
    }
}

static void map_close(struct map *map)
{
    free(map->first);
    free(map->neighbour);
    free(map->distance);
    free(map->queue);
}

/* Links from one node to each other one, over switches only; UINT32_MAX: none lead there. */
static void find_distances(const struct pvma_topology *t, struct map *map, unsigned from)
{
    size_t head = 0, tail = 0;
    for (size_t i = 0; i < t->node_count; i++)
        map->distance[i] = UINT32_MAX;
    map->distance[from] = 0;
    map->queue[tail++] = from;
    while (head < tail) {
        unsigned node = map->queue[head++];
        bool passes = node == from || !t->nodes[node].is_host;
        for (unsigned i = map->first[node]; passes && i < map->first[node + 1]; i++) {
            unsigned next = map->neighbour[i];
            if (map->distance[next] != UINT32_MAX)
                continue;
            map->distance[next] = map->distance[node] + 1;
            map->queue[tail++] = next;
        }
    }
}

/* Stations are at the leaves of a tree, and at all servers of a ring. */
static bool takes_stations(const struct pvma_topology *t, unsigned server)
{
    return t->overlay.shape == PVMA_RING || pvma_tree_is_leaf(&t->overlay, server, (unsigned)t->server_count);
}

/* The nearest server; of several the one with the fewest stations, then the first. */
static unsigned nearest(const struct pvma_topology *t, unsigned host, const unsigned *stations, struct map *map)
{
    unsigned best = PVMA_SERVERS_MAX;
    find_distances(t, map, host);
    for (unsigned s = 0; s < t->server_count; s++) {
        unsigned d = map->distance[t->servers[s].host];
        if (!takes_stations(t, s))
            continue;
        unsigned least = best == PVMA_SERVERS_MAX ? UINT32_MAX : map->distance[t->servers[best].host];
        if (best == PVMA_SERVERS_MAX || d < least || (d == least && stations[s] < stations[best]))
            best = s;
    }
    return best;
}

/* Number `index` of those servers that take stations. */
static unsigned nth_server(const struct pvma_topology *t, size_t index)
{
    unsigned server = 0;
    while (!takes_stations(t, server) || index--)
        server++;
    return server;
}

/* In order: equal runs of stations for each server. */
static void attach(struct pvma_topology *t, size_t unattached, size_t takers)
{
    struct map map;
    unsigned *stations = pvma_new(t->server_count * sizeof *stations);
    size_t place = 0;
    map_open(t, &map);
    for (unsigned i = 0; i < t->node_count; i++) {
        struct pvma_topo_node *node = &t->nodes[i];
        if (!node->is_station || node->server)
            continue;
        unsigned server = t->overlay.attach == PVMA_ATTACH_DISTANCE ? nearest(t, i, stations, &map)
                                                                    : nth_server(t, place++ * takers / unattached);
        node->server = server + 1;
        stations[server]++;
    }
    map_close(&map);
    free(stations);
}

static bool has_station_lines(const struct pvma_topology *t)
{
    for (size_t i = 0; i < t->node_count; i++)
        if (t->nodes[i].is_station)
            return true;
    return false;
}

void pvma_topology_attach(struct pvma_reader *r)
{
    struct pvma_topology *t = r->t;
    if (!t->overlay.line && t->server_count)
        pvma_reader_complain(r, t->servers[0].line, "a server belongs to an overlay; add: overlay ring");
    if (!t->overlay.line && !t->server_count && has_station_lines(t))
        pvma_reader_complain(r, r->line, "stations belong to an overlay; add: overlay ring");
    if (t->overlay.line && !t->server_count)
        pvma_reader_complain(r, t->overlay.line, "the overlay has no server; add: server NAME at=HOST");
    if (!t->overlay.line || !t->server_count)
        return;
    bool all = !has_station_lines(t);
    size_t unattached = 0, takers = 0;
    for (unsigned i = 0; i < t->node_count; i++) {
        struct pvma_topo_node *node = &t->nodes[i];
        node->is_station |= all && node->is_host && server_at(t, i) < 0;
        unattached += node->is_station && !node->server;
    }
    for (unsigned s = 0; s < t->server_count; s++)
        takers += takes_stations(t, s);
    if (unattached)
        attach(t, unattached, takers);
}
