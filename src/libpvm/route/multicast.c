/*
 * multicast.c - a message to many receivers: links that can share get each frame once, and the daemons distribute the
 * rest.
 */
#include "multicast.h"
#include <stdlib.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/message/proto.h"
#include "claim.h"
#include "libpvm/engine/handler.h"
#include "request.h"
#include "send.h"
#include "libpvm/base/shadow.h"
#include "libpvm/base/task.h"
#include "libpvm/base/virtual.h"
#include "transfer.h"
#include "libpvm/engine/wait.h"

/* A multicast tid identifies one sending while it lasts. */
static pvmc_tid new_multicast_tid(void)
{
    static uint32_t counter;
    counter = (counter + 1) & PVMC_TID_LOCAL_MASK;
    return PVMC_TID_MULTICAST | pvmc_tid_host(pvmi_task.tid) | counter;
}

/* Tells the daemon which tasks the multicast tid stands for, and the number of the next frame to each. */
static int announce_multicast(pvmc_tid group, const int *tids, unsigned count)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, group);
    pvmc_buf_put_u32(&body, count);
    for (unsigned i = 0; i < count; i++) {
        struct pvmi_peer *peer = pvmi_peer_get((pvmc_tid)tids[i]);
        if (!peer) {
            pvmc_buf_free(&body);
            return PVMC_ENOMEM;
        }
        pvmc_buf_put_u32(&body, (uint32_t)tids[i]);
        pvmc_buf_put_u32(&body, peer->tx_seq);
    }
    return pvmi_request_one_way(PVMC_TM_MULTICAST, &body);
}

struct receivers {
    const int *tids;
    unsigned count;
};

static bool nobody_held(void *arg)
{
    const struct receivers *r = arg;
    if (!pvmi_link_is_up())
        return true;
    for (unsigned i = 0; i < r->count; i++)
        if (pvmi_peer_is_held((pvmc_tid)r->tids[i]))
            return false;
    return true;
}

/* In virtual time: the shadow of the group's frame number `frame`, from 0. False: out of memory. */
static bool add_shadow(struct pvmi_transfer *t, const struct receivers *to, uint32_t frame)
{
    uint64_t left = pvmc_message_bytes(t->m) - t->offset;
    struct pvmc_shadow *ends = calloc(to->count, sizeof *ends);
    if (!ends)
        return false;
    for (unsigned i = 0; i < to->count; i++) {
        const struct pvmi_peer *p = pvmi_peer_find((pvmc_tid)to->tids[i]);
        ends[i] = (struct pvmc_shadow){(uint32_t)to->tids[i], p ? p->tx_seq + frame : 0};
    }
    t->has_shadow =
        pvmi_shadow_begin(ends, to->count, left < pvmi_daemon_link.frame_max ? left : pvmi_daemon_link.frame_max);
    t->shadow_at = t->offset + 1;
    free(ends);
    return true;
}

/* Sends all frames to the group, each when no receiver is held; *frames becomes their number. */
static int send_to_group(struct pvmc_message *m, pvmc_tid group, struct receivers to, uint32_t *frames)
{
    struct pvmi_transfer t = {.m = m, .dst = group};
    uint64_t bytes = pvmc_message_bytes(m);
    int rc = 0;
    do {
        if (pvmi_link_must_listen(&pvmi_daemon_link))
            rc = pvmi_link_progress();
        if (rc >= 0)
            rc = nobody_held(&to) ? 0 : pvmi_wait_until(nobody_held, &to, PVMI_WAIT_FOREVER);
        if (!rc && pvmi_shadow_handing)
            rc = pvmi_wait_until(pvmi_transfer_may_go_on, &t, PVMI_WAIT_FOREVER);
        if (!rc && pvmi_virtual() && !add_shadow(&t, &to, *frames))
            rc = PVMC_ENOMEM;
        while (!rc && (rc = pvmi_transfer_send(&t)) == PVMC_EAGAIN)
            rc = pvmi_wait_until(pvmi_transfer_may_go_on, &t, PVMI_WAIT_FOREVER);
        ++*frames;
    } while (!rc && t.offset < bytes);
    if (!rc && !pvmi_transfer_is_released(&t))
        rc = pvmi_wait_until(pvmi_transfer_is_released, &t, PVMI_WAIT_FOREVER);
    pvmi_transfer_end(&t);
    return rc;
}

