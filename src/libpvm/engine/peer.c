/* peer.c - the table of tasks and daemons that we exchange frames with, and the order of what they send. */
#include "peer.h"
#include <stdlib.h>
#include <utlist.h>
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "inbox.h"
#include "link.h"
#include "receive.h"
#include "route.h"
#include "transfer.h"

#define NEAR_FRAMES 0x1000000 /* further ahead than that no number is: its sender has begun anew */
#define CLAIM_BYTES 2048      /* smaller messages are copied twice sooner than a receive is asked for its buffer */

static struct pvmi_peer *peers;
static struct pvmi_peer *latest; /* the one asked for last: most frames come in rows */
static unsigned held_count;
static uint64_t asked;

struct pvmi_peer *pvmi_peer_find(pvmi_tid tid)
{
    if (latest && latest->tid == tid)
        return latest;
    struct pvmi_peer *p;
    HASH_FIND_INT(peers, &tid, p);
    if (p)
        latest = p;
    return p;
}

static struct pvmi_peer *add(pvmi_tid tid)
{
    struct pvmi_peer *p = calloc(1, sizeof *p);
    if (p)
        p->tid = tid;
    if (!p || !PVMI_HASH_ADD(hh, peers, tid, p)) {
        pvmi_log(PVMI_LOG_ERROR, "no memory for one more task to talk to");
        free(p);
        return NULL;
    }
    return latest = p;
}

struct pvmi_peer *pvmi_peer_get(pvmi_tid tid)
{
    struct pvmi_peer *p = pvmi_peer_find(tid);
    if (!p)
        p = add(tid);
    if (p)
        p->asked = ++asked;
    return p;
}

struct pvmi_peer *pvmi_peer_first(void)
{
    return peers;
}

uint64_t pvmi_peer_time(void)
{
    return asked;
}

/* ---- messages under assembly ---- */

static void drop_incoming(struct pvmi_peer *p)
{
    pvmi_message_unref(p->incoming);
    p->incoming = NULL;
    p->refuses = false;
    p->placed = 0;
}

/* What will never be complete; links that still write there end first. */
static void drop_unfinished(struct pvmi_peer *p)
{
    if (p->links)
        return;
    drop_incoming(p);
    pvmi_early_clear(&p->early);
    if (p->ended)
        pvmi_replay_clear(&p->again);
}

/* One line for each sender: it may break the rules with every frame. */
static void complain(struct pvmi_peer *p, const struct pvmi_frame_header *h, const char *what, uint64_t got,
                     uint64_t expected)
{
    if (!p->complained)
        pvmi_log(PVMI_LOG_ERROR,
                 "t%x breaks the protocol, what it sends is dropped: frame (tag %d) has %s %llu where "
                 "%llu was due",
                 h->src, h->tag, what, (unsigned long long)got, (unsigned long long)expected);
    p->complained = true;
}

/* No honest sender does that: the pair is broken, and nobody else's frames are touched. */
static int violation(struct pvmi_peer *p, const struct pvmi_frame_header *h, const char *what, uint64_t got,
                     uint64_t expected)
{
    complain(p, h, what, got, expected);
    if (pvmi_peer_counts(h->src, h->ctx)) {
        p->broken = true;
        drop_unfinished(p);
    } else {
        drop_incoming(p);
    }
    return PVMI_EFORMAT;
}

static int check_place(struct pvmi_peer *p, const struct pvmi_frame_header *h)
{
    if (h->offset != p->placed)
        return violation(p, h, "offset", h->offset, p->placed);
    if (p->incoming && h->body_length != p->incoming->length)
        return violation(p, h, "message length", h->body_length, p->incoming->length);
    return 0;
}

/* A message with that body; takes over mem (NULL: empty). NULL when out of memory; mem then stays the caller's. */
static struct pvmi_message *message_with(const struct pvmi_frame_header *h, struct pvmi_mem *mem)
{
    struct pvmi_frame_header empty = *h;
    empty.body_length = empty.length = 0;
    struct pvmi_message *m = pvmi_message_from_header(&empty);
    if (m) {
        m->mem = mem;
        m->length = h->body_length;
    }
    return m;
}

/* A message with room for its body, in the buffer of the pvm_precv() that waits for it if there is one. */
static inline struct pvmi_message *message_for(const struct pvmi_frame_header *h)
{
    struct pvmi_mem *claimed = h->body_length >= CLAIM_BYTES ? pvmi_receive_claim(h) : NULL;
    if (!claimed)
        return pvmi_message_from_header(h);
    struct pvmi_message *m = message_with(h, claimed);
    if (!m)
        pvmi_mem_unref(claimed);
    return m;
}

