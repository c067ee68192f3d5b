/* peer.c - the table of tasks and daemons that this task exchanges frames with, and the order of their frames. */
#include "peer.h"
#include <stdlib.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "arrivals.h"
#include "handler.h"
#include "inbox.h"
#include "libpvm/base/call.h"
#include "libpvm/base/shadow.h"
#include "libpvm/base/virtual.h"
#include "link.h"
#include "offer.h"

#define NEAR_FRAMES 0x1000000 /* no frame number can be further ahead: its sender has restarted */
#define ORPHAN_US   1000000   /* between two looks whether somebody can still read what comes */
#define CROWD       256       /* so many new peers may be there without anybody asking whether the old ones live */

static struct pvmi_peer *peers;
unsigned pvmi_peers_held, pvmi_peer_streams_ended = 1;
static unsigned added; /* since the listener was last told of a crowd */

struct pvmi_peer *pvmi_peer_latest;
uint64_t pvmi_peer_asked;

struct pvmi_peer *pvmi_peer_search(pvmc_tid tid)
{
    struct pvmi_peer *p;
    HASH_FIND_INT(peers, &tid, p);
    if (p)
        pvmi_peer_latest = p;
    return p;
}

/* The table may be twice as large as there are living peers, so asking costs little for each new one. */
static void watch_crowd(void)
{
    if (++added < CROWD || added < HASH_COUNT(peers) / 2 || !pvmi_link_listener)
        return;
    added = 0;
    pvmi_link_listener->crowded();
}

static struct pvmi_peer *add(pvmc_tid tid)
{
    struct pvmi_peer *p = calloc(1, sizeof *p);
    if (p)
        p->tid = tid;
    if (!p || !PVMC_HASH_ADD(hh, peers, tid, p)) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for one more task to talk to");
        free(p);
        return NULL;
    }
    watch_crowd();
    return pvmi_peer_latest = p;
}

struct pvmi_peer *pvmi_peer_need(pvmc_tid tid)
{
    struct pvmi_peer *p = pvmi_peer_search(tid);
    return p ? p : add(tid);
}

struct pvmi_peer *pvmi_peer_first(void)
{
    return peers;
}

uint64_t pvmi_peer_time(void)
{
    return pvmi_peer_asked;
}

/* ---- streams ---- */

static bool shows_none;
static bool watches; /* for orphans: a message that still comes was delivered, and an alarm is set */

void pvmi_peer_show_none(void)
{
    shows_none = true;
}

/* Whether the message may be received before it is whole. A handler sees whole messages only. */
static bool may_show(const struct pvmc_message *m)
{
    return !shows_none && pvmi_link_is_plain(&m->envelope) && !pvmi_handler_covers((int)m->src, m->tag, (int)m->ctx);
}

/* Drops the message if the program does not know of it. Returns whether it did. */
static bool withdraw(struct pvmc_message *m)
{
    struct pvmi_waiting *w = pvmi_inbox_unseen(m);
    int mid;
    bool drops = w || pvmi_arrivals_remove(m);
    if (drops)
        pvmc_message_unref(w ? pvmi_inbox_take(w, &mid) : m);
    return drops;
}

void pvmi_peer_withhold(struct pvmc_message *m)
{
    pvmi_peer_find(m->src)->shown = false;
    pvmc_message_unref(m);
}

/* No more comes of m, to which the caller gives up the stream's reference. */
static void cut_short(struct pvmc_message *m, bool shown, int why)
{
    m->partial = why;
    pvmi_peer_streams_ended += 2;
    if (shown && withdraw(m) && why == PVMC_ENOMEM)
        pvmi_inbox_lose((int)m->src, m->tag);
    pvmc_message_unref(m);
    pvmi_lock_news = true;
}

static void abort_stream(struct pvmi_peer *p)
{
    struct pvmc_message *m = p->stream.m;
    bool shown = p->shown;
    p->stream = (struct pvmc_partial){0};
    p->shown = false;
    if (m)
        cut_short(m, shown, PVMC_EABORTED);
}

/* In virtual time an alarm would be an event of the simulation. */
static void watch_orphans(void)
{
    watches = !pvmi_virtual();
    if (watches)
        pvmi_carrier_alarm(pvmc_clock_us() + ORPHAN_US);
}