/* Sends to the maximum number of receivers that the daemon accepts at once. */
static int send_by_daemon(struct pvmc_message *m, const int *tids, unsigned count)
{
    uint32_t frames = 0;
    pvmc_tid group = new_multicast_tid();
    pvmi_handler_defer(); /* so that the announced numbers are those of the next frames */
    int rc = announce_multicast(group, tids, count);
    if (!rc)
        rc = send_to_group(m, group, (struct receivers){tids, count}, &frames);
    for (unsigned i = 0; i < count && rc != PVMC_EDOWN; i++) {
        struct pvmi_peer *peer = pvmi_peer_get((pvmc_tid)tids[i]);
        if (!peer)
            continue;
        peer->tx_seq += frames;
        peer->daemon.tx_frames += frames;
        peer->daemon.tx_bytes += pvmc_message_bytes(m);
        pvmi_gauges->routes[PVMC_GAUGES_daemon].tx_messages++;
        pvmi_gauges->routes[PVMC_GAUGES_daemon].tx_bytes += pvmc_message_bytes(m);
        pvmi_route_consider(peer, frames, pvmc_message_bytes(m));
    }
    pvmi_handler_allow();
    return rc;
}

static int send_by_daemons(struct pvmc_message *m, const int *tids, unsigned count)
{
    int rc = 0;
    for (unsigned i = 0, n; i < count && !rc; i += n) {
        n = count - i < PVMC_MULTICAST_MAX ? count - i : PVMC_MULTICAST_MAX;
        rc = send_by_daemon(m, tids + i, n);
    }
    return rc;
}

/* Transfers of one message over links that can share. */
struct shared {
    struct pvmi_transfer *transfers[PVMI_LINK_SHARE_MAX];
    unsigned count;
};

/* Collects the transfers that have advanced as far as the first one whose link can share. */
static struct shared find_shared(struct pvmi_transfer *direct, unsigned count)
{
    struct shared s = {.count = 0};
    for (unsigned i = 0; i < count && s.count < PVMI_LINK_SHARE_MAX; i++) {
        const struct pvmi_transfer *first = s.count ? s.transfers[0] : &direct[i];
        bool alike = !direct[i].whole && !direct[i].peer->gone && direct[i].offset == first->offset;
        if (alike && pvmi_link_can_share(pvmi_transfer_link(&direct[i]), s.count ? pvmi_transfer_link(first) : NULL))
            s.transfers[s.count++] = &direct[i];
    }
    return s;
}

static bool shares(const struct shared *s, const struct pvmi_transfer *t)
{
    bool is_one = false;
    for (unsigned i = 0; i < s->count && s->count > 1; i++)
        is_one = is_one || s->transfers[i] == t;
    return is_one;
}

/* Whether all can continue together. Also false when some no longer can: each then continues by itself. */
static bool can_share_on(void *arg)
{
    const struct shared *s = arg;
    for (unsigned i = 0; i < s->count; i++)
        if (!pvmi_transfer_may_go_on(s->transfers[i]))
            return false;
    return true;
}

/* Sends the next frame to all of them. 0; PVMC_EAGAIN; or an error, and none has been sent. */
static int send_shared_frame(struct shared *s)
{
    struct pvmi_link *links[PVMI_LINK_SHARE_MAX];
    struct pvmc_frame *frames[PVMI_LINK_SHARE_MAX] = {NULL};
    int rc = 0;
    for (unsigned i = 0; i < s->count && !rc; i++) {
        links[i] = pvmi_transfer_link(s->transfers[i]);
        frames[i] = pvmi_transfer_frame(s->transfers[i], links[0]);
        rc = !frames[i] ? PVMC_ENOMEM : links[i]->carrier != links[0]->carrier ? PVMC_EDOWN : 0;
    }
    rc = rc ? rc : pvmi_link_send_to_many(links, frames, s->count);
    for (unsigned i = 0; i < s->count; i++) {
        if (!rc)
            rc = pvmi_transfer_note(s->transfers[i], links[i], frames[i]);
        pvmc_frame_unref(frames[i]);
    }
    return rc;
}

static int listen_to_links(const struct shared *s)
{
    bool must = false;
    for (unsigned i = 0; i < s->count; i++) {
        struct pvmi_link *l = pvmi_transfer_link(s->transfers[i]);
        must = must || pvmi_link_must_listen(l);
        l->unheard = pvmi_link_must_listen(l) ? 0 : l->unheard;
    }
    int rc = must ? pvmi_link_progress() : 0;
    return rc < 0 ? rc : 0;
}

/*
 * Sends as much of a message as there is room for over links that can share; all of it with `wait`. If a link ends,
 * pvmi_transfer_advance() sends the rest. 0 or an error.
 */
static int advance_shared(struct pvmi_transfer *direct, unsigned count, bool wait)
{
    struct shared s;
    int rc = 0;
    while (!rc && (s = find_shared(direct, count)).count > 1) {
        rc = listen_to_links(&s);
        if (rc)
            break;
        s = find_shared(direct, count); /* links may have ended */
        if (s.count < 2)
            break;
        rc = can_share_on(&s) ? send_shared_frame(&s) : PVMC_EAGAIN;
        if (rc == PVMC_EAGAIN && wait)
            rc = pvmi_wait_until(can_share_on, &s, PVMI_WAIT_FOREVER);
    }
    return rc == PVMC_EAGAIN || rc == PVMC_EDOWN ? 0 : rc;
}

