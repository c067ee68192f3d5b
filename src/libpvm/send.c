/*
 * send.c - pvm_send, pvm_mcast, pvm_psend: a message is cut into frames, each of which takes the route that there is
 * when its turn comes.
 */
#include "send.h"
#include <stdlib.h>
#include <string.h>
#include "../core/clock.h"
#include "../core/error.h"
#include "../core/proto.h"
#include "buffer.h"
#include "call.h"
#include "compat.h"
#include "handler.h"
#include "link.h"
#include "lock.h"
#include "options.h"
#include "outbox.h"
#include "peer.h"
#include "perror.h"
#include "request.h"
#include "route.h"
#include "task.h"
#include "trace.h"
#include "wait.h"

#define PSEND_COPIED 16 /* items that pvm_psend() copies */

/* ---- to ourselves ---- */

/* Without a body. NULL when out of memory. */
static struct pvmi_message *twin_of(const struct pvmi_message *m, uint32_t enc)
{
    struct pvmi_message *twin = pvmi_message_new(enc);
    if (!twin)
        return NULL;
    twin->src = m->src;
    twin->dst = m->dst;
    twin->tag = m->tag;
    twin->ctx = m->ctx;
    twin->wid = m->wid;
    twin->crc = m->crc;
    twin->dsig = m->dsig;
    return twin;
}

/* Who packs on gets a copy of it. */
static void share_body(struct pvmi_message *twin, const struct pvmi_message *m)
{
    if (!m->length)
        return;
    twin->mem = pvmi_mem_ref(m->mem);
    twin->length = m->length;
}

static int send_to_self(const struct pvmi_message *m)
{
    bool inplace = pvmi_message_is_inplace(m);
    struct pvmi_message *twin = twin_of(m, inplace ? m->dsig : m->enc);
    if (!twin)
        return PVMI_ENOMEM;
    int rc = 0;
    if (inplace)
        rc = pvmi_buffer_append(twin, m);
    else
        share_body(twin, m);
    if (rc)
        pvmi_message_unref(twin);
    else
        pvmi_link_deliver(twin);
    return rc;
}

/* ---- several threads: one message at a time goes to a task, all its frames in a row ---- */

/* The receivers of a message. */
struct claim {
    struct pvmi_peer **peers; /* all in use, and claimed */
    unsigned count;
};

static bool are_free(void *arg)
{
    const struct claim *c = arg;
    for (unsigned i = 0; i < c->count; i++)
        if (c->peers[i]->claimed)
            return false;
    return true;
}

/* 0 or an error. Waits for other threads' messages to these tasks. */
static int claim(struct claim *c)
{
    for (unsigned i = 0; i < c->count; i++)
        pvmi_peer_use(c->peers[i]);
    int rc = are_free(c) ? 0 : pvmi_wait_until(are_free, c, PVMI_WAIT_FOREVER);
    for (unsigned i = 0; i < c->count; i++)
        if (rc)
            pvmi_peer_put(c->peers[i]);
        else
            c->peers[i]->claimed = true;
    return rc;
}

static void end_claim(struct claim *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        c->peers[i]->claimed = false;
        pvmi_peer_put(c->peers[i]);
    }
    pvmi_wait_news = true;
}

static bool is_daemon_free(void *arg)
{
    (void)arg;
    return !pvmi_outbox_is_held();
}

/*
 * What is sent while the lock may be given back: another thread could free the message, or pack on. With the caller's
 * reference; NULL when out of memory.
 */
static struct pvmi_message *hold_message(struct pvmi_message *m)
{
    if (!pvmi_lock_is_ours() || pvmi_message_is_inplace(m))
        return pvmi_message_ref(m);
    struct pvmi_message *twin = twin_of(m, m->enc);
    if (twin)
        share_body(twin, m);
    return twin;
}

/* ---- to one other ---- */

#define WHOLE_MAX UINT32_MAX /* bytes of a message that goes by reference, in one frame */

/* A message on its way to one receiver. */
struct transfer {
    struct pvmi_message *m;
    pvmi_tid dst;
    struct pvmi_peer *peer;      /* in use; NULL: uncounted, to our daemon and the like */
    uint64_t offset;             /* of the next frame */
    bool whole;                  /* the last frame has been sent */
    struct pvmi_frame **inplace; /* frames of in-place data that a transport may still need */
    size_t inplace_count, inplace_capacity;
};

