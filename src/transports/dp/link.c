/*
 * link.c - a connection between two tasks over raw frames.
 *
 * Which of our interfaces leads to which of the peer's nobody knows beforehand: until the peer is heard of, and again
 * when it falls silent, packets go by all ways; then by the one that its own came by.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <utlist.h>
#include "../../core/clock.h"
#include "../../core/error.h"
#include "../../core/log.h"
#include "dp_transport.h"

#define RETRY_MIN_US 2000
#define RETRY_MAX_US 1000000
#define ACK_DELAY_US 200
#define CREDIT_MIN   4

static struct dp_transport *transport_of(const struct dp_link *l)
{
    return (struct dp_transport *)l->base.transport;
}

/* ---- which way ---- */

static void add_ways(struct dp_link *l, const struct pvmi_dp_offer *peer, bool loopback)
{
    struct dp_transport *t = transport_of(l);
    for (unsigned i = 0; i < t->port_count; i++)
        for (unsigned j = 0; j < peer->count; j++) {
            const struct pvmi_dp_port *port = &t->ports[i].port;
            const struct pvmi_dp_place *place = &peer->places[j];
            uint32_t room = (uint32_t)pvmi_dp_port_room(port);
            if (port->interface.loopback != loopback || place->loopback != loopback)
                continue;
            struct dp_way *w = &l->ways[l->way_count++];
            *w = (struct dp_way){.port = i, .node = peer->node, .point = place->point};
            memcpy(w->hardware, place->hardware, sizeof w->hardware);
            room = place->room < room ? place->room : room;
            l->room = room < l->room ? room : l->room;
        }
}

/* Tasks of one host meet on the loopback, if both have it open; a cable seldom leads back to where it comes from. */
static void find_ways(struct dp_link *l, const struct pvmi_dp_offer *peer)
{
    bool same_host = !memcmp(peer->host, transport_of(l)->host, sizeof peer->host);
    l->way_count = 0;
    l->room = UINT16_MAX;
    if (same_host)
        add_ways(l, peer, true);
    if (!l->way_count)
        add_ways(l, peer, false);
}

/* The peer was heard by this port, from that interface of it. */
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
    struct pvmi_dp_message m = {
        .kind = PVMI_DP_RELIABLE, .to = {w->node, w->point}, .from = p->port.point, .length = length};
    if (!pvmi_dp_port_is_usable(t, p))
        return PVMI_EDOWN;
    if (!pvmi_dp_batch_has_room(&t->batch, &p->port))
        pvmi_dp_flush(t);
    return pvmi_dp_batch_add(&t->batch, &p->port, &m, w->hardware, pieces, count);
}

static int emit_by_each(struct dp_link *l, const struct iovec *pieces, unsigned count, uint16_t length)
{
    int rc = PVMI_EDOWN;
    for (unsigned i = 0; i < l->way_count; i++)
        if (!emit_by(l, &l->ways[i], pieces, count, length))
            rc = 0;
    return rc;
}

static void break_off(struct dp_link *l)
{
    l->broken = true;
    pvmi_dp_touch(l);
}