/*
 * Begins a transfer to each receiver with a direct link, into *direct, and moves the other receivers to the front of
 * tids. Returns the number of those others.
 */
static unsigned divide(struct pvmc_message *m, int *tids, unsigned count, struct pvmi_transfer *direct)
{
    unsigned by_daemon = 0;
    for (unsigned i = 0; i < count; i++) {
        struct pvmi_peer *p = pvmi_peer_find((pvmc_tid)tids[i]);
        if (p && pvmi_route_link(p)->peer && pvmi_peer_counts(p->tid, m->ctx))
            pvmi_transfer_begin(direct++, m, p->tid, p);
        else
            tids[by_daemon++] = tids[i];
    }
    return by_daemon;
}

/* In virtual time: makes a link to each receiver, if possible. 0 or an error. */
static int link_to_all(const struct pvmc_message *m, const int *tids, unsigned count)
{
    int rc = 0;
    for (int await = 0; await < 2; await++)
        for (unsigned i = 0; i < count && !rc; i++) {
            bool counts = pvmi_peer_counts((pvmc_tid)tids[i], m->ctx);
            struct pvmi_peer *p = counts ? pvmi_peer_get((pvmc_tid)tids[i]) : NULL;
            if (p && await)
                rc = pvmi_route_await(p);
            else if (p)
                pvmi_route_consider(p, 1, 0);
        }
    return rc;
}

/* Links first get what they have room for, then the daemon's frames are sent, then the links get the rest. */
static int send_to_claimed(struct pvmc_message *m, int *tids, unsigned count)
{
    struct pvmi_transfer *direct = calloc(count, sizeof *direct);
    if (!direct)
        return PVMC_ENOMEM;
    pvmi_handler_defer();
    int rc = pvmi_virtual() ? link_to_all(m, tids, count) : 0;
    unsigned others = divide(m, tids, count, direct);
    if (!rc)
        rc = advance_shared(direct, count - others, false);
    struct shared shared = find_shared(direct, count - others);
    for (unsigned i = 0; i < count - others && (!rc || rc == PVMC_EAGAIN); i++)
        rc = shares(&shared, &direct[i]) ? rc : pvmi_transfer_advance(&direct[i]);
    if (rc == PVMC_EAGAIN)
        rc = 0;
    if (!rc && others == 1) {
        m->dst = (pvmc_tid)tids[0];
        rc = pvmi_transfer_all(m, pvmi_peer_get(m->dst));
    } else if (!rc && others) {
        rc = send_by_daemons(m, tids, others);
    }
    if (!rc)
        rc = advance_shared(direct, count - others, true);
    for (unsigned i = 0; i < count - others; i++) {
        if (!rc)
            rc = pvmi_transfer_finish(&direct[i]);
        pvmi_transfer_end(&direct[i]);
    }
    pvmi_handler_allow();
    free(direct);
    return rc;
}

int pvmi_multicast(struct pvmc_message *m, int *tids, unsigned count)
{
    struct pvmc_message *held = pvmi_claim_message(m);
    struct pvmi_claim c = {.peers = malloc(count * sizeof *c.peers)};
    int rc = held && c.peers ? 0 : PVMC_ENOMEM;
    for (; c.count < count && !rc; c.count++)
        if (!(c.peers[c.count] = pvmi_peer_get((pvmc_tid)tids[c.count])))
            rc = PVMC_ENOMEM;
    struct pvmi_gauges_wait outer = pvmi_gauges_begin(PVMC_GAUGES_SENDS, -1, m->tag);
    if (!rc)
        rc = pvmi_claim(&c);
    if (!rc) {
        rc = send_to_claimed(held, tids, count);
        pvmi_claim_end(&c);
    }
    pvmi_gauges_end(&outer);
    free(c.peers);
    pvmc_message_unref(held);
    return rc;
}

/* Links that can share get a frame for all of them later. */
static bool is_sent_at_once(struct pvmc_message *m, const struct pvmi_peer *p)
{
    m->dst = p->tid;
    return p->link && !pvmi_link_can_share(p->link, NULL) && !pvmi_send(m, PVMI_SEND_AT_ONCE);
}

unsigned pvmi_multicast_at_once(struct pvmc_message *m, int *tids, unsigned count)
{
    static uint64_t number; /* of this call */
    struct pvmc_message *packed = pvmi_send_packed(m);
    unsigned left = 0;
    number++;
    for (unsigned i = 0; i < count; i++) {
        struct pvmi_peer *p = tids[i] != (int)pvmi_task.tid ? pvmi_peer_get((pvmc_tid)tids[i]) : NULL;
        if (p && p->multicast == number)
            continue;
        if (p)
            p->multicast = number;
        if (!p || !is_sent_at_once(packed ? packed : m, p))
            tids[left++] = tids[i];
    }
    if (packed)
        pvmc_message_unref(packed);
    return left;
}