static struct pvmi_link *link_of(const struct transfer *t)
{
    return t->peer ? pvmi_route_link(t->peer) : &pvmi_daemon_link;
}

/* Whether trying on makes sense: there is room, or no sense in waiting for it. */
static bool can_go_on(const struct transfer *t)
{
    const struct pvmi_link *l = link_of(t);
    if (!pvmi_link_is_up() || (t->peer && t->peer->gone))
        return true;
    return pvmi_link_is_ready(l) && (l->peer || !pvmi_peer_is_held(t->dst));
}

/* Bytes of the next frame at most: a body that the receiver can be referred to goes in one piece. */
static size_t frame_limit(const struct transfer *t, const struct pvmi_link *l)
{
    struct pvmi_mem_place place;
    const struct pvmi_message *m = t->m;
    if (m->length <= l->frame_max || !l->by_reference || !l->lossless || t->offset || m->length > WHOLE_MAX ||
        pvmi_message_is_inplace(m) || !pvmi_mem_locate(m->mem, &place))
        return l->frame_max;
    return m->length;
}

/* The next frame to p, of `length` bytes, has been given to the link. */
static void count_sent(struct pvmi_peer *p, const struct pvmi_link *l, uint32_t length)
{
    struct pvmi_traffic *traffic = l->peer ? &p->direct : &p->daemon;
    p->tx_seq++;
    traffic->tx_frames++;
    traffic->tx_bytes += length;
}

/* In-place data must stay until no transport needs them any more. */
static int remember(struct transfer *t, struct pvmi_frame *f)
{
    while (t->inplace_count && t->inplace[0]->refs == 1) {
        pvmi_frame_unref(t->inplace[0]);
        memmove(t->inplace, t->inplace + 1, --t->inplace_count * sizeof *t->inplace);
    }
    if (t->inplace_count == t->inplace_capacity) {
        size_t capacity = t->inplace_capacity ? 2 * t->inplace_capacity : 16;
        struct pvmi_frame **bigger = realloc(t->inplace, capacity * sizeof *bigger);
        if (!bigger)
            return PVMI_ENOMEM;
        t->inplace = bigger;
        t->inplace_capacity = capacity;
    }
    t->inplace[t->inplace_count++] = pvmi_frame_ref(f);
    return 0;
}

/* The link has taken the next frame. 0 or PVMI_ENOMEM. */
static int note_sent(struct transfer *t, const struct pvmi_link *l, struct pvmi_frame *f)
{
    t->offset += f->h.length;
    t->whole = pvmi_frame_is_last(&f->h);
    if (t->peer)
        count_sent(t->peer, l, f->h.length);
    return !f->mem && f->h.length && f->refs > 1 ? remember(t, f) : 0;
}

/* The next frame, for that link; the caller's reference, NULL when out of memory. */
static struct pvmi_frame *next_frame(const struct transfer *t, const struct pvmi_link *l)
{
    struct pvmi_frame *f = pvmi_message_frame(t->m, t->offset, frame_limit(t, l), t->peer ? t->peer->tx_seq : 0);
    if (f)
        f->h.dst = t->dst;
    return f;
}

/* Sends the next frame, if there is room. 0, PVMI_EAGAIN or an error. */
static int send_frame(struct transfer *t)
{
    struct pvmi_link *l = link_of(t);
    struct pvmi_frame *f = next_frame(t, l);
    if (!f)
        return PVMI_ENOMEM;
    int rc = pvmi_link_send(l, f);
    if (rc == PVMI_EDOWN && l->peer) {
        pvmi_route_broken(l);
        rc = PVMI_EAGAIN; /* by the daemon, then */
    }
    if (!rc) {
        rc = note_sent(t, l, f);
    } else if (rc == PVMI_EAGAIN && t->peer && l->peer) {
        t->peer->refusals++;
    }
    pvmi_frame_unref(f);
    return rc;
}