/* The due frame begins: the message that it belongs to, or NULL, when there is no memory for that. */
static struct pvmi_message *begin_due(struct pvmi_peer *p, const struct pvmi_frame_header *h)
{
    if (!p->incoming && !p->refuses) {
        p->incoming = message_for(h);
        p->refuses = !p->incoming;
    }
    return p->incoming;
}

/* The due frame is there: the next one is due, and the message goes on to its receiver if it was the last one. */
static void end_due(struct pvmi_peer *p, const struct pvmi_frame_header *h)
{
    struct pvmi_message *m = p->incoming;
    if (pvmi_peer_counts(h->src, h->ctx))
        p->rx_seq++;
    p->placed += h->length;
    if (!pvmi_frame_is_last(h))
        return;
    if (p->refuses)
        pvmi_inbox_lose((int)h->src, h->tag);
    p->incoming = NULL;
    p->refuses = false;
    p->placed = 0;
    if (m)
        pvmi_link_deliver(m);
}

/* ---- frames that came too early ---- */

/* Its payload to the message under assembly; that of a whole message becomes its body. */
static int take_early(struct pvmi_peer *p, struct pvmi_early *e)
{
    const struct pvmi_frame_header *h = &e->h;
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
        pvmi_copy(p->incoming->mem->data + h->offset, e->mem->data, h->length);
    }
    end_due(p, h);
    return 0;
}

/* What a link brought too early can be acknowledged when it is taken. */
static void take_all_due(struct pvmi_peer *p)
{
    struct pvmi_early *e;
    bool direct = false;
    while (!p->broken && !p->placing && p->early && (e = pvmi_early_due(&p->early, p->rx_seq))) {
        direct = direct || e->direct;
        if (take_early(p, e))
            break; /* the pair is broken: e goes with all the others */
        pvmi_early_remove(&p->early, e);
    }
    if (direct && p->link && !p->link->lossless)
        pvmi_link_acknowledge(p->link, false);
    pvmi_carrier_pause(pvmi_early_is_crowded());
}

static uint8_t *place_early(struct pvmi_arrival *a, struct pvmi_peer *p, const struct pvmi_frame_header *h, bool direct,
                            int *status)
{
    static uint8_t nowhere;
    if (!p->had_link) {
        *status = violation(p, h, "number", h->seq, p->rx_seq);
        return NULL;
    }
    a->early = pvmi_early_add(&p->early, h, direct);
    *status = a->early ? 0 : PVMI_ENOMEM;
    if (!a->early)
        return NULL;
    a->peer = p;
    pvmi_carrier_pause(pvmi_early_is_crowded());
    return h->length ? a->early->mem->data : &nowhere;
}

/* ---- frames in general ---- */

/*
 * A tid can come back for a new task after all others of its host have been used: that one begins at 0 again, with a
 * new message, and we are as new to it. Its first frame comes by the daemon.
 */
static bool begins_anew(const struct pvmi_peer *p, const struct pvmi_frame_header *h, bool direct)
{
    bool is_first = !h->seq && !h->offset && !direct && !(h->flags & PVMI_FRAME_AGAIN);
    return is_first && (p->broken || (p->rx_seq && -p->rx_seq > NEAR_FRAMES));
}

static void begin_anew(struct pvmi_peer *p)
{
    pvmi_route_forget(p);
    pvmi_early_clear(&p->early);
    pvmi_replay_clear(&p->again);
    drop_incoming(p);
    p->tx_seq = p->rx_seq = 0;
    p->had_link = p->watched = p->ended = p->broken = false;
}

/*
 * The due frame, part of which a link has written, comes by the daemon: so its sender has lost that link, and the rest
 * will not come there. We may never hear of it: where only the other end fails, nothing is due from it.
 */
static void lose_writer(struct pvmi_peer *p)
{
    struct pvmi_link *l;
    DL_FOREACH (pvmi_links, l)
        if (l->arrival.peer == p && !l->arrival.early)
            break;
    if (l)
        pvmi_route_lost(l, PVMI_EDOWN);
}

uint8_t *pvmi_peer_place(struct pvmi_arrival *a, struct pvmi_peer *p, const struct pvmi_frame_header *h, bool direct,
                         int *status)
{
    static uint8_t nowhere; /* for frames without payload */
    *status = 0;
    if (h->flags & PVMI_FRAME_ABORT) {
        pvmi_peer_ended(p);
        return NULL;
    }
    if (pvmi_peer_counts(h->src, h->ctx)) {
        if (begins_anew(p, h, direct))
            begin_anew(p);
        *status = p->broken ? PVMI_EFORMAT : 0;
        if (p->broken)
            return NULL;
        if (p->placing && h->seq == p->rx_seq && !direct)
            lose_writer(p);
        int32_t ahead = (int32_t)(h->seq - p->rx_seq);
        if (ahead < 0)
            return NULL;
        if (ahead > 0 || p->placing)
            return place_early(a, p, h, direct, status);
    }
    *status = check_place(p, h);
    if (*status)
        return NULL;
    if (!begin_due(p, h)) {
        end_due(p, h); /* dropped for want of memory */
        return NULL;
    }
    a->peer = p;
    p->placing = true;
    return h->length ? p->incoming->mem->data + h->offset : &nowhere;
}