/* The due frame of the stream is complete. */
static void end_stream_frame(struct pvmi_peer *p, const struct pvmc_frame_header *h)
{
    struct pvmc_partial *s = &p->stream;
    p->rx_seq++;
    pvmi_lock_news = true;
    if (h->flags & PVMC_FRAME_ABORT) {
        abort_stream(p);
        return;
    }
    bool is_last = pvmc_partial_add(s, h);
    if (p->shown && s->m)
        pvmi_inbox_grown(s->m);
    if (!is_last && !h->offset && s->m && may_show(s->m)) {
        p->shown = true;
        watch_orphans();
        pvmi_link_deliver(pvmc_message_ref(s->m));
    }
    if (!is_last)
        return;
    struct pvmc_message *m = s->m;
    bool shown = p->shown;
    *s = (struct pvmc_partial){0};
    p->shown = false;
    pvmi_peer_streams_ended += 2;
    if (m && !shown)
        pvmi_link_deliver(m);
    else if (m)
        pvmc_message_unref(m);
    else if (!shown)
        pvmi_inbox_lose((int)h->src, h->tag);
}

/* Whether nobody is left who could read the stream. */
static bool is_orphan(const struct pvmi_peer *p)
{
    return p->shown && p->stream.m && p->stream.m->refs == 1;
}

static void drop_orphan(struct pvmi_peer *p)
{
    if (!is_orphan(p))
        return;
    pvmc_message_unref(p->stream.m);
    p->stream.m = NULL;
}

void pvmi_peer_drop_orphans(void)
{
    bool more = false;
    for (struct pvmi_peer *p = watches ? peers : NULL; p; p = p->hh.next) {
        if (!p->placing)
            drop_orphan(p);
        more = more || (p->shown && p->stream.m);
    }
    watches = false;
    if (more)
        watch_orphans();
}

/* The place for the payload of the due frame of the stream; NULL: it is dropped, and the frame is done with. */
static uint8_t *place_stream(struct pvmi_peer *p, const struct pvmc_frame_header *h)
{
    static uint8_t nowhere;
    struct pvmc_message *rest;
    if (h->flags & PVMC_FRAME_ABORT)
        return &nowhere;
    drop_orphan(p);
    uint8_t *place = pvmc_partial_place(&p->stream, h, &rest);
    if (rest)
        cut_short(rest, p->shown, PVMC_ENOMEM);
    if (!place)
        end_stream_frame(p, h);
    return place;
}

/* ---- messages under assembly ---- */

static void drop_incoming(struct pvmi_peer *p)
{
    if (p->stream.open)
        abort_stream(p);
    pvmc_message_unref(p->incoming);
    p->incoming = NULL;
    p->refuses = false;
    p->placed = 0;
}

/* Drops an incomplete message for good, once no link writes to it any more. */
static void drop_unfinished(struct pvmi_peer *p)
{
    if (p->links || pvmi_peer_awaits_shadow(p))
        return;
    drop_incoming(p);
    pvmi_reorder_clear(&p->reorder);
    if (p->ended)
        pvmw_window_clear(&p->again);
}

/* Logs one line per sender, which may break the protocol with every frame. */
static void complain(struct pvmi_peer *p, const struct pvmc_frame_header *h, const char *what, uint64_t got,
                     uint64_t expected)
{
    if (!p->complained)
        pvmc_log(PVMC_LOG_ERROR,
                 "t%x breaks the protocol, its messages are dropped: frame (tag %d) has %s %llu, "
                 "expected %llu",
                 h->src, h->tag, what, (unsigned long long)got, (unsigned long long)expected);
    p->complained = true;
}

/* No correct sender does that: the pair is broken, and other senders are not affected. */
static int violation(struct pvmi_peer *p, const struct pvmc_frame_header *h, const char *what, uint64_t got,
                     uint64_t expected)
{
    complain(p, h, what, got, expected);
    if (pvmi_peer_counts(h->src, h->ctx)) {
        p->broken = true;
        drop_unfinished(p);
    } else {
        drop_incoming(p);
    }
    return PVMC_EFORMAT;
}

static int check_place(struct pvmi_peer *p, const struct pvmc_frame_header *h)
{
    if (h->offset != p->placed)
        return violation(p, h, "offset", h->offset, p->placed);
    if (p->incoming && h->body_length != p->incoming->length)
        return violation(p, h, "message length", h->body_length, p->incoming->length);
    return 0;
}