/* Sends as much as there is room for. 0: all of it, or the receiver is gone; PVMI_EAGAIN; an error. */
static int advance(struct transfer *t)
{
    while (!t->whole) {
        if (t->peer && t->peer->gone)
            return 0; /* with its host; messages to nobody are dropped */
        struct pvmi_link *l = link_of(t);
        if (pvmi_link_must_listen(l)) {
            l->unheard = 0;
            int rc = pvmi_link_progress();
            if (rc < 0)
                return rc;
            continue;
        }
        if (!can_go_on(t))
            return PVMI_EAGAIN;
        int rc = send_frame(t);
        if (rc && rc != PVMI_EAGAIN)
            return rc;
    }
    return 0;
}

/* pvmi_condition: whether the caller may change and free its data. */
static bool is_released(void *arg)
{
    struct transfer *t = arg;
    const struct pvmi_link *l = link_of(t);
    while (t->inplace_count && t->inplace[t->inplace_count - 1]->refs == 1)
        pvmi_frame_unref(t->inplace[--t->inplace_count]);
    if (!pvmi_link_is_up() || (t->peer && t->peer->gone))
        return true;
    /* What one transport has not written yet, it would not while the program computes. */
    return !t->inplace_count && (l->lossless || pvmi_link_is_idle(l)) && !(t->peer && t->peer->again.count);
}

static bool may_go_on(void *arg)
{
    return can_go_on(arg);
}

/* peer is claimed, or NULL. */
static void begin(struct transfer *t, struct pvmi_message *m, pvmi_tid dst, struct pvmi_peer *peer)
{
    *t = (struct transfer){.m = m, .dst = dst, .peer = peer};
    if (!peer)
        pvmi_outbox_hold(pvmi_message_bytes(m) > pvmi_daemon_link.frame_max);
    else if (!peer->link)
        pvmi_route_consider(peer, 1);
}

static void end(struct transfer *t)
{
    while (t->inplace_count)
        pvmi_frame_unref(t->inplace[--t->inplace_count]);
    free(t->inplace);
    if (t->peer)
        return;
    pvmi_outbox_hold(false);
    pvmi_wait_news = true;
}

/* Sends the rest, waiting for room. Nothing else may be sent to the receiver meanwhile, so handlers wait. */
static int finish(struct transfer *t)
{
    int rc;
    pvmi_handler_defer();
    while ((rc = advance(t)) == PVMI_EAGAIN) {
        rc = pvmi_wait_until(may_go_on, t, PVMI_WAIT_FOREVER);
        if (rc)
            break;
    }
    if (!rc && !is_released(t))
        rc = pvmi_wait_until(is_released, t, PVMI_WAIT_FOREVER);
    pvmi_handler_allow();
    return rc;
}

/* Not an empty one, which has no memory. */
static int send_whole(struct pvmi_link *l, const struct pvmi_message *m, uint32_t seq)
{
    struct pvmi_frame_header h = {
        .length = (uint32_t)m->length,
        .dst = m->dst,
        .src = m->src,
        .seq = seq,
        .tag = m->tag,
        .ctx = m->ctx,
        .wid = m->wid,
        .enc = m->enc,
        .dsig = m->dsig,
        .body_length = m->length,
        .crc = m->crc,
    };
    return pvmi_link_send_whole(l, &h, m->mem->data);
}

static int send_one_frame(struct pvmi_link *l, struct pvmi_message *m, uint32_t seq)
{
    struct pvmi_frame *f = pvmi_message_frame(m, 0, l->frame_max, seq);
    int rc = f ? pvmi_link_send(l, f) : PVMI_ENOMEM;
    pvmi_frame_unref(f);
    return rc;
}

/* The usual case, for the shortest way: a message of one frame over a direct link that takes it. False: not done. */
static bool send_at_once(struct pvmi_message *m, struct pvmi_peer *p)
{
    struct pvmi_link *l = pvmi_route_link(p);
    if (!l->peer || m->length > l->frame_max || pvmi_message_is_inplace(m) || !pvmi_link_is_ready(l) || !l->lossless ||
        pvmi_link_must_listen(l))
        return false;
    int rc = m->length ? send_whole(l, m, p->tx_seq) : PVMI_EUNSUPPORTED;
    if (rc == PVMI_EUNSUPPORTED)
        rc = send_one_frame(l, m, p->tx_seq);
    if (!rc)
        count_sent(p, l, (uint32_t)m->length);
    return !rc;
}

