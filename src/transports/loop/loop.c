/*
 * loop.c - frames between two ends inside one process: the smallest transport there can be.
 *
 * For unit tests, and the one to read first (doc/adding-a-transport.md explains it line by line). An address is a name
 * in a list of open transports. A frame travels by being copied to the peer's queue of QUEUE_MAX frames; progress() of
 * the peer takes it out. An eventfd is the pollable descriptor.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>
#include "../../core/error.h"
#include "../transport.h"

#define QUEUE_MAX 8 /* frames under way to one endpoint: small, so that tests meet PVMI_EAGAIN */

struct parcel {
    struct pvmi_frame *frame; /* a copy: header and one piece */
    struct parcel *prev, *next;
};

struct loop_endpoint {
    struct pvmi_endpoint base;
    struct loop_endpoint *peer; /* NULL: gone */
    struct parcel *inbox;
    unsigned inbox_count;
    bool announced;  /* accepted was called, or we are the connecting end */
    bool want_ready; /* a frame was refused and the peer has made room since */
    bool refused;    /* a frame was refused */
    bool released;   /* disconnected: free it when progress is over */
    bool told_down;
    struct loop_endpoint *prev, *next;
};

struct loop_transport {
    struct pvmi_transport base;
    char *name; /* NULL: only connects out */
    int event_fd;
    bool in_progress;
    struct loop_endpoint *endpoints;
    struct loop_transport *prev, *next;
};

static struct loop_transport *open_transports; /* those with a name */

static int loop_available(char *why, size_t size)
{
    if (size)
        why[0] = '\0';
    return 0;
}

static void wake(struct pvmi_transport *t)
{
    uint64_t one = 1;
    ssize_t n = write(((struct loop_transport *)t)->event_fd, &one, sizeof one);
    (void)n; /* a full counter is awake already */
}

static struct loop_transport *transport_by_name(const uint8_t *name, size_t length)
{
    struct loop_transport *t;
    DL_FOREACH (open_transports, t)
        if (strlen(t->name) == length && !memcmp(t->name, name, length))
            return t;
    return NULL;
}

static int loop_open(const char *address, const struct pvmi_callbacks *callbacks, void *arg,
                     struct pvmi_transport **out)
{
    extern const struct pvmi_transport_ops pvmi_loop_ops;
    if (address && transport_by_name((const uint8_t *)address, strlen(address)))
        return PVMI_EEXISTS;
    struct loop_transport *t = calloc(1, sizeof *t);
    if (!t)
        return PVMI_ENOMEM;
    t->base = (struct pvmi_transport){.ops = &pvmi_loop_ops, .callbacks = callbacks, .arg = arg};
    t->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->name = address ? strdup(address) : NULL;
    if (t->event_fd < 0 || (address && !t->name)) {
        if (t->event_fd >= 0)
            close(t->event_fd);
        free(t);
        return PVMI_ESYSTEM;
    }
    if (t->name)
        DL_APPEND(open_transports, t);
    *out = &t->base;
    return 0;
}

static void inbox_clear(struct loop_endpoint *e)
{
    struct parcel *p, *next;
    DL_FOREACH_SAFE (e->inbox, p, next) {
        pvmi_frame_unref(p->frame);
        free(p);
    }
    e->inbox = NULL;
    e->inbox_count = 0;
}

static void endpoint_free(struct loop_endpoint *e)
{
    struct loop_transport *t = (struct loop_transport *)e->base.transport;
    DL_DELETE(t->endpoints, e);
    inbox_clear(e);
    free(e);
}

static void part(struct loop_endpoint *e)
{
    if (!e->peer)
        return;
    wake(e->peer->base.transport); /* it finds that we are gone */
    e->peer->peer = NULL;
    e->peer = NULL;
}

static void loop_close(struct pvmi_transport *base)
{
    struct loop_transport *t = (struct loop_transport *)base;
    struct loop_endpoint *e, *next;
    DL_FOREACH_SAFE (t->endpoints, e, next) {
        part(e);
        endpoint_free(e);
    }
    if (t->name)
        DL_DELETE(open_transports, t);
    close(t->event_fd);
    free(t->name);
    free(t);
}

static void loop_query(const struct pvmi_transport *t, struct pvmi_attributes *out)
{
    (void)t;
    *out = (struct pvmi_attributes){
        .frame_max = 65536, .copy_max = 65536, .latency_ns = 100, .bandwidth_mbs = 10000, .local_only = true};
}

static int loop_address(const struct pvmi_transport *base, uint8_t *blob, size_t size)
{
    const struct loop_transport *t = (const struct loop_transport *)base;
    size_t length = t->name ? strlen(t->name) : 0;
    if (!length || length > size)
        return PVMI_ELIMIT;
    memcpy(blob, t->name, length);
    return (int)length;
}

static int loop_reach(const struct pvmi_transport *t, const uint8_t *blob, size_t length)
{
    (void)t;
    return transport_by_name(blob, length) ? 1 : 0;
}

static struct loop_endpoint *endpoint_new(struct loop_transport *t, void *owner, bool announced)
{
    struct loop_endpoint *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->base = (struct pvmi_endpoint){.transport = &t->base, .owner = owner};
    e->announced = announced;
    DL_APPEND(t->endpoints, e);
    return e;
}