/* The same for a stream, which has a place of its own. */
static int check_stream(struct pvmi_peer *p, const struct pvmc_frame_header *h)
{
    const struct pvmc_partial *s = &p->stream;
    if (!pvmc_partial_check(s, h))
        return 0;
    return h->offset != s->placed ? violation(p, h, "stream offset", h->offset, s->placed)
                                  : violation(p, h, "stream length", h->body_length, s->body_length);
}

/* A message with that body; takes over mem (NULL: empty). NULL when out of memory; mem then stays the caller's. */
static struct pvmc_message *message_with(const struct pvmc_frame_header *h, struct pvmc_mem *mem)
{
    struct pvmc_frame_header empty = *h;
    empty.body_length = empty.length = 0;
    struct pvmc_message *m = pvmc_message_from_header(&empty);
    if (m) {
        m->mem = mem;
        m->length = h->body_length;
    }
    return m;
}

/* A message with room for its body, in the buffer of the pvm_precv() that waits for it if there is one. */
static inline struct pvmc_message *message_for(const struct pvmc_frame_header *h)
{
    struct pvmc_mem *claimed = h->body_length >= PVMI_PEER_CLAIM_BYTES ? pvmi_offer_claim(h) : NULL;
    if (!claimed)
        return pvmc_message_from_header(h);
    struct pvmc_message *m = message_with(h, claimed);
    if (!m)
        pvmc_mem_unref(claimed);
    return m;
}

/* The due frame starts. Returns its message, or NULL when there is no memory for it. */
static struct pvmc_message *begin_due(struct pvmi_peer *p, const struct pvmc_frame_header *h)
{
    if (!p->incoming && !p->refuses) {
        p->incoming = message_for(h);
        p->refuses = !p->incoming;
    }
    return p->incoming;
}

/* The due frame is complete. If it ends its message, the message is delivered. */
static void end_due(struct pvmi_peer *p, const struct pvmc_frame_header *h)
{
    struct pvmc_message *m = p->incoming;
    if (pvmi_peer_counts(h->src, h->ctx))
        p->rx_seq++;
    p->placed += h->length;
    if (!pvmc_frame_is_last(h))
        return;
    if (p->refuses)
        pvmi_inbox_lose((int)h->src, h->tag);
    p->incoming = NULL;
    p->refuses = false;
    p->placed = 0;
    if (m)
        pvmi_link_deliver(m);
}

/* ---- the reorder queue ---- */

static int take_queued_stream(struct pvmi_peer *p, struct pvmi_reorder_frame *e)
{
    int rc = check_stream(p, &e->h);
    uint8_t *place = rc ? NULL : place_stream(p, &e->h);
    if (!place)
        return rc;
    if (e->h.length)
        pvmc_copy(place, e->mem->data, e->h.length);
    end_stream_frame(p, &e->h);
    return 0;
}

/* Copies a queued frame's payload to the message under assembly; that of a whole message becomes its body. */
static int take_queued(struct pvmi_peer *p, struct pvmi_reorder_frame *e)
{
    const struct pvmc_frame_header *h = &e->h;
    if (h->flags & PVMC_FRAME_STREAM)
        return take_queued_stream(p, e);
    int rc = check_place(p, h);
    if (rc)
        return rc;
    bool whole = h->length == h->body_length && !p->incoming && !p->refuses;
    if (whole && h->length) {
        p->incoming = message_with(h, e->mem);
        p->refuses = !p->incoming;
        if (p->incoming)
            e->mem = NULL;
    } else if (begin_due(p, h) && h->length) {
        pvmc_copy(p->incoming->mem->data + h->offset, e->mem->data, h->length);
    }
    end_due(p, h);
    return 0;
}

/* Frames from the queue are acknowledged only now that they are due. */
static void take_all_due(struct pvmi_peer *p)
{
    struct pvmi_reorder_frame *e;
    bool direct = false;
    while (!p->broken && !p->placing && p->reorder && (e = pvmi_reorder_due(&p->reorder, p->rx_seq))) {
        direct = direct || e->direct;
        if (take_queued(p, e))
            break; /* the pair is broken: e is freed with all the others */
        pvmi_reorder_remove(&p->reorder, e);
    }
    if (direct && p->link && !p->link->lossless)
        pvmi_link_acknowledge(p->link, false);
    pvmi_carrier_pause(pvmi_reorder_is_crowded());
}

/* Whether a frame waits for its shadow. A sender in virtual time may have receivers outside of it. */
static inline bool has_shadow(const struct pvmc_frame_header *h)
{
    return __builtin_expect(h->flags & PVMC_FRAME_SHADOW, 0) && pvmi_virtual();
}

