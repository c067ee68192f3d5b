/*
 * loop.c - frames between two ends inside one process: the smallest possible transport.
 *
 * Used by unit tests, and the one to read first (doc/adding-a-transport.md explains it line by line). An offer is a
 * number by which join() finds the endpoint that made it; the reply is the number of the other end. Sending copies a
 * frame to the peer's queue of QUEUE_MAX frames, from which the peer's progress() removes it. An eventfd is the
 * pollable descriptor.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>
#include "core/error.h"
#include "transports/transport.h"

#define QUEUE_MAX 8 /* frames in flight to one endpoint: small, so that tests meet PVMC_EAGAIN */

struct packet {
    struct pvmc_frame *frame; /* a copy: header and one piece */
    struct packet *prev, *next;
};

/* What an endpoint waits for before it may send. */
enum loop_state {
    LOOP_OFFERED, /* a peer to join */
    LOOP_JOINED,  /* joined() of its owner */
    LOOP_UP,      /* nothing */
};

struct loop_endpoint {
    struct pvmt_endpoint base;
    uint64_t number; /* sent as offer or reply */
    enum loop_state state;
    struct loop_endpoint *peer; /* NULL when offered, and when the peer is gone */
    struct packet *inbox;
    unsigned inbox_count;
    bool refused;    /* a frame was refused */
    bool want_ready; /* tx_ready is due */
    bool released;   /* disconnected: free it after progress() */
    bool told_down;
    struct loop_endpoint *prev, *next;
};

struct loop_transport {
    struct pvmt_transport base;
    int event_fd;
    pid_t pid; /* the owner: a forked child has only a copy */
    bool in_progress;
    struct loop_endpoint *endpoints;
    struct loop_transport *prev, *next;
};

static struct loop_transport *open_transports;

static int loop_available(char *why, size_t size)
{
    if (size)
        why[0] = '\0';
    return 0;
}

static void wake(struct pvmt_transport *base)
{
    struct loop_transport *t = (struct loop_transport *)base;
    uint64_t one = 1;
    if (t->pid != getpid())
        return;
    ssize_t n = write(t->event_fd, &one, sizeof one);
    (void)n; /* if the counter is full, the peer is awake already */
}

static int loop_open(const char *address, const struct pvmt_callbacks *callbacks, void *arg,
                     struct pvmt_transport **out)
{
    extern const struct pvmt_transport_ops pvmt_loop_ops;
    if (address)
        return PVMC_EUNSUPPORTED;
    struct loop_transport *t = calloc(1, sizeof *t);
    if (!t)
        return PVMC_ENOMEM;
    t->base = (struct pvmt_transport){.ops = &pvmt_loop_ops, .callbacks = callbacks, .arg = arg};
    t->pid = getpid();
    t->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->event_fd < 0) {
        free(t);
        return PVMC_ESYSTEM;
    }
    DL_APPEND(open_transports, t);
    *out = &t->base;
    return 0;
}

static void endpoint_free(struct loop_endpoint *e)
{
    struct loop_transport *t = (struct loop_transport *)e->base.transport;
    struct packet *p, *next;
    DL_FOREACH_SAFE (e->inbox, p, next) {
        pvmc_frame_unref(p->frame);
        free(p);
    }
    DL_DELETE(t->endpoints, e);
    free(e);
}

static void part(struct loop_endpoint *e)
{
    if (!e->peer)
        return;
    wake(e->peer->base.transport); /* it will see that we are gone */
    e->peer->peer = NULL;
    e->peer = NULL;
}

static void loop_close(struct pvmt_transport *base)
{
    struct loop_transport *t = (struct loop_transport *)base;
    struct loop_endpoint *e, *next;
    DL_FOREACH_SAFE (t->endpoints, e, next) {
        part(e);
        endpoint_free(e);
    }
    DL_DELETE(open_transports, t);
    close(t->event_fd);
    free(t);
}

static void loop_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    (void)t;
    *out = (struct pvmt_attributes){.frame_max = 65536,
                                    .copy_max = 65536,
                                    .latency_ns = 100,
                                    .bandwidth_mbs = 10000,
                                    .local_only = true,
                                    .lossless = true};
}