static int loop_connect(struct pvmi_transport *base, const uint8_t *blob, size_t length, void *owner,
                        struct pvmi_endpoint **out)
{
    struct loop_transport *there = transport_by_name(blob, length);
    if (!there)
        return PVMI_EUNREACHABLE;
    struct loop_endpoint *ours = endpoint_new((struct loop_transport *)base, owner, true);
    struct loop_endpoint *theirs = ours ? endpoint_new(there, NULL, false) : NULL;
    if (!theirs) {
        if (ours)
            endpoint_free(ours);
        return PVMI_ENOMEM;
    }
    ours->peer = theirs;
    theirs->peer = ours;
    wake(&there->base);
    *out = &ours->base;
    return 0;
}

static void loop_disconnect(struct pvmi_endpoint *base)
{
    struct loop_endpoint *e = (struct loop_endpoint *)base;
    part(e);
    e->released = true;
    if (!((struct loop_transport *)base->transport)->in_progress)
        endpoint_free(e);
}

static struct pvmi_frame *frame_copy(const struct pvmi_frame *f)
{
    struct pvmi_frame *copy = pvmi_frame_alloc(&f->h);
    uint8_t *to = copy && f->h.length ? copy->pieces[0].iov_base : NULL;
    for (unsigned i = 0; copy && i < f->piece_count; i++) {
        memcpy(to, f->pieces[i].iov_base, f->pieces[i].iov_len);
        to += f->pieces[i].iov_len;
    }
    return copy;
}

static int loop_send(struct pvmi_endpoint *base, struct pvmi_frame *f)
{
    struct loop_endpoint *e = (struct loop_endpoint *)base;
    if (!e->peer)
        return PVMI_EDOWN;
    if (e->peer->inbox_count >= QUEUE_MAX) {
        e->refused = true;
        return PVMI_EAGAIN;
    }
    struct parcel *p = calloc(1, sizeof *p);
    if (p)
        p->frame = frame_copy(f);
    if (!p || !p->frame) {
        free(p);
        return PVMI_ENOMEM;
    }
    DL_APPEND(e->peer->inbox, p);
    e->peer->inbox_count++;
    wake(e->peer->base.transport);
    return 0;
}

static size_t loop_pending(const struct pvmi_endpoint *base)
{
    (void)base; /* a taken frame is in the peer's queue at once */
    return 0;
}

static void deliver_one(struct loop_endpoint *e)
{
    const struct pvmi_callbacks *cb = e->base.transport->callbacks;
    void *arg = e->base.transport->arg;
    struct parcel *p = e->inbox;
    DL_DELETE(e->inbox, p);
    e->inbox_count--;
    if (e->peer && e->peer->refused) {
        e->peer->refused = false;
        e->peer->want_ready = true;
        wake(e->peer->base.transport);
    }
    uint8_t *place = cb->rx_place(arg, &e->base, &p->frame->h);
    if (place && !e->released) {
        if (p->frame->h.length)
            memcpy(place, p->frame->pieces[0].iov_base, p->frame->h.length);
        cb->rx_done(arg, &e->base, &p->frame->h);
    }
    pvmi_frame_unref(p->frame);
    free(p);
}

/* Everything there is to tell of one endpoint; returns how many things that were. */
static int endpoint_progress(struct loop_endpoint *e)
{
    struct pvmi_transport *t = e->base.transport;
    int n = 0;
    if (!e->announced) {
        e->announced = true;
        n++;
        struct pvmi_credentials who = {.pid = getpid(), .uid = getuid()};
        if (t->callbacks->accepted(t->arg, &e->base, &who)) {
            part(e);
            e->released = true;
        }
    }
    if (!e->released && e->want_ready) {
        e->want_ready = false;
        n++;
        t->callbacks->tx_ready(t->arg, &e->base);
    }
    while (!e->released && e->inbox) {
        n++;
        deliver_one(e);
    }
    if (!e->released && !e->peer && !e->told_down) {
        e->told_down = true;
        n++;
        t->callbacks->down(t->arg, &e->base, 0);
    }
    return n;
}

static int loop_progress(struct pvmi_transport *base)
{
    struct loop_transport *t = (struct loop_transport *)base;
    uint64_t count;
    ssize_t got = read(t->event_fd, &count, sizeof count);
    (void)got; /* only to make the descriptor quiet again */
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

static int loop_fd(struct pvmi_transport *base)
{
    return ((struct loop_transport *)base)->event_fd;
}

static int loop_arm(struct pvmi_transport *base)
{
    const struct loop_endpoint *e;
    DL_FOREACH (((struct loop_transport *)base)->endpoints, e)
        if (e->inbox || e->want_ready || !e->announced || (!e->peer && !e->told_down))
            return 1;
    return 0;
}

const struct pvmi_transport_ops pvmi_loop_ops = {
    .name = "loop",
    .summary = "inside one process, for tests",
    .available = loop_available,
    .open = loop_open,
    .close = loop_close,
    .query = loop_query,
    .address = loop_address,
    .reach = loop_reach,
    .connect = loop_connect,
    .disconnect = loop_disconnect,
    .send = loop_send,
    .pending = loop_pending,
    .progress = loop_progress,
    .fd = loop_fd,
    .arm = loop_arm,
};