static uint8_t *place_in_queue(struct pvmi_arrival *a, struct pvmi_peer *p, const struct pvmc_frame_header *h,
                               bool direct, int *status)
{
    static uint8_t nowhere;
    if (has_shadow(h))
        p->had_link = pvmi_shadow_due = true;
    if (!p->had_link) {
        *status = violation(p, h, "number", h->seq, p->rx_seq);
        return NULL;
    }
    a->reorder = pvmi_reorder_add(&p->reorder, h, direct);
    *status = a->reorder ? 0 : PVMC_ENOMEM;
    if (!a->reorder)
        return NULL;
    a->peer = p;
    return h->length ? a->reorder->mem->data : &nowhere;
}

/* ---- frames in general ---- */

/*
 * A tid is reused after all others of its host have been used. The new task starts at number 0 with a new message, and
 * knows nothing of us. Its first frame comes by the daemon.
 */
static bool begins_anew(const struct pvmi_peer *p, const struct pvmc_frame_header *h, bool direct)
{
    bool is_first = !h->seq && !h->offset && !direct && !(h->flags & PVMC_FRAME_AGAIN);
    return is_first && (p->broken || (p->rx_seq && -p->rx_seq > NEAR_FRAMES));
}

static void begin_anew(struct pvmi_peer *p)
{
    if (p->links)
        pvmi_link_listener->forget_links(p);
    pvmi_reorder_clear(&p->reorder);
    pvmw_window_clear(&p->again);
    drop_incoming(p);
    p->tx_seq = p->rx_seq = 0;
    p->had_link = p->watched = p->ended = p->broken = false;
}

/*
 * The due frame comes by the daemon although a link has delivered part of it: its sender has lost that link, which will
 * not deliver the rest. If only the other end has failed, we may never learn of the loss otherwise.
 */
static void lose_writer(struct pvmi_peer *p)
{
    struct pvmi_link *l;
    DL_FOREACH (pvmi_links, l)
        if (l->arrival.peer == p && !l->arrival.reorder)
            break;
    if (l)
        pvmi_link_listener->lost(l, PVMC_EDOWN);
}

/* The due frame is one of a stream. */
static uint8_t *place_due_stream(struct pvmi_arrival *a, struct pvmi_peer *p, const struct pvmc_frame_header *h,
                                 int *status)
{
    *status = check_stream(p, h);
    uint8_t *place = *status ? NULL : place_stream(p, h);
    if (place) {
        a->peer = p;
        p->placing = true;
    } else if (!*status && p->reorder) {
        take_all_due(p); /* the frame was dropped, so others may be due */
    }
    return place;
}

uint8_t *pvmi_peer_place(struct pvmi_arrival *a, struct pvmi_peer *p, const struct pvmc_frame_header *h, bool direct,
                         int *status)
{
    static uint8_t nowhere; /* for frames without payload */
    *status = 0;
    if ((h->flags & (PVMC_FRAME_ABORT | PVMC_FRAME_STREAM)) == PVMC_FRAME_ABORT) {
        pvmi_peer_ended(p);
        return NULL;
    }
    if (pvmi_peer_counts(h->src, h->ctx)) {
        if (begins_anew(p, h, direct))
            begin_anew(p);
        *status = p->broken ? PVMC_EFORMAT : 0;
        if (p->broken)
            return NULL;
        if (p->placing && h->seq == p->rx_seq && !direct)
            lose_writer(p);
        int32_t ahead = (int32_t)(h->seq - p->rx_seq);
        int32_t rare = h->flags & (PVMC_FRAME_SHADOW | PVMC_FRAME_STREAM);
        if (__builtin_expect(ahead | rare, 0) || p->placing) { /* mostly neither is set */
            if (ahead < 0)
                return NULL;
            if (ahead > 0 || p->placing || has_shadow(h))
                return place_in_queue(a, p, h, direct, status);
            if (h->flags & PVMC_FRAME_STREAM)
                return place_due_stream(a, p, h, status);
        }
    } else if (h->flags & PVMC_FRAME_STREAM) {
        *status = violation(p, h, "flags", h->flags, 0);
        return NULL;
    }
    *status = check_place(p, h);
    if (*status)
        return NULL;
    if (!begin_due(p, h)) {
        end_due(p, h); /* dropped for lack of memory */
        return NULL;
    }
    a->peer = p;
    p->placing = true;
    return h->length ? p->incoming->mem->data + h->offset : &nowhere;
}

