/*
 * link.c - the paths of a link. Which of our interfaces leads to which of the peer's is not known beforehand. Until the
 * peer is heard, and again when it falls silent, packets take all paths; after that, the path of the peer's latest
 * packet.
 */
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "dp_transport.h"

#define RETRY_MIN_US 2000
#define RETRY_MAX_US 1000000
#define ACK_DELAY_US 200
#define CREDIT_MIN   4

static struct dp_transport *transport_of(const struct dp_link *l)
{
    return (struct dp_transport *)l->base.ep.transport;
}

/* ---- choosing a path ---- */

static void add_ways(struct dp_link *l, const struct pvmt_dp_offer *peer, bool loopback)
{
    struct dp_transport *t = transport_of(l);
    for (unsigned i = 0; i < t->port_count; i++)
        for (unsigned j = 0; j < peer->count; j++) {
            const struct dpi_port *port = &t->ports[i].port;
            const struct pvmt_dp_place *place = &peer->places[j];
            uint32_t room = (uint32_t)dpi_port_room(port);
            if (port->interface.loopback != loopback || place->loopback != loopback)
                continue;
            struct dp_way *w = &l->ways[l->way_count++];
            *w = (struct dp_way){.port = i, .node = peer->node, .point = place->point};
            memcpy(w->hardware, place->hardware, sizeof w->hardware);
            room = place->room < room ? place->room : room;
            l->room = room < l->room ? room : l->room;
        }
}

/* Tasks of one host use the loopback if both have it open, because Ethernet seldom returns a host's own frames. */
static void find_ways(struct dp_link *l, const struct pvmt_dp_offer *peer)
{
    bool same_host = !memcmp(peer->host, transport_of(l)->host, sizeof peer->host);
    l->way_count = 0;
    l->room = UINT16_MAX;
    if (same_host)
        add_ways(l, peer, true);
    if (!l->way_count)
        add_ways(l, peer, false);
}

/* A packet of the peer arrived at this port, from this interface of the peer. */
static void note_way(struct dp_link *l, unsigned port, const uint8_t *hardware, uint16_t point)
{
    const struct dp_way *w = &l->ways[l->way];
    if (w->port == port && w->point == point && !memcmp(w->hardware, hardware, sizeof w->hardware))
        return;
    for (unsigned i = 0; i < l->way_count; i++) {
        w = &l->ways[i];
        if (w->port == port && w->point == point && !memcmp(w->hardware, hardware, sizeof w->hardware))
            l->way = i;
    }
}

static int emit_by(struct dp_link *l, const struct dp_way *w, const struct iovec *pieces, unsigned count,
                   uint16_t length)
{
    struct dp_transport *t = transport_of(l);
    struct dp_port *p = &t->ports[w->port];
    struct dpi_message m = {.kind = DPI_RELIABLE, .to = {w->node, w->point}, .from = p->port.point, .length = length};
    if (!pvmt_dp_port_is_usable(t, p))
        return PVMC_EDOWN;
    if (!dpi_batch_has_room(&t->batch, &p->port))
        pvmt_dp_flush(&t->base);
    return dpi_batch_add(&t->batch, &p->port, &m, w->hardware, pieces, count);
}

static int emit_by_each(struct dp_link *l, const struct iovec *pieces, unsigned count, uint16_t length)
{
    int rc = PVMC_EDOWN;
    for (unsigned i = 0; i < l->way_count; i++)
        if (!emit_by(l, &l->ways[i], pieces, count, length))
            rc = 0;
    return rc;
}

static int emit_by_all(struct dp_link *l, const struct iovec *pieces, unsigned count, uint16_t length)
{
    int rc = emit_by_each(l, pieces, count, length);
    if (rc && pvmt_dp_ports_look_again(transport_of(l)))
        rc = emit_by_each(l, pieces, count, length);
    if (rc)
        pvmt_datagram_lose(&l->base, PVMC_EDOWN);
    return rc;
}

static bool has_way(const struct dp_link *l)
{
    const struct dp_transport *t = transport_of(l);
    for (unsigned i = 0; i < l->way_count; i++)
        if (!t->ports[l->ways[i].port].down_until_us)
            return true;
    return false;
}

void pvmt_dp_links_check(struct dp_transport *t)
{
    struct pvmt_datagram_link *l, *next;
    HASH_ITER (hh, t->base.links, l, next)
        if (l->up && !has_way((struct dp_link *)l))
            pvmt_datagram_lose(l, PVMC_EDOWN);
}

int pvmt_dp_link_emit(struct pvmt_endpoint *ep, const struct iovec *pieces, unsigned count)
{
    struct dp_link *l = (struct dp_link *)ep;
    size_t length = 0;
    for (unsigned i = 0; i < count; i++)
        length += pieces[i].iov_len;
    if (pvmw_reliable_is_unanswered(l->base.frames.reliable) ||
        emit_by(l, &l->ways[l->way], pieces, count, (uint16_t)length) == PVMC_EDOWN)
        return emit_by_all(l, pieces, count, (uint16_t)length);
    return 0;
}

/* ---- sharing the rings ---- */

/* What all peers together may send must fit into the smallest ring, with room for packets that need no credit. */
static uint32_t credit_for_each(const struct dp_transport *t)
{
    uint32_t slots = UINT32_MAX, credit = PVMW_RELIABLE_WINDOW_MAX;
    for (unsigned i = 0; i < t->port_count; i++)
        if (t->ports[i].port.frames < slots)
            slots = t->ports[i].port.frames;
    while (credit > CREDIT_MIN && credit * (t->link_count ? t->link_count : 1) > slots / 4 * 3)
        credit /= 2;
    return credit;
}