/* ---- connecting ---- */

static struct loop_endpoint *endpoint_new(struct pvmt_transport *base, void *owner)
{
    static uint64_t last_number;
    struct loop_transport *t = (struct loop_transport *)base;
    struct loop_endpoint *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->base = (struct pvmt_endpoint){.transport = base, .owner = owner};
    e->number = ++last_number;
    DL_APPEND(t->endpoints, e);
    return e;
}

static int loop_offer(struct pvmt_transport *t, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                      struct pvmt_endpoint **out)
{
    struct loop_endpoint *e = endpoint_new(t, owner);
    if (!e)
        return PVMC_ENOMEM;
    memcpy(blob, &e->number, sizeof e->number);
    *fd = -1;
    *out = &e->base;
    return sizeof e->number;
}

static struct loop_endpoint *offer_find(uint64_t number)
{
    struct loop_transport *t;
    struct loop_endpoint *e;
    DL_FOREACH (open_transports, t)
        DL_FOREACH (t->endpoints, e)
            if (e->number == number && e->state == LOOP_OFFERED && !e->released)
                return e;
    return NULL;
}

static int loop_join(struct pvmt_transport *t, const uint8_t *blob, size_t length, int fd, void *owner,
                     uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out)
{
    uint64_t number;
    if (fd >= 0)
        close(fd); /* not ours: this transport passes no descriptors */
    if (length != sizeof number)
        return PVMC_EFORMAT;
    memcpy(&number, blob, sizeof number);
    struct loop_endpoint *theirs = offer_find(number);
    if (!theirs)
        return PVMC_EUNREACHABLE;
    struct loop_endpoint *ours = endpoint_new(t, owner);
    if (!ours)
        return PVMC_ENOMEM;
    ours->state = LOOP_UP;
    ours->peer = theirs;
    theirs->state = LOOP_JOINED;
    theirs->peer = ours;
    memcpy(reply, &ours->number, sizeof ours->number);
    *out = &ours->base;
    return sizeof ours->number;
}

static int loop_joined(struct pvmt_endpoint *base, const uint8_t *reply, size_t length)
{
    struct loop_endpoint *e = (struct loop_endpoint *)base;
    if (e->state != LOOP_JOINED || !e->peer)
        return PVMC_EDOWN;
    if (length != sizeof e->peer->number || memcmp(reply, &e->peer->number, length))
        return PVMC_EFORMAT;
    e->state = LOOP_UP;
    e->refused = false;
    e->want_ready = true;
    wake(base->transport);
    return 0;
}

static void loop_disconnect(struct pvmt_endpoint *base)
{
    struct loop_endpoint *e = (struct loop_endpoint *)base;
    part(e);
    e->released = true;
    if (!((struct loop_transport *)base->transport)->in_progress)
        endpoint_free(e);
}

/* ---- sending ---- */

static struct pvmc_frame *frame_copy(const struct pvmc_frame *f)
{
    struct pvmc_frame *copy = pvmc_frame_alloc(&f->h);
    uint8_t *to = copy && f->h.length ? copy->pieces[0].iov_base : NULL;
    for (unsigned i = 0; copy && i < f->piece_count; i++) {
        memcpy(to, f->pieces[i].iov_base, f->pieces[i].iov_len);
        to += f->pieces[i].iov_len;
    }
    return copy;
}

static int loop_send(struct pvmt_endpoint *base, struct pvmc_frame *f)
{
    struct loop_endpoint *e = (struct loop_endpoint *)base;
    if (e->state != LOOP_OFFERED && !e->peer)
        return PVMC_EDOWN;
    if (e->state != LOOP_UP || e->peer->inbox_count >= QUEUE_MAX) {
        e->refused = true;
        return PVMC_EAGAIN;
    }
    struct packet *p = calloc(1, sizeof *p);
    if (p)
        p->frame = frame_copy(f);
    if (!p || !p->frame) {
        free(p);
        return PVMC_ENOMEM;
    }
    DL_APPEND(e->peer->inbox, p);
    e->peer->inbox_count++;
    wake(e->peer->base.transport);
    return 0;
}