void pvmi_peer_placed(struct pvmi_arrival *a, const struct pvmc_frame_header *h)
{
    struct pvmi_peer *p = a->peer;
    if (a->reorder) {
        pvmi_reorder_complete(a->reorder);
    } else {
        p->placing = false;
        if (h->flags & PVMC_FRAME_STREAM)
            end_stream_frame(p, h);
        else
            end_due(p, h);
    }
    *a = (struct pvmi_arrival){0};
    if (p->reorder)
        take_all_due(p);
}

/* ---- shadows ---- */

bool pvmi_peer_awaits_shadow(const struct pvmi_peer *p)
{
    const struct pvmi_reorder_frame *e;
    DL_FOREACH (p->reorder, e)
        if (e->h.flags & PVMC_FRAME_SHADOW)
            return true;
    return false;
}

static bool is_under_way(const struct pvmc_shadow *list, int count, uint32_t task, uint32_t number)
{
    for (int i = 0; i < count; i++)
        if (list[i].task == task && list[i].number == number)
            return true;
    return false;
}

/* Returns how many frames of p are no longer waited for. */
static int let_pass(struct pvmi_peer *p, const struct pvmc_shadow *list, int count)
{
    struct pvmi_reorder_frame *e;
    int n = 0;
    DL_FOREACH (p->reorder, e)
        if (e->h.flags & PVMC_FRAME_SHADOW && !is_under_way(list, count, p->tid, e->h.seq)) {
            e->h.flags &= (uint8_t)~PVMC_FRAME_SHADOW;
            n++;
        }
    return n;
}

/* What had to wait for the last frame of p may happen now. */
static void end_shadows(struct pvmi_peer *p)
{
    if (p->links) {
        pvmi_carrier_alarm(pvmc_clock_us());
        return;
    }
    pvmi_peer_unlinked(p);
    pvmi_link_listener->unlinked(p->tid);
}

int pvmi_peer_pass_shadows(void)
{
    const struct pvmc_shadow *list;
    bool handing = pvmi_shadow_handing;
    int all = 0, count = pvmi_shadow_ask(&list);
    if (count < 0)
        return 0;
    for (struct pvmi_peer *p = peers; p; p = p->hh.next) {
        int n = p->reorder ? let_pass(p, list, count) : 0;
        if (n)
            take_all_due(p);
        bool awaits = p->reorder && pvmi_peer_awaits_shadow(p);
        if (n && !awaits)
            end_shadows(p);
        pvmi_shadow_due = pvmi_shadow_due || awaits;
        all += n;
    }
    if (handing && !pvmi_shadow_handing)
        pvmi_link_retry();
    return all + (handing && !pvmi_shadow_handing);
}

void pvmi_peer_cancel(struct pvmi_arrival *a)
{
    struct pvmi_peer *p = a->peer;
    pvmc_message_unref(a->whole);
    if (p && a->reorder)
        pvmi_reorder_remove(&p->reorder, a->reorder);
    else if (p)
        p->placing = false;
    *a = (struct pvmi_arrival){0};
    if (p && p->reorder)
        take_all_due(p);
}

struct pvmc_message *pvmi_peer_message(const struct pvmc_frame_header *h, struct pvmc_mem *mem, const uint8_t *data)
{
    if (mem && data == mem->data)
        return message_with(h, mem);
    struct pvmc_message *m = message_for(h);
    if (!m)
        return NULL;
    if (h->length)
        pvmc_copy(m->mem->data, data, h->length);
    if (mem)
        pvmc_mem_unref(mem);
    return m;
}

/* Keeps a whole message that arrived before it was due. */
static int keep_whole(struct pvmi_peer *p, const struct pvmc_frame_header *h, struct pvmc_mem *mem, const uint8_t *data)
{
    struct pvmi_reorder_frame *e;
    if (mem && data == mem->data) {
        e = pvmi_reorder_add_whole(&p->reorder, h, mem);
    } else {
        e = pvmi_reorder_add(&p->reorder, h, true);
        if (e && h->length)
            pvmc_copy(e->mem->data, data, h->length);
        if (e) {
            pvmi_reorder_complete(e);
            pvmc_mem_unref(mem);
        }
    }
    pvmi_carrier_pause(pvmi_reorder_is_crowded());
    return e ? 0 : PVMC_ENOMEM;
}