void pvmi_peer_placed(struct pvmi_arrival *a, const struct pvmi_frame_header *h)
{
    struct pvmi_peer *p = a->peer;
    if (a->early) {
        a->early->complete = true;
    } else {
        p->placing = false;
        end_due(p, h);
    }
    *a = (struct pvmi_arrival){0};
    if (p->early)
        take_all_due(p);
}

void pvmi_peer_cancel(struct pvmi_arrival *a)
{
    struct pvmi_peer *p = a->peer;
    pvmi_message_unref(a->whole);
    if (p && a->early)
        pvmi_early_remove(&p->early, a->early);
    else if (p)
        p->placing = false;
    *a = (struct pvmi_arrival){0};
    if (p && p->early)
        take_all_due(p);
}

struct pvmi_message *pvmi_peer_message(const struct pvmi_frame_header *h, struct pvmi_mem *mem, const uint8_t *data)
{
    if (mem && data == mem->data)
        return message_with(h, mem);
    struct pvmi_message *m = message_for(h);
    if (!m)
        return NULL;
    if (h->length)
        pvmi_copy(m->mem->data, data, h->length);
    if (mem)
        pvmi_mem_unref(mem);
    return m;
}

/* A whole message before its turn. */
static int keep_whole(struct pvmi_peer *p, const struct pvmi_frame_header *h, struct pvmi_mem *mem, const uint8_t *data)
{
    struct pvmi_early *e;
    if (mem && data == mem->data) {
        e = pvmi_early_add_whole(&p->early, h, mem);
    } else {
        e = pvmi_early_add(&p->early, h, true);
        if (e && h->length)
            pvmi_copy(e->mem->data, data, h->length);
        if (e) {
            e->complete = true;
            pvmi_mem_unref(mem);
        }
    }
    pvmi_carrier_pause(pvmi_early_is_crowded());
    return e ? 0 : PVMI_ENOMEM;
}

int pvmi_peer_whole(struct pvmi_peer *p, const struct pvmi_frame_header *h, struct pvmi_mem *mem, const uint8_t *data)
{
    int32_t ahead = (int32_t)(h->seq - p->rx_seq);
    if (p->broken)
        return PVMI_EFORMAT;
    if (ahead < 0)
        return PVMI_EEXISTS;
    if (ahead > 0 || p->placing)
        return keep_whole(p, h, mem, data);
    if (p->incoming || p->refuses) {
        int rc = check_place(p, h);
        return rc ? rc : violation(p, h, "message length", h->body_length, p->placed);
    }
    struct pvmi_message *m = pvmi_peer_message(h, mem, data);
    p->rx_seq++;
    if (m)
        pvmi_link_deliver(m);
    else
        pvmi_inbox_lose((int)h->src, h->tag);
    if (p->early)
        take_all_due(p);
    return m ? 0 : PVMI_EEXISTS;
}

/* ---- holding ---- */

void pvmi_peer_hold(pvmi_tid tid, bool held)
{
    struct pvmi_peer *p = held ? pvmi_peer_get(tid) : pvmi_peer_find(tid);
    if (!p || p->held == held)
        return;
    p->held = held;
    held_count += held ? 1 : -1;
}

bool pvmi_peer_is_held(pvmi_tid tid)
{
    if (!held_count)
        return false;
    struct pvmi_peer *task = pvmi_peer_find(tid), *host = pvmi_peer_find(pvmi_tid_host(tid));
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
    pvmi_route_forget(p);
    p->uses++;
    pvmi_transfer_forget(p);
    if (p->held)
        held_count--;
    if (latest == p)
        latest = NULL;
    drop_incoming(p);
    pvmi_early_clear(&p->early);
    pvmi_replay_clear(&p->again);
    HASH_DEL(peers, p);
    p->gone = true;
    pvmi_peer_put(p);
}

void pvmi_peer_renew(pvmi_tid tid, uint64_t time)
{
    struct pvmi_peer *p = pvmi_peer_find(tid);
    if (p && p->asked <= time)
        forget(p);
}

void pvmi_peer_forget_host(pvmi_tid host)
{
    struct pvmi_peer *p, *next;
    HASH_ITER (hh, peers, p, next)
        if (pvmi_tid_host(p->tid) == pvmi_tid_host(host))
            forget(p);
}

__attribute__((destructor)) void pvmi_peer_forget_all(void)
{
    struct pvmi_peer *p, *next;
    HASH_ITER (hh, peers, p, next)
        forget(p);
}