/* p is claimed, or NULL. */
static int send_claimed(struct pvmi_message *m, struct pvmi_peer *p)
{
    struct transfer t;
    begin(&t, m, m->dst, p);
    int rc = p && pvmi_world ? pvmi_route_await(p) : 0;
    if (!rc)
        rc = finish(&t);
    end(&t);
    return rc;
}

static int send_to_peer(struct pvmi_message *m, struct pvmi_peer *p)
{
    struct pvmi_message *held = hold_message(m);
    if (!held)
        return PVMI_ENOMEM;
    struct claim c = {&p, 1};
    int rc = claim(&c);
    if (!rc) {
        rc = send_claimed(held, p);
        end_claim(&c);
    }
    pvmi_message_unref(held);
    return rc;
}

/* Uncounted messages: to our daemon, or control. */
static int send_to_daemon(struct pvmi_message *m)
{
    int rc = is_daemon_free(NULL) ? 0 : pvmi_wait_until(is_daemon_free, NULL, PVMI_WAIT_FOREVER);
    return rc ? rc : send_claimed(m, NULL);
}

int pvmi_send_message(struct pvmi_message *m)
{
    if (m->dst == pvmi_task.tid && m->dst)
        return send_to_self(m);
    bool counts = pvmi_peer_counts(m->dst, m->ctx);
    struct pvmi_peer *p = counts ? pvmi_peer_get(m->dst) : NULL;
    if (counts && !p)
        return PVMI_ENOMEM;
    if (p && p->link && !p->claimed && send_at_once(m, p))
        return 0;
    return p ? send_to_peer(m, p) : send_to_daemon(m);
}

/* ---- to many ---- */

/* Each sending has a multicast tid of its own for as long as it lasts. */
static pvmi_tid new_multicast_tid(void)
{
    static uint32_t counter;
    counter = (counter + 1) & PVMI_TID_LOCAL_MASK;
    return PVMI_TID_MULTICAST | pvmi_tid_host(pvmi_task.tid) | counter;
}

/* Tells the daemon who is behind the multicast tid and with which number each receiver's frames go on. */
static int announce_multicast(pvmi_tid group, const int *tids, unsigned count)
{
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, group);
    pvmi_buf_put_u32(&body, count);
    for (unsigned i = 0; i < count; i++) {
        struct pvmi_peer *peer = pvmi_peer_get((pvmi_tid)tids[i]);
        if (!peer) {
            pvmi_buf_free(&body);
            return PVMI_ENOMEM;
        }
        pvmi_buf_put_u32(&body, (uint32_t)tids[i]);
        pvmi_buf_put_u32(&body, peer->tx_seq);
    }
    return pvmi_request_one_way(PVMI_TM_MULTICAST, &body);
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
        if (pvmi_peer_is_held((pvmi_tid)r->tids[i]))
            return false;
    return true;
}

/* All frames to the group, each when no receiver is held; *frames becomes their number. */
static int send_to_group(struct pvmi_message *m, pvmi_tid group, struct receivers to, uint32_t *frames)
{
    struct transfer t = {.m = m, .dst = group};
    uint64_t bytes = pvmi_message_bytes(m);
    int rc = 0;
    do {
        if (pvmi_link_must_listen(&pvmi_daemon_link))
            rc = pvmi_link_progress();
        if (rc >= 0)
            rc = nobody_held(&to) ? 0 : pvmi_wait_until(nobody_held, &to, PVMI_WAIT_FOREVER);
        while (!rc && (rc = send_frame(&t)) == PVMI_EAGAIN)
            rc = pvmi_wait_until(may_go_on, &t, PVMI_WAIT_FOREVER);
        ++*frames;
    } while (!rc && t.offset < bytes);
    if (!rc && !is_released(&t))
        rc = pvmi_wait_until(is_released, &t, PVMI_WAIT_FOREVER);
    end(&t);
    return rc;
}

static int multicast(struct pvmi_message *m, const int *tids, unsigned count)
{
    uint32_t frames = 0;
    pvmi_tid group = new_multicast_tid();
    pvmi_handler_defer(); /* the numbers announced must be those of the next frames */
    int rc = announce_multicast(group, tids, count);
    if (!rc)
        rc = send_to_group(m, group, (struct receivers){tids, count}, &frames);
    for (unsigned i = 0; i < count && rc != PVMI_EDOWN; i++) {
        struct pvmi_peer *peer = pvmi_peer_get((pvmi_tid)tids[i]);
        if (!peer)
            continue;
        peer->tx_seq += frames;
        peer->daemon.tx_frames += frames;
        peer->daemon.tx_bytes += pvmi_message_bytes(m);
        pvmi_route_consider(peer, frames);
    }
    pvmi_handler_allow();
    return rc;
}

