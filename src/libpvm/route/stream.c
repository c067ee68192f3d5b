/* stream.c - see stream.h. */
#include "stream.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "core/error.h"
#include "libpvm/base/call.h"
#include "libpvm/base/shadow.h"
#include "libpvm/base/task.h"
#include "libpvm/base/virtual.h"
#include "libpvm/engine/link.h"
#include "libpvm/engine/peer.h"
#include "claim.h"
#include "route.h"
#include "send.h"
#include "transfer.h"

#define FRAME_MAX  65536 /* bytes: the receiver reads a frame when all of it is there */
#define ITEM_BYTES 16    /* a multiple of every item's */

struct stream {
    struct pvmc_message *m; /* with a reference; NULL: given up */
    struct pvmi_peer *peer; /* in use */
    struct pvmc_envelope to;
    uint64_t sent;         /* bytes */
    uint64_t due;          /* so many leave as soon as there is room, even if the last of them make a short frame */
    uint64_t edge, packed; /* the last call that packed anything packed from here to there */
    uint64_t refused;      /* bytes packed when there was no room; after some more it is tried again */
    bool over;             /* given up, and the receiver has been told if it must be */
    struct stream *next;
};

static struct stream *streams;

static struct stream *find(const struct pvmc_message *m)
{
    struct stream *s;
    LL_SEARCH_SCALAR(streams, s, m, m);
    return s;
}

bool pvmi_stream_has(const struct pvmc_message *m)
{
    return m && find(m);
}

static void watch(bool on)
{
    if (on)
        __atomic_fetch_or(&pvmi_call_watch, PVMI_WATCH_STREAM, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&pvmi_call_watch, ~(unsigned)PVMI_WATCH_STREAM, __ATOMIC_RELAXED);
}

/* Forgets a stream, wherever it is. */
static void end(struct stream *s)
{
    LL_DELETE(streams, s);
    s->peer->streams = false;
    pvmi_peer_put(s->peer);
    pvmc_message_unref(s->m);
    free(s);
    if (!streams) {
        watch(false);
        pvmi_link_has_room = NULL;
    }
}

/* ---- frames ---- */

/*
 * Whether a frame may leave now by that link. In virtual time the daemons' route carries nothing early, but the abort,
 * with a shadow.
 */
static bool may_send(const struct stream *s, const struct pvmi_link *l)
{
    if (!pvmi_link_is_up() || s->peer->gone || s->peer->claimed || !pvmi_link_is_ready(l))
        return false;
    if (l->peer)
        return true;
    return (!pvmi_virtual() || !s->m) && !pvmi_shadow_handing && !pvmi_peer_is_held(s->peer->tid);
}

static void push_waiting(void);

/* There is no room. It is tried again when there is, and when more has been packed. */
static bool await_room(struct stream *s)
{
    s->refused = s->packed;
    pvmi_link_has_room = push_waiting;
    return false;
}

/* The next look at the links comes first; then it is tried again. */
static bool await_look(struct stream *s, struct pvmi_link *l)
{
    if (l->peer)
        l->unheard = 0;
    await_room(s);
    pvmi_link_retry();
    return false;
}

/* Whether a frame may leave now; `listens`: after a look at the links if room or a hold may have come. */
static bool has_room(struct stream *s, bool listens)
{
    struct pvmi_link *l = pvmi_route_link(s->peer);
    bool may = may_send(s, l);
    if (may && !pvmi_link_must_listen(l))
        return true;
    if (s->peer->claimed)
        return false;
    if (!listens)
        return may ? await_look(s, l) : await_room(s);
    l->unheard = 0;
    return (pvmi_link_progress() >= 0 && may_send(s, pvmi_route_link(s->peer))) || await_room(s);
}