static int emit_by_all(struct dp_link *l, const struct iovec *pieces, unsigned count, uint16_t length)
{
    int rc = emit_by_each(l, pieces, count, length);
    if (rc && pvmi_dp_ports_look_again(transport_of(l)))
        rc = emit_by_each(l, pieces, count, length);
    if (rc)
        break_off(l);
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

void pvmi_dp_links_check(struct dp_transport *t)
{
    struct dp_link *l, *next;
    HASH_ITER (hh, t->links, l, next)
        if (l->state != DP_OFFERED && !has_way(l))
            break_off(l);
}

static int emit(struct pvmi_frames *frames, const struct iovec *pieces, unsigned count)
{
    struct dp_link *l = (struct dp_link *)frames->ep;
    size_t length = 0;
    for (unsigned i = 0; i < count; i++)
        length += pieces[i].iov_len;
    if (pvmi_reliable_is_unanswered(frames->reliable) ||
        emit_by(l, &l->ways[l->way], pieces, count, (uint16_t)length) == PVMI_EDOWN)
        return emit_by_all(l, pieces, count, (uint16_t)length);
    return 0;
}

/* ---- sharing the rings ---- */

/* What all peers together may send must fit into the smallest ring, with room for packets that count for nobody. */
static uint32_t credit_for_each(const struct dp_transport *t)
{
    uint32_t slots = UINT32_MAX, credit = PVMI_RELIABLE_WINDOW_MAX;
    for (unsigned i = 0; i < t->port_count; i++)
        if (t->ports[i].port.frames < slots)
            slots = t->ports[i].port.frames;
    while (credit > CREDIT_MIN && credit * (t->link_count ? t->link_count : 1) > slots / 4 * 3)
        credit /= 2;
    return credit;
}

/* It changes by powers of two: so it seldom does, however often peers come and go. */
static void share_credit(struct dp_transport *t, int more)
{
    struct dp_link *l, *next;
    t->link_count += (unsigned)more;
    uint32_t credit = credit_for_each(t);
    if (credit == t->credit)
        return;
    t->credit = credit;
    HASH_ITER (hh, t->links, l, next)
        if (l->frames.reliable)
            pvmi_reliable_set_credit(l->frames.reliable, credit);
}

void pvmi_dp_links_share(struct dp_transport *t)
{
    share_credit(t, 0);
}

/* ---- beginning ---- */

static void describe(const struct dp_transport *t, uint32_t incarnation, struct pvmi_dp_offer *o)
{
    *o = (struct pvmi_dp_offer){
        .ethertype = t->settings.ethertype, .node = t->node, .incarnation = incarnation, .count = t->port_count};
    memcpy(o->host, t->host, sizeof o->host);
    for (unsigned i = 0; i < t->port_count; i++) {
        const struct pvmi_dp_port *p = &t->ports[i].port;
        o->places[i] = (struct pvmi_dp_place){
            .point = p->point.point, .room = (uint16_t)pvmi_dp_port_room(p), .loopback = p->interface.loopback};
        memcpy(o->places[i].hardware, p->interface.hardware, sizeof o->places[i].hardware);
    }
}

static int draw_incarnation(const struct dp_transport *t, uint32_t *out)
{
    struct dp_link *taken;
    do {
        if (getrandom(out, sizeof *out, 0) != sizeof *out)
            return PVMI_ESYSTEM;
        HASH_FIND(hh, t->links, out, sizeof *out, taken);
    } while (!*out || taken);
    return 0;
}

static int make(struct dp_transport *t, void *owner, struct dp_link **out)
{
    struct dp_link *l = calloc(1, sizeof *l);
    int rc = l ? draw_incarnation(t, &l->own) : PVMI_ENOMEM;
    if (rc) {
        free(l);
        return rc;
    }
    l->base = (struct pvmi_endpoint){.transport = &t->base, .owner = owner};
    if (!PVMI_HASH_ADD(hh, t->links, own, l)) {
        free(l);
        return PVMI_ENOMEM;
    }
    *out = l;
    return 0;
}

/* Takes it out of service; its memory stays until nobody on the stack can be using it. */
static void bury(struct dp_link *l)
{
    struct dp_transport *t = transport_of(l);
    if (l->dead)
        return;
    l->dead = l->frames.silent = true;
    if (l->frames.reliable) {
        pvmi_reliable_end(l->frames.reliable, t->now_us);
        share_credit(t, -1);
    }
    pvmi_dp_flush(t); /* before the frames that it may refer to are freed */
    if (t->last == l)
        t->last = NULL;
    pvmi_agenda_set(&t->agenda, &l->agenda, INT64_MAX);
    HASH_DELETE(hh, t->links, l);
    DL_APPEND(t->graveyard, l);
}

/* Both ends are known: the connection begins, and we knock. */
static int begin(struct dp_link *l, const struct pvmi_dp_offer *peer)
{
    struct dp_transport *t = transport_of(l);
    find_ways(l, peer);
    if (!l->way_count)
        return PVMI_EUNREACHABLE;
    const struct pvmi_reliable_settings settings = {.packet_bytes = l->room,
                                                    .window = t->settings.window,
                                                    .credit = t->credit,
                                                    .retry_min_us = RETRY_MIN_US,
                                                    .retry_max_us = RETRY_MAX_US,
                                                    .ack_delay_us = ACK_DELAY_US,
                                                    .dead_after_us = t->settings.dead_after_us};
    int rc = pvmi_frames_open(&l->frames, &l->base, &settings, l->own, peer->incarnation, emit);
    if (rc)
        return rc;
    share_credit(t, 1);
    l->state = DP_KNOCKING;
    pvmi_reliable_greet(l->frames.reliable, t->now_us);
    return 0;
}

static int read_peer(const struct dp_transport *t, const uint8_t *blob, size_t length, struct pvmi_dp_offer *peer)
{
    int rc = pvmi_dp_offer_decode(blob, length, peer);
    if (!rc && peer->ethertype != t->settings.ethertype) {
        pvmi_log_once(PVMI_LOG_WARNING,
                      "no dp link: PVM_DP_ETHERTYPE is 0x%04x here and 0x%04x at the other task; set the same for both",
                      t->settings.ethertype, peer->ethertype);
        rc = PVMI_EUNSUPPORTED;
    }
    return rc;
}

int pvmi_dp_link_offer(struct pvmi_transport *base, void *owner, uint8_t blob[PVMI_OFFER_MAX], int *fd,
                       struct pvmi_endpoint **out)
{
    struct dp_transport *t = (struct dp_transport *)base;
    struct pvmi_dp_offer own;
    struct dp_link *l;
    *fd = -1;
    int rc = pvmi_dp_ports_renew(t);
    if (!rc)
        rc = make(t, owner, &l);
    if (rc)
        return rc;
    describe(t, l->own, &own);
    rc = pvmi_dp_offer_encode(&own, blob);
    if (rc < 0) {
        pvmi_dp_link_disconnect(&l->base);
        return rc;
    }
    *out = &l->base;
    return rc;
}

int pvmi_dp_link_join(struct pvmi_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                      uint8_t reply[PVMI_OFFER_MAX], struct pvmi_endpoint **out)
{
    struct dp_transport *t = (struct dp_transport *)base;
    struct pvmi_dp_offer peer, own;
    struct dp_link *l;
    if (fd >= 0)
        close(fd);
    t->now_us = pvmi_clock_us();
    int rc = read_peer(t, blob, length, &peer);
    if (!rc)
        rc = pvmi_dp_ports_renew(t);
    if (!rc)
        rc = make(t, owner, &l);
    if (rc)
        return rc;
    describe(t, l->own, &own);
    rc = begin(l, &peer);
    if (!rc)
        rc = pvmi_dp_offer_encode(&own, reply);
    if (rc < 0) {
        pvmi_dp_link_disconnect(&l->base);
        return rc;
    }
    pvmi_dp_touch(l);
    pvmi_dp_flush(t);
    *out = &l->base;
    return rc;
}

int pvmi_dp_link_joined(struct pvmi_endpoint *base, const uint8_t *reply, size_t length)
{
    struct dp_link *l = (struct dp_link *)base;
    struct dp_transport *t = transport_of(l);
    struct pvmi_dp_offer peer;
    t->now_us = pvmi_clock_us();
    int rc = l->state == DP_OFFERED && !l->dead ? read_peer(t, reply, length, &peer) : PVMI_EEXISTS;
    if (!rc)
        rc = begin(l, &peer);
    if (rc)
        return rc;
    l->frames.refused = true; /* tx_ready is due, whether it was refused or not */
    if (l->early_length && !pvmi_frames_take(&l->frames, l->early, l->early_length, t->now_us))
        l->early_length = 0;
    pvmi_dp_touch(l);
    pvmi_dp_flush(t);
    return 0;
}

/* ---- the end ---- */

void pvmi_dp_link_free(struct dp_link *l)
{
    pvmi_frames_close(&l->frames);
    free(l);
}

void pvmi_dp_links_bury(struct dp_transport *t)
{
    struct dp_link *l, *next;
    DL_FOREACH_SAFE (t->graveyard, l, next) {
        pvmi_frames_close(&l->frames);
        if (!l->told || pvmi_dp_is_listed(l))
            continue;
        DL_DELETE(t->graveyard, l);
        free(l);
    }
}

void pvmi_dp_link_disconnect(struct pvmi_endpoint *base)
{
    struct dp_link *l = (struct dp_link *)base;
    struct dp_transport *t = transport_of(l);
    if (!t->in_progress)
        t->now_us = pvmi_clock_us();
    bury(l);
    l->told = true;
    if (!t->in_progress)
        pvmi_dp_links_bury(t);
}

static void down(struct dp_link *l, int reason)
{
    struct pvmi_transport *t = l->base.transport;
    bury(l);
    t->callbacks->down(t->arg, &l->base, reason);
}

/* ---- frames ---- */

int pvmi_dp_link_send(struct pvmi_endpoint *base, struct pvmi_frame *f)
{
    struct dp_link *l = (struct dp_link *)base;
    struct dp_transport *t = transport_of(l);
    if (l->dead || l->broken)
        return PVMI_EDOWN;
    if (!t->in_progress)
        t->now_us = pvmi_clock_us();
    int rc = pvmi_frames_send(&l->frames, f, t->now_us);
    if (rc)
        return rc;
    pvmi_dp_flush(t); /* at once: what it refers to may be acknowledged, and freed, at any time */
    if (!l->touched)
        pvmi_agenda_set(&t->agenda, &l->agenda, pvmi_reliable_due_us(l->frames.reliable));
    return 0;
}

/* One that the other side sent before its reply was here. */
static void keep_early(struct dp_link *l, const uint8_t *packet, size_t length)
{
    if (length > sizeof l->early)
        return;
    memcpy(l->early, packet, length);
    l->early_length = (unsigned)length;
}

int pvmi_dp_link_take(struct dp_link *l, unsigned port, const uint8_t *hardware, const struct pvmi_dp_message *m,
                      const uint8_t *packet)
{
    struct dp_transport *t = transport_of(l);
    if (l->state == DP_OFFERED) {
        keep_early(l, packet, m->length);
        return 0;
    }
    pvmi_dp_touch(l);
    int rc = pvmi_frames_take(&l->frames, packet, m->length, t->now_us);
    if (!rc && !l->dead)
        note_way(l, port, hardware, m->from.point);
    return rc;
}

static void note_debt(struct dp_link *l)
{
    struct dp_transport *t = transport_of(l);
    if (l->owing || !pvmi_reliable_owes(l->frames.reliable))
        return;
    l->owing = true;
    l->next_owing = t->owing;
    t->owing = l;
}

int pvmi_dp_link_settle(struct dp_link *l)
{
    struct dp_transport *t = transport_of(l);
    int reason = 0;
    if (l->dead)
        return 0;
    int n = pvmi_frames_progress(&l->frames, t->now_us, &reason);
    if (!l->dead && (n < 0 || l->broken)) {
        down(l, n < 0 ? reason : PVMI_EDOWN);
        return 1;
    }
    if (l->dead)
        return 1;
    if (l->state == DP_KNOCKING && pvmi_reliable_is_met(l->frames.reliable))
        l->state = DP_UP;
    note_debt(l);
    pvmi_agenda_set(&t->agenda, &l->agenda, pvmi_reliable_due_us(l->frames.reliable));
    return n;
}

void pvmi_dp_link_acknowledge(struct dp_link *l)
{
    struct dp_transport *t = transport_of(l);
    if (l->dead)
        return;
    pvmi_reliable_acknowledge(l->frames.reliable, t->now_us);
    pvmi_agenda_set(&t->agenda, &l->agenda, pvmi_reliable_due_us(l->frames.reliable));
}