static size_t loop_pending(const struct pvmt_endpoint *base)
{
    (void)base; /* an accepted frame is in the peer's queue at once */
    return 0;
}

/* ---- receiving ---- */

static bool is_whole_message(const struct pvmc_frame_header *h)
{
    return !h->offset && h->length && h->length == h->body_length;
}

/* Delivers the frame's memory with its reference. */
static void deliver_whole(struct loop_endpoint *e, struct pvmc_frame *f)
{
    struct pvmt_transport *t = e->base.transport;
    if (t->callbacks->rx_whole(t->arg, &e->base, &f->h, pvmc_mem_ref(f->mem), f->mem->data))
        pvmc_mem_unref(f->mem); /* refused: we still own it */
}

static void deliver_copying(struct loop_endpoint *e, struct pvmc_frame *f)
{
    struct pvmt_transport *t = e->base.transport;
    uint8_t *place = t->callbacks->rx_place(t->arg, &e->base, &f->h);
    if (!place || e->released)
        return;
    if (f->h.length)
        memcpy(place, f->pieces[0].iov_base, f->h.length);
    t->callbacks->rx_done(t->arg, &e->base, &f->h);
}

static void deliver_one(struct loop_endpoint *e)
{
    struct packet *p = e->inbox;
    DL_DELETE(e->inbox, p);
    e->inbox_count--;
    if (e->peer && e->peer->refused) {
        e->peer->refused = false;
        e->peer->want_ready = true;
        wake(e->peer->base.transport);
    }
    if (e->base.transport->callbacks->rx_whole && is_whole_message(&p->frame->h))
        deliver_whole(e, p->frame);
    else
        deliver_copying(e, p->frame);
    pvmc_frame_unref(p->frame);
    free(p);
}

static bool has_lost_peer(const struct loop_endpoint *e)
{
    return e->state != LOOP_OFFERED && !e->peer && !e->told_down;
}

/* Handles all events of one endpoint; returns their number. */
static int endpoint_progress(struct loop_endpoint *e)
{
    struct pvmt_transport *t = e->base.transport;
    int n = 0;
    if (!e->released && e->want_ready) {
        e->want_ready = false;
        n++;
        t->callbacks->tx_ready(t->arg, &e->base);
    }
    while (!e->released && e->inbox) {
        n++;
        deliver_one(e);
    }
    if (!e->released && has_lost_peer(e)) {
        e->told_down = true;
        n++;
        t->callbacks->down(t->arg, &e->base, 0);
    }
    return n;
}

static int loop_progress(struct pvmt_transport *base)
{
    struct loop_transport *t = (struct loop_transport *)base;
    uint64_t count;
    ssize_t got = read(t->event_fd, &count, sizeof count);
    (void)got; /* only to reset the descriptor */
    int n = 0;
    struct loop_endpoint *e, *next;
    t->in_progress = true;
    DL_FOREACH (t->endpoints, e)
        n += endpoint_progress(e);
    t->in_progress = false;
    DL_FOREACH_SAFE (t->endpoints, e, next)
        if (e->released)
            endpoint_free(e);
    return n;
}

static int loop_fd(struct pvmt_transport *base)
{
    return ((struct loop_transport *)base)->event_fd;
}

static int loop_arm(struct pvmt_transport *base)
{
    const struct loop_endpoint *e;
    DL_FOREACH (((struct loop_transport *)base)->endpoints, e)
        if (e->inbox || e->want_ready || has_lost_peer(e))
            return 1;
    return 0;
}

const struct pvmt_transport_ops pvmt_loop_ops = {
    .name = "loop",
    .summary = "inside one process, for tests",
    .available = loop_available,
    .open = loop_open,
    .close = loop_close,
    .query = loop_query,
    .offer = loop_offer,
    .join = loop_join,
    .joined = loop_joined,
    .disconnect = loop_disconnect,
    .send = loop_send,
    .pending = loop_pending,
    .progress = loop_progress,
    .fd = loop_fd,
    .arm = loop_arm,
};