/* Takes over f. 0; PVMC_EDOWN: the link is down, and the daemon carries the next one; or why it has not left. */
static int send_frame(struct stream *s, struct pvmc_frame *f)
{
    struct pvmi_link *l = pvmi_route_link(s->peer);
    int rc = f ? pvmi_link_send(l, f) : PVMC_ENOMEM;
    if (rc == PVMC_EDOWN && l->peer)
        pvmi_route_broken(l);
    else if (rc == PVMC_EDOWN)
        rc = PVMC_EAGAIN;
    if (!rc)
        pvmi_transfer_count(s->peer, l, f->h.length, false);
    else if (rc == PVMC_EAGAIN && l->peer)
        s->peer->refusals++;
    if (rc == PVMC_EAGAIN)
        await_room(s);
    pvmc_frame_unref(f);
    return rc;
}

static struct pvmc_frame_header header_of(const struct stream *s)
{
    return (struct pvmc_frame_header){.flags = PVMC_FRAME_STREAM,
                                      .envelope = s->to,
                                      .seq = s->peer->tx_seq,
                                      .body_length = PVMC_FRAME_LENGTH_OPEN,
                                      .offset = s->sent};
}

/* A copy, so that the message's memory can grow in place. */
static struct pvmc_frame *make_frame(const struct stream *s, uint32_t bytes)
{
    struct pvmc_frame_header h = header_of(s);
    h.length = bytes;
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    if (f)
        memcpy(f->mem->data, s->m->mem->data + s->sent, bytes);
    return f;
}

/* The next frame's bytes, 0 if there are too few. A long array is cut between items. */
static uint32_t next_bytes(const struct stream *s)
{
    const struct pvmi_link *l = pvmi_route_link(s->peer);
    uint64_t left = s->m->length - s->sent, most = l->frame_max < FRAME_MAX ? l->frame_max : FRAME_MAX;
    if ((left < l->stream_bytes && s->sent >= s->due) || (s->refused && s->packed - s->refused < l->stream_bytes))
        return 0;
    if (left <= most)
        return (uint32_t)left;
    uint64_t limit = s->sent + most, from = s->edge > s->sent && s->edge < limit ? s->edge : s->sent;
    uint64_t behind = s->sent > s->edge ? (s->sent - s->edge) % ITEM_BYTES : 0;
    uint64_t cut = limit - (limit - from + behind) % ITEM_BYTES;
    return (uint32_t)(cut > s->sent ? cut - s->sent : most);
}

static void push(struct stream *s, bool listens)
{
    int rc = 0;
    while ((!rc || rc == PVMC_EDOWN) && next_bytes(s) && has_room(s, listens)) {
        s->refused = 0;
        uint32_t bytes = next_bytes(s); /* a link may have come or gone */
        if (listens && !s->peer->link && !s->sent)
            pvmi_route_consider(s->peer, 1, bytes);
        rc = bytes ? send_frame(s, make_frame(s, bytes)) : PVMC_EAGAIN;
        if (!rc) {
            s->due = s->m->length;
            s->sent += bytes;
        }
    }
}

static struct pvmc_frame *make_abort(const struct stream *s)
{
    struct pvmc_frame_header h = header_of(s);
    struct pvmc_shadow to = {h.dst, h.seq};
    bool by_daemon = !pvmi_route_link(s->peer)->peer;
    h.flags |= PVMC_FRAME_ABORT;
    if (by_daemon && pvmi_virtual() && pvmi_shadow_begin(&to, 1, 0))
        h.flags |= PVMC_FRAME_SHADOW;
    return pvmc_frame_new(&h, NULL);
}

static bool send_abort(struct stream *s)
{
    int rc;
    while ((rc = send_frame(s, make_abort(s))) == PVMC_EDOWN && has_room(s, false))
        ;
    return !rc;
}

/* Takes back what has left. A look at the links may do so as well, by push_waiting(). */
static void take_back(struct stream *s, bool listens)
{
    s->over = s->over || !s->sent || s->peer->gone;
    bool may = !s->over && has_room(s, listens);
    s->over = s->over || (may && send_abort(s));
}

/* The same, and forgets the stream when that is done. Only the first try looks at the links. */
static void cancel(struct stream *s)
{
    bool is_first = s->m;
    pvmc_message_unref(s->m);
    s->m = NULL;
    take_back(s, is_first);
    if (s->over)
        end(s);
}