/* Transfers of one message by links that carry together. */
struct shared {
    struct transfer *transfers[PVMI_LINK_SHARE_MAX];
    unsigned count;
};

/* As many of them as have come as far as the first one whose link can share. */
static struct shared find_shared(struct transfer *direct, unsigned count)
{
    struct shared s = {.count = 0};
    for (unsigned i = 0; i < count && s.count < PVMI_LINK_SHARE_MAX; i++) {
        const struct transfer *first = s.count ? s.transfers[0] : &direct[i];
        bool alike = !direct[i].whole && !direct[i].peer->gone && direct[i].offset == first->offset;
        if (alike && pvmi_link_can_share(link_of(&direct[i]), s.count ? link_of(first) : NULL))
            s.transfers[s.count++] = &direct[i];
    }
    return s;
}

static bool shares(const struct shared *s, const struct transfer *t)
{
    bool is_one = false;
    for (unsigned i = 0; i < s->count && s->count > 1; i++)
        is_one = is_one || s->transfers[i] == t;
    return is_one;
}

/* Whether all may go on together, or some cannot any more: then all go by themselves. */
static bool can_share_on(void *arg)
{
    const struct shared *s = arg;
    for (unsigned i = 0; i < s->count; i++)
        if (!can_go_on(s->transfers[i]))
            return false;
    return true;
}

/* The next frame to all of them. 0; PVMI_EAGAIN; or an error, and none has been sent. */
static int send_shared_frame(struct shared *s)
{
    struct pvmi_link *links[PVMI_LINK_SHARE_MAX];
    struct pvmi_frame *frames[PVMI_LINK_SHARE_MAX] = {NULL};
    int rc = 0;
    for (unsigned i = 0; i < s->count && !rc; i++) {
        links[i] = link_of(s->transfers[i]);
        frames[i] = next_frame(s->transfers[i], links[0]);
        rc = !frames[i] ? PVMI_ENOMEM : links[i]->carrier != links[0]->carrier ? PVMI_EDOWN : 0;
    }
    rc = rc ? rc : pvmi_link_send_to_many(links, frames, s->count);
    for (unsigned i = 0; i < s->count; i++) {
        if (!rc)
            rc = note_sent(s->transfers[i], links[i], frames[i]);
        pvmi_frame_unref(frames[i]);
    }
    return rc;
}

static int listen_to_links(const struct shared *s)
{
    bool must = false;
    for (unsigned i = 0; i < s->count; i++) {
        struct pvmi_link *l = link_of(s->transfers[i]);
        must = must || pvmi_link_must_listen(l);
        l->unheard = pvmi_link_must_listen(l) ? 0 : l->unheard;
    }
    int rc = must ? pvmi_link_progress() : 0;
    return rc < 0 ? rc : 0;
}

/*
 * Sends as much of a message as there is room for, by links that carry together; `wait`: all of it. What is left, when
 * one of them ends, is for advance(). 0 or an error.
 */
static int advance_shared(struct transfer *direct, unsigned count, bool wait)
{
    struct shared s;
    int rc = 0;
    while (!rc && (s = find_shared(direct, count)).count > 1) {
        rc = listen_to_links(&s);
        if (rc)
            break;
        s = find_shared(direct, count); /* links may have ended */
        rc = s.count > 1 && can_share_on(&s) ? send_shared_frame(&s) : PVMI_EAGAIN;
        if (rc == PVMI_EAGAIN && wait)
            rc = pvmi_wait_until(can_share_on, &s, PVMI_WAIT_FOREVER);
    }
    return rc == PVMI_EAGAIN || rc == PVMI_EDOWN ? 0 : rc;
}

/*
 * Begins a transfer to each receiver that there is a direct link to, and moves the others to the front of tids. Returns
 * how many those are; *direct are the transfers, one for each of the rest.
 */
