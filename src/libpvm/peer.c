/* peer.c - the table of tasks and daemons that we exchange frames with. */
#include "peer.h"
#include <stdlib.h>
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"

static struct pvmi_peer *peers;
static struct pvmi_peer *latest; /* the one asked for last: most frames come in rows */
static unsigned held_count;
static uint64_t uses;

static struct pvmi_peer *find(pvmi_tid tid)
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
    if (!p) {
        pvmi_log(PVMI_LOG_ERROR, "no memory for one more task to talk to");
        return NULL;
    }
    p->tid = tid;
    HASH_ADD_INT(peers, tid, p);
    return latest = p;
}

struct pvmi_peer *pvmi_peer_get(pvmi_tid tid)
{
    struct pvmi_peer *p = find(tid);
    if (!p)
        p = add(tid);
    if (p)
        p->used = ++uses;
    return p;
}

uint64_t pvmi_peer_time(void)
{
    return uses;
}

bool pvmi_peer_counts(pvmi_tid tid, uint32_t ctx)
{
    return !pvmi_tid_is_daemon(tid) && ctx != PVMI_CTX_TC && ctx != PVMI_CTX_TM && ctx != PVMI_CTX_DM;
}

/* ---- receiving ---- */

static void drop_incoming(struct pvmi_peer *p)
{
    pvmi_message_unref(p->incoming);
    p->incoming = NULL;
    p->refuses = false;
    p->placed = 0;
}

static int violation(const struct pvmi_frame_header *h, const char *what, uint64_t got, uint64_t expected)
{
    pvmi_log(PVMI_LOG_ERROR, "closing the link: frame from t%x (tag %d) has %s %llu where %llu was due", h->src, h->tag,
             what, (unsigned long long)got, (unsigned long long)expected);
    return PVMI_EFORMAT;
}

/*
 * Numbers go up by one. A tid can come back for a new task after all others of its host have been used: that one begins
 * at 0 again, with a new message, and we are as new to it.
 */
static int check_number(struct pvmi_peer *p, const struct pvmi_frame_header *h)
{
    if (!pvmi_peer_counts(h->src, h->ctx))
        return 0;
    if (h->seq != p->rx_seq && !h->seq && !h->offset) {
        drop_incoming(p);
        p->tx_seq = p->rx_seq = 0;
    }
    if (h->seq != p->rx_seq)
        return violation(h, "number", h->seq, p->rx_seq);
    p->rx_seq++;
    return 0;
}

static int check_place(const struct pvmi_peer *p, const struct pvmi_frame_header *h)
{
    if (h->offset != p->placed)
        return violation(h, "offset", h->offset, p->placed);
    if (p->incoming && h->body_length != p->incoming->length)
        return violation(h, "message length", h->body_length, p->incoming->length);
    return 0;
}

uint8_t *pvmi_peer_place(const struct pvmi_frame_header *h, int *status)
{
    static uint8_t nowhere; /* for frames without payload */
    struct pvmi_peer *p = pvmi_peer_get(h->src);
    *status = p ? 0 : PVMI_ENOMEM;
    if (!p)
        return NULL;
    if (h->flags & PVMI_FRAME_ABORT) {
        drop_incoming(p);
        return NULL;
    }
    *status = check_number(p, h);
    if (!*status)
        *status = check_place(p, h);
    if (*status)
        return NULL;
    if (!p->incoming && !p->refuses) {
        p->incoming = pvmi_message_from_header(h);
        p->refuses = !p->incoming;
    }
    p->placed += h->length;
    if (p->refuses && pvmi_frame_is_last(h))
        drop_incoming(p);
    if (!p->incoming)
        return NULL;
    return h->length ? p->incoming->mem->data + h->offset : &nowhere;
}

struct pvmi_message *pvmi_peer_placed(const struct pvmi_frame_header *h)
{
    struct pvmi_peer *p = find(h->src);
    if (!p || !pvmi_frame_is_last(h))
        return NULL;
    struct pvmi_message *m = p->incoming;
    p->incoming = NULL;
    p->placed = 0;
    return m;
}

/* ---- holding ---- */

void pvmi_peer_hold(pvmi_tid tid, bool held)
{
    struct pvmi_peer *p = held ? pvmi_peer_get(tid) : find(tid);
    if (!p || p->held == held)
        return;
    p->held = held;
    held_count += held ? 1 : -1;
}

bool pvmi_peer_is_held(pvmi_tid tid)
{
    if (!held_count)
        return false;
    struct pvmi_peer *task = find(tid), *host = find(pvmi_tid_host(tid));
    return (task && task->held) || (host && host->held);
}

/* ---- forgetting ---- */

static void forget(struct pvmi_peer *p)
{
    if (p->held)
        held_count--;
    if (latest == p)
        latest = NULL;
    drop_incoming(p);
    HASH_DEL(peers, p);
    free(p);
}

void pvmi_peer_renew(pvmi_tid tid, uint64_t time)
{
    struct pvmi_peer *p = find(tid);
    if (p && p->used <= time)
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