/* pvmi_link_has_room. It ends no stream, because the caller may be walking the list: flow() does. */
static void push_waiting(void)
{
    struct stream *s;
    LL_FOREACH (streams, s) {
        s->refused = 0;
        if (!s->m)
            take_back(s, false);
        else if (!s->peer->gone)
            push(s, false);
    }
}

/* ---- the end of each call ---- */

static void note_packed(struct stream *s)
{
    if (s->m->length == s->packed)
        return;
    s->edge = s->packed;
    s->packed = s->m->length;
}

/* Lets the time pass that the program has computed, if a frame is due. Other threads may run meanwhile. */
static void pass_time(void)
{
    struct stream *s = pvmi_virtual() ? streams : NULL;
    while (s && (!s->m || !next_bytes(s)))
        s = s->next;
    if (s)
        pvmi_call_clock->pass();
}

/* Nothing of a message whose buffer is gone is left but our reference. */
static void advance(struct stream *s)
{
    if (!s->m || s->m->refs == 1 || s->peer->gone)
        cancel(s);
    else
        push(s, true);
}

/* pvmi_call_flow */
static void flow(void)
{
    struct stream *s, *next;
    LL_FOREACH (streams, s)
        if (s->m)
            note_packed(s);
    pass_time();
    LL_FOREACH_SAFE (streams, s, next)
        advance(s);
}

/* ---- for the calls ---- */

static bool may_stream(const struct pvmc_message *m)
{
    return m->enc <= PVMC_ENC_DEFAULT && m->dst != pvmi_task.tid && pvmi_peer_counts(m->dst, m->ctx);
}

static int open_to(struct pvmc_message *m, struct pvmi_peer *p)
{
    struct stream *s = malloc(sizeof *s);
    if (!s)
        return PVMC_ENOMEM;
    *s = (struct stream){.m = pvmc_message_ref(m), .peer = p, .to = m->envelope};
    pvmi_peer_use(p);
    p->streams = true;
    LL_PREPEND(streams, s);
    pvmi_call_flow = flow;
    watch(true);
    if (!pvmi_virtual())
        return 0;
    pvmi_route_consider(p, 1, 0);
    return pvmi_route_await(p);
}

int pvmi_stream_open(struct pvmc_message *m)
{
    flow(); /* the buffer that m replaces may have had a stream */
    struct pvmi_peer *p = may_stream(m) ? pvmi_peer_get(m->dst) : NULL;
    return p && !p->streams ? open_to(m, p) : 0;
}

static bool is_same(const struct stream *s, const struct pvmc_message *m)
{
    const struct pvmc_envelope *to = &s->to;
    return to->dst == m->dst && to->tag == m->tag && to->ctx == m->ctx && to->wid == m->wid && !s->peer->gone;
}

/* The claim may wait, and the stream goes on meanwhile. */
static int send_rest(struct pvmc_message *m, struct pvmi_peer *p)
{
    struct pvmc_message *held = pvmi_claim_message(m);
    if (!held)
        return PVMC_ENOMEM;
    struct pvmi_claim c = {&p, 1};
    int rc = pvmi_claim(&c);
    if (!rc) {
        struct stream *s = find(m);
        uint64_t sent = s ? s->sent : 0;
        if (s)
            end(s);
        rc = sent ? pvmi_transfer_rest(held, p, sent) : pvmi_transfer_all(held, p);
        pvmi_claim_end(&c);
    }
    pvmc_message_unref(held);
    return rc;
}

int pvmi_stream_send(struct pvmc_message *m)
{
    struct stream *s = find(m);
    if (s && s->sent && is_same(s, m))
        return send_rest(m, s->peer);
    pvmi_stream_cancel(m);
    return pvmi_send_message(m);
}

void pvmi_stream_cancel(const struct pvmc_message *m)
{
    struct stream *s = find(m);
    if (s)
        cancel(s);
}

void pvmi_stream_cancel_all(void)
{
    struct stream *s, *next;
    LL_FOREACH_SAFE (streams, s, next)
        cancel(s);
}

void pvmi_stream_forget_all(void)
{
    struct stream *s, *next;
    LL_FOREACH_SAFE (streams, s, next)
        end(s);
}