static unsigned divide(struct pvmi_message *m, int *tids, unsigned count, struct transfer *direct)
{
    unsigned by_daemon = 0;
    for (unsigned i = 0; i < count; i++) {
        struct pvmi_peer *p = pvmi_peer_find((pvmi_tid)tids[i]);
        if (p && pvmi_route_link(p)->peer && pvmi_peer_counts(p->tid, m->ctx))
            begin(direct++, m, p->tid, p);
        else
            tids[by_daemon++] = tids[i];
    }
    return by_daemon;
}

/* Virtual time: a link to each receiver, if there can be one. 0 or an error. */
static int link_to_all(const struct pvmi_message *m, const int *tids, unsigned count)
{
    int rc = 0;
    for (int await = 0; await < 2; await++)
        for (unsigned i = 0; i < count && !rc; i++) {
            bool counts = pvmi_peer_counts((pvmi_tid)tids[i], m->ctx);
            struct pvmi_peer *p = counts ? pvmi_peer_get((pvmi_tid)tids[i]) : NULL;
            if (p && await)
                rc = pvmi_route_await(p);
            else if (p)
                pvmi_route_consider(p, 1);
        }
    return rc;
}

/* Links take what they have room for at once; then the daemon carries for the others, then the links take the rest. */
static int send_to_claimed(struct pvmi_message *m, int *tids, unsigned count)
{
    struct transfer *direct = calloc(count, sizeof *direct);
    if (!direct)
        return PVMI_ENOMEM;
    pvmi_handler_defer();
    int rc = pvmi_world ? link_to_all(m, tids, count) : 0;
    unsigned others = divide(m, tids, count, direct);
    if (!rc)
        rc = advance_shared(direct, count - others, false);
    struct shared shared = find_shared(direct, count - others);
    for (unsigned i = 0; i < count - others && (!rc || rc == PVMI_EAGAIN); i++)
        rc = shares(&shared, &direct[i]) ? rc : advance(&direct[i]);
    if (rc == PVMI_EAGAIN)
        rc = 0;
    if (!rc && others == 1) {
        m->dst = (pvmi_tid)tids[0];
        rc = send_claimed(m, pvmi_peer_get(m->dst));
    } else if (!rc && others) {
        rc = multicast(m, tids, others);
    }
    if (!rc)
        rc = advance_shared(direct, count - others, true);
    for (unsigned i = 0; i < count - others; i++) {
        if (!rc)
            rc = finish(&direct[i]);
        end(&direct[i]);
    }
    pvmi_handler_allow();
    free(direct);
    return rc;
}

static int send_to_all(struct pvmi_message *m, int *tids, unsigned count)
{
    struct pvmi_message *held = hold_message(m);
    struct claim c = {.peers = malloc(count * sizeof *c.peers)};
    int rc = held && c.peers ? 0 : PVMI_ENOMEM;
    for (; c.count < count && !rc; c.count++)
        if (!(c.peers[c.count] = pvmi_peer_get((pvmi_tid)tids[c.count])))
            rc = PVMI_ENOMEM;
    if (!rc)
        rc = claim(&c);
    if (!rc) {
        rc = send_to_claimed(held, tids, count);
        end_claim(&c);
    }
    free(c.peers);
    pvmi_message_unref(held);
    return rc;
}

/* ---- public calls ---- */

static bool may_receive(int tid)
{
    return pvmi_tid_names_task((pvmi_tid)tid) || (pvmi_options.resv_tids && tid);
}

static bool may_carry(int tag)
{
    return tag >= 0 || pvmi_options.resv_tids;
}

static void address(struct pvmi_message *m, pvmi_tid dst, int tag)
{
    m->src = pvmi_task.tid;
    m->dst = dst;
    m->tag = tag;
    m->ctx = (uint32_t)pvmmyctx;
}

/* As events tell it. */
static int bytes_to_send(void)
{
    return pvmi_send_buffer.m ? (int)pvmi_message_bytes(pvmi_send_buffer.m) : -1;
}

static int send_active(int tid, int tag)
{
    struct pvmi_message *m = pvmi_send_buffer.m;
    if (!m)
        return PvmNoBuf;
    if (tid == PVM_TRACE_TID && tag == PVM_TRACE_CODE)
        return pvmi_trace_send_user(m);
    if (!may_receive(tid) || !may_carry(tag))
        return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    address(m, (pvmi_tid)tid, tag);
    rc = pvmi_send_message(m);
    pvmi_handler_run();
    return rc;
}