/* A whole message that is not due, or while another one is incomplete. */
static PVMI_COLD int take_unexpected(struct pvmi_peer *p, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                                     const uint8_t *data)
{
    int32_t ahead = (int32_t)(h->seq - p->rx_seq);
    if (p->broken)
        return PVMC_EFORMAT;
    if (ahead < 0)
        return PVMC_EEXISTS;
    if (ahead > 0 || p->placing)
        return keep_whole(p, h, mem, data);
    int rc = check_place(p, h);
    return rc ? rc : violation(p, h, "message length", h->body_length, p->placed);
}

/* Whether the whole message of that number may be delivered now. */
static inline bool is_due(const struct pvmi_peer *p, uint32_t seq)
{
    return seq == p->rx_seq && !p->broken && !p->placing && !p->incoming && !p->refuses;
}

int pvmi_peer_whole(struct pvmi_peer *p, const struct pvmc_frame_header *h, struct pvmc_mem *mem, const uint8_t *data)
{
    if (__builtin_expect(!is_due(p, h->seq), 0))
        return take_unexpected(p, h, mem, data);
    struct pvmc_message *m = pvmi_peer_message(h, mem, data);
    p->rx_seq++;
    if (m)
        pvmi_link_deliver(m);
    else
        pvmi_inbox_lose((int)h->src, h->tag);
    if (p->reorder)
        take_all_due(p);
    return m ? 0 : PVMC_EEXISTS;
}

struct pvmc_message *pvmi_peer_take(struct pvmi_peer *p, const struct pvmt_whole *w)
{
    if (!is_due(p, w->seq) || p->reorder || w->length >= PVMI_PEER_CLAIM_BYTES)
        return NULL;
    struct pvmc_message *m = pvmc_message_of(&w->envelope, w->length);
    if (!m)
        return NULL;
    pvmc_copy(m->mem->data, w->data, w->length);
    p->rx_seq++;
    p->direct.rx_frames++;
    p->direct.rx_bytes += w->length;
    return m;
}

/* ---- holding ---- */

void pvmi_peer_hold(pvmc_tid tid, bool held)
{
    struct pvmi_peer *p = held ? pvmi_peer_get(tid) : pvmi_peer_find(tid);
    if (!p || p->held == held)
        return;
    p->held = held;
    pvmi_peers_held += held ? 1 : -1;
    if (!held && pvmi_link_has_room)
        pvmi_link_has_room();
}

bool pvmi_peer_is_one_held(pvmc_tid tid)
{
    struct pvmi_peer *task = pvmi_peer_find(tid), *host = pvmi_peer_find(pvmc_tid_host(tid));
    return (task && task->held) || (host && host->held);
}

/* ---- the end of peers ---- */

void pvmi_peer_ended(struct pvmi_peer *p)
{
    p->ended = true;
    drop_unfinished(p);
}

void pvmi_peer_unlinked(struct pvmi_peer *p)
{
    if (p->ended || p->broken)
        drop_unfinished(p);
}

void pvmi_peer_put(struct pvmi_peer *p)
{
    if (!--p->uses && p->gone)
        free(p);
}

static void forget(struct pvmi_peer *p)
{
    if (p->links)
        pvmi_link_listener->forget_links(p);
    p->uses++;
    if (p->abandoned)
        pvmi_link_listener->forget_abandoned(p);
    if (p->held)
        pvmi_peers_held--;
    if (pvmi_peer_latest == p)
        pvmi_peer_latest = NULL;
    drop_incoming(p);
    pvmi_reorder_clear(&p->reorder);
    pvmw_window_clear(&p->again);
    HASH_DEL(peers, p);
    p->gone = true;
    pvmi_peer_put(p);
}

void pvmi_peer_forget_ended(struct pvmi_peer *p)
{
    if (p->ended && !p->links && !p->uses && !pvmi_peer_awaits_shadow(p))
        forget(p);
}

void pvmi_peer_renew(pvmc_tid tid, uint64_t time)
{
    struct pvmi_peer *p = pvmi_peer_find(tid);
    if (p && p->asked <= time)
        forget(p);
}

void pvmi_peer_forget_host(pvmc_tid host)
{
    struct pvmi_peer *p, *next;
    HASH_ITER (hh, peers, p, next)
        if (pvmc_tid_host(p->tid) == pvmc_tid_host(host))
            forget(p);
}

__attribute__((destructor)) void pvmi_peer_forget_all(void)
{
    struct pvmi_peer *p, *next;
    HASH_ITER (hh, peers, p, next)
        forget(p);
}