/* The credit is a power of two, so that it seldom changes when peers come and go. */
static void share_credit(struct dp_transport *t, int more)
{
    struct pvmt_datagram_link *l, *next;
    t->link_count += (unsigned)more;
    uint32_t credit = credit_for_each(t);
    if (credit == t->credit)
        return;
    t->credit = credit;
    HASH_ITER (hh, t->base.links, l, next)
        if (l->frames.reliable)
            pvmw_reliable_set_credit(l->frames.reliable, credit);
}

void pvmt_dp_links_share(struct dp_transport *t)
{
    share_credit(t, 0);
}

/* ---- beginning ---- */

static void describe(const struct dp_transport *t, uint32_t incarnation, struct pvmt_dp_offer *o)
{
    *o = (struct pvmt_dp_offer){
        .ethertype = t->settings.ethertype, .node = t->node, .incarnation = incarnation, .count = t->port_count};
    memcpy(o->host, t->host, sizeof o->host);
    for (unsigned i = 0; i < t->port_count; i++) {
        const struct dpi_port *p = &t->ports[i].port;
        o->places[i] = (struct pvmt_dp_place){
            .point = p->point.point, .room = (uint16_t)dpi_port_room(p), .loopback = p->interface.loopback};
        memcpy(o->places[i].hardware, p->interface.hardware, sizeof o->places[i].hardware);
    }
}

/* Both ends are known: starts the connection. */
static int begin(struct dp_link *l, const struct pvmt_dp_offer *peer)
{
    struct dp_transport *t = transport_of(l);
    find_ways(l, peer);
    if (!l->way_count)
        return PVMC_EUNREACHABLE;
    const struct pvmw_reliable_settings settings = {.packet_bytes = l->room,
                                                    .window = PVMW_RELIABLE_WINDOW_MAX,
                                                    .credit = t->credit,
                                                    .retry_min_us = RETRY_MIN_US,
                                                    .retry_max_us = RETRY_MAX_US,
                                                    .ack_delay_us = ACK_DELAY_US,
                                                    .dead_after_us = t->base.dead_after_us};
    int rc = pvmt_datagram_connect(&l->base, &settings, peer->incarnation);
    if (rc)
        return rc;
    share_credit(t, 1);
    pvmt_datagram_up(&l->base);
    return 0;
}

static int read_peer(const struct dp_transport *t, const uint8_t *blob, size_t length, struct pvmt_dp_offer *peer)
{
    int rc = pvmt_dp_offer_decode(blob, length, peer);
    if (!rc && peer->ethertype != t->settings.ethertype) {
        pvmc_log_once(PVMC_LOG_WARNING,
                      "no dp link: PVM_DP_ETHERTYPE is 0x%04x here and 0x%04x at the other task; set the same for both",
                      t->settings.ethertype, peer->ethertype);
        rc = PVMC_EUNSUPPORTED;
    }
    return rc;
}

int pvmt_dp_link_offer(struct pvmt_datagram_link *base, uint8_t blob[PVMT_OFFER_MAX])
{
    struct dp_transport *t = (struct dp_transport *)base->ep.transport;
    struct pvmt_dp_offer own;
    int rc = pvmt_dp_ports_renew(t);
    if (rc)
        return rc;
    describe(t, base->own, &own);
    return pvmt_dp_offer_encode(&own, blob);
}

int pvmt_dp_link_join(struct pvmt_datagram_link *base, const uint8_t *blob, size_t length,
                      uint8_t reply[PVMT_OFFER_MAX])
{
    struct dp_transport *t = (struct dp_transport *)base->ep.transport;
    struct pvmt_dp_offer peer, own;
    int rc = read_peer(t, blob, length, &peer);
    if (!rc)
        rc = pvmt_dp_ports_renew(t);
    if (rc)
        return rc;
    describe(t, base->own, &own);
    rc = begin((struct dp_link *)base, &peer);
    return rc ? rc : pvmt_dp_offer_encode(&own, reply);
}

int pvmt_dp_link_joined(struct pvmt_datagram_link *base, const uint8_t *reply, size_t length)
{
    struct dp_link *l = (struct dp_link *)base;
    struct pvmt_dp_offer peer;
    int rc = read_peer(transport_of(l), reply, length, &peer);
    if (!rc)
        rc = begin(l, &peer);
    if (!rc && l->early_length)
        pvmt_datagram_take(base, l->early, l->early_length);
    l->early_length = 0;
    return rc;
}

void pvmt_dp_link_leave(struct pvmt_datagram_link *base)
{
    if (base->up)
        share_credit((struct dp_transport *)base->ep.transport, -1);
}

/* ---- incoming packets ---- */

/* Keeps a packet that the peer sent before its reply arrived. */
static void keep_early(struct dp_link *l, const uint8_t *packet, size_t length)
{
    if (length > sizeof l->early)
        return;
    memcpy(l->early, packet, length);
    l->early_length = (unsigned)length;
}

int pvmt_dp_link_take(struct dp_link *l, unsigned port, const uint8_t *hardware, const struct dpi_message *m,
                      const uint8_t *packet)
{
    if (!l->base.up) {
        keep_early(l, packet, m->length);
        return 0;
    }
    int rc = pvmt_datagram_take(&l->base, packet, m->length);
    if (!rc && !l->base.dead)
        note_way(l, port, hardware, m->from.point);
    return rc;
}