static int send_now(int tid, int tag)
{
    return pvmi_return("pvm_send", send_active(tid, tag));
}

static PVMI_COLD int watched_send(int tid, int tag)
{
    PVMI_BEGIN(TEV_SEND, PVMI_INT(MNB, bytes_to_send()), PVMI_INT(DST, tid), PVMI_INT(MC, tag),
               PVMI_INT(MCX, pvmmyctx));
    int rc = send_now(tid, tag);
    PVMI_END(TEV_SEND, PVMI_INT(CC, rc));
    return rc;
}

int pvm_send(int tid, int tag)
{
    return pvmi_call_is_watched() ? watched_send(tid, tag) : send_now(tid, tag);
}

static int compare_tids(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Leaves each receiver once and ourselves not at all; returns how many are left. */
static unsigned unique_others(int *tids, unsigned count)
{
    unsigned kept = 0;
    qsort(tids, count, sizeof *tids, compare_tids);
    for (unsigned i = 0; i < count; i++)
        if (tids[i] != (int)pvmi_task.tid && (!kept || tids[i] != tids[kept - 1]))
            tids[kept++] = tids[i];
    return kept;
}

static int send_to_many(struct pvmi_message *m, int *tids, int count, int tag)
{
    unsigned others = unique_others(tids, (unsigned)count);
    address(m, others ? (pvmi_tid)tids[0] : 0, tag);
    if (!others)
        return 0;
    return others == 1 ? pvmi_send_message(m) : send_to_all(m, tids, others);
}

static int mcast_active(const int *tids, int count, int tag)
{
    struct pvmi_message *m = pvmi_send_buffer.m;
    if (!m)
        return PvmNoBuf;
    if (count < 0 || (count && !tids) || !may_carry(tag))
        return PVMI_EPARAM;
    for (int i = 0; i < count; i++)
        if (!pvmi_tid_names_task((pvmi_tid)tids[i]))
            return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc || !count)
        return rc;
    int *copy = malloc(count * sizeof *copy);
    if (!copy)
        return PVMI_ENOMEM;
    memcpy(copy, tids, count * sizeof *copy);
    rc = send_to_many(m, copy, count, tag);
    free(copy);
    pvmi_handler_run();
    return rc;
}

int pvm_mcast(int *tids, int count, int tag)
{
    PVMI_BEGIN(TEV_MCAST, PVMI_INT(MNB, bytes_to_send()), PVMI_INT(MC, tag), PVMI_INT(MCX, pvmmyctx),
               PVMI_INTS(MDL, tids, tids && count > 0 ? count : 0));
    int rc = pvmi_return("pvm_mcast", mcast_active(tids, count, tag));
    PVMI_END(TEV_MCAST, PVMI_INT(CC, rc));
    return rc;
}

static int send_data(int tid, int tag, const void *data, int n, int type)
{
    if (type == PVM_STR)
        return PVMI_EUNSUPPORTED;
    if (!may_receive(tid) || !may_carry(tag))
        return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    bool few = n >= 0 && n <= PSEND_COPIED; /* a copy costs less than the care for data that must stay */
    struct pvmi_message *m = pvmi_message_new(few ? pvmi_dsig_own() : PVMI_ENC_INPLACE);
    if (!m)
        return PVMI_ENOMEM;
    rc = pvmi_message_pack(m, type, data, n, 1);
    if (!rc) {
        address(m, (pvmi_tid)tid, tag);
        rc = pvmi_send_message(m);
    }
    pvmi_message_unref(m);
    pvmi_handler_run();
    return rc;
}

int pvm_psend(int tid, int tag, void *data, int n, int type)
{
    PVMI_BEGIN(TEV_PSEND, PVMI_INT(DST, tid), PVMI_INT(MC, tag), PVMI_INT(MCX, pvmmyctx), PVMI_LONG(PDA, data),
               PVMI_INT(PC, n), PVMI_INT(PDT, type));
    int rc = pvmi_return("pvm_psend", send_data(tid, tag, data, n, type));
    PVMI_END(TEV_PSEND, PVMI_INT(CC, rc));
    return rc;
}
