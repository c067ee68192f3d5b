/*
 * fault.c - a transport wrapped around another one, whose links fail on purpose.
 *
 * The receiver holds delayed frames, so frames accepted by the inner transport have reached their peer and its
 * guarantees hold. A fault that ends a connection ends the inner one, so the other side sees a real end.
 */
#include "fault.h"
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"

#define HELD_FRAMES_MAX 256u       /* per endpoint; above this, delays are cut short */
#define HELD_BYTES_MAX  (8u << 20) /* the same */
#define SLOTS_MAX       8          /* transports that can be wrapped in one process */

/* A received frame that is not due yet. */
struct held {
    struct pvmc_frame_header h;
    struct pvmc_mem *mem; /* NULL: no payload */
    const uint8_t *data;
    int64_t due_us;
    struct held *prev, *next;
};

struct fault_endpoint {
    struct pvmt_endpoint base;
    struct pvmt_endpoint *inner; /* NULL: we have ended it, or it is disconnected */
    bool up;                     /* joined; false: an open offer */
    bool refused;                /* by this wrapper, so tx_ready is due */
    bool inner_owes;             /* also by the inner transport: its tx_ready is passed on */
    bool swallows;               /* a frame was lost, so all later ones are lost, too */
    bool ended, told;            /* the connection is over; down was called */
    int reason;
    bool released;       /* disconnected: free it after progress() */
    struct held *coming; /* its payload is arriving */
    struct held *held;   /* in order */
    unsigned held_frames;
    size_t held_bytes;
    struct fault_endpoint *prev, *next;
};

struct slot {
    struct pvmt_transport_ops ops;
    const struct pvmt_transport_ops *inner;
    struct pvmc_fault_plan plan;
};

struct fault_transport {
    struct pvmt_transport base;
    struct pvmt_transport *inner;
    const struct pvmt_transport_ops *inner_ops;
    struct pvmc_fault_plan plan;
    int epoll_fd, timer_fd; /* with delay: combine inner's descriptor and the timer for the next frame; else -1 */
    bool timer_set, in_progress;
    struct fault_endpoint *endpoints;
};

static uint64_t random_state = 1;

static bool chance(uint32_t millionths)
{
    return millionths && pvmc_fault_random(&random_state) % PVMC_FAULT_CERTAIN < millionths;
}

static struct fault_transport *transport_of(const struct fault_endpoint *e)
{
    return (struct fault_transport *)e->base.transport;
}

/* ---- delayed frames ---- */

static struct held *held_new(const struct fault_transport *t, const struct pvmc_frame_header *h)
{
    struct held *held = calloc(1, sizeof *held);
    if (!held)
        return NULL;
    held->h = *h;
    held->due_us = pvmc_clock_us() + pvmc_fault_random(&random_state) % (2 * t->plan.delay_us + 1);
    return held;
}

static void held_free(struct held *held)
{
    if (held)
        pvmc_mem_unref(held->mem);
    free(held);
}

static void hold(struct fault_endpoint *e, struct held *held)
{
    DL_APPEND(e->held, held);
    e->held_frames++;
    e->held_bytes += held->h.length;
}

static bool is_due(const struct fault_endpoint *e, int64_t now_us)
{
    return e->held->due_us <= now_us || e->held_frames > HELD_FRAMES_MAX || e->held_bytes > HELD_BYTES_MAX;
}

static void deliver(struct fault_endpoint *e, struct held *held)
{
    const struct pvmt_callbacks *cb = e->base.transport->callbacks;
    void *arg = e->base.transport->arg;
    if (cb->rx_whole && held->mem && !held->h.offset && held->h.length == held->h.body_length) {
        if (!cb->rx_whole(arg, &e->base, &held->h, held->mem, held->data))
            held->mem = NULL; /* given away */
        return;
    }
    uint8_t *place = cb->rx_place(arg, &e->base, &held->h);
    if (!place || e->released)
        return;
    if (held->h.length)
        memcpy(place, held->data, held->h.length);
    cb->rx_done(arg, &e->base, &held->h);
}

static int deliver_due(struct fault_endpoint *e, int64_t now_us)
{
    int n = 0;
    for (; e->held && !e->released && is_due(e, now_us); n++) {
        struct held *held = e->held;
        DL_DELETE(e->held, held);
        e->held_frames--;
        e->held_bytes -= held->h.length;
        deliver(e, held);
        held_free(held);
    }
    return n;
}

/* ---- endpoints ---- */

static struct fault_endpoint *endpoint_new(struct pvmt_transport *base, void *owner, bool up)
{
    struct fault_transport *t = (struct fault_transport *)base;
    struct fault_endpoint *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->base = (struct pvmt_endpoint){.transport = base, .owner = owner};
    e->up = up;
    DL_APPEND(t->endpoints, e);
    return e;
}

static void endpoint_free(struct fault_endpoint *e)
{
    struct held *held, *next;
    DL_FOREACH_SAFE (e->held, held, next)
        held_free(held);
    held_free(e->coming);
    DL_DELETE(transport_of(e)->endpoints, e);
    free(e);
}

static void drop_inner(struct fault_endpoint *e)
{
    struct pvmt_endpoint *inner = e->inner;
    e->inner = NULL;
    if (inner)
        inner->transport->ops->disconnect(inner);
}

/* A fault ends the connection. progress() reports down, after the frames received before. */
static void end_by_fault(struct fault_endpoint *e)
{
    e->ended = true;
    e->reason = PVMC_EDOWN;
    drop_inner(e);
}

static void fault_disconnect(struct pvmt_endpoint *base)
{
    struct fault_endpoint *e = (struct fault_endpoint *)base;
    drop_inner(e);
    e->released = true;
    if (!transport_of(e)->in_progress)
        endpoint_free(e);
}

/* ---- callbacks of the inner transport ---- */

static uint8_t *on_place(void *arg, struct pvmt_endpoint *inner, const struct pvmc_frame_header *h)
{
    static uint8_t nowhere; /* for frames without payload */
    struct fault_transport *t = arg;
    struct fault_endpoint *e = inner->owner;
    bool cut = chance(t->plan.cut);
    if (t->plan.delay_us && !cut) {
        held_free(e->coming);
        e->coming = held_new(t, h);
        if (!e->coming || !h->length)
            return e->coming ? &nowhere : NULL;
        e->coming->mem = pvmc_mem_new(h->length);
        e->coming->data = e->coming->mem ? e->coming->mem->data : NULL;
        return e->coming->mem ? e->coming->mem->data : NULL;
    }
    if (cut && e->held) { /* in the middle of a frame not yet delivered */
        end_by_fault(e);
        return NULL;
    }
    uint8_t *place = t->base.callbacks->rx_place(t->base.arg, &e->base, h);
    if (!cut || e->released)
        return e->released ? NULL : place;
    end_by_fault(e);
    return NULL;
}

static void on_done(void *arg, struct pvmt_endpoint *inner, const struct pvmc_frame_header *h)
{
    struct fault_transport *t = arg;
    struct fault_endpoint *e = inner->owner;
    if (!t->plan.delay_us) {
        t->base.callbacks->rx_done(t->base.arg, &e->base, h);
        return;
    }
    hold(e, e->coming);
    e->coming = NULL;
}

static int on_whole(void *arg, struct pvmt_endpoint *inner, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                    const uint8_t *data)
{
    struct fault_transport *t = arg;
    struct fault_endpoint *e = inner->owner;
    if (chance(t->plan.cut)) {
        end_by_fault(e);
        return PVMC_EDOWN;
    }
    if (!t->plan.delay_us)
        return t->base.callbacks->rx_whole(t->base.arg, &e->base, h, mem, data);
    struct held *held = held_new(t, h);
    if (!held)
        return PVMC_ENOMEM;
    held->mem = mem;
    held->data = data;
    if (!mem && h->length) { /* data is valid only during this call */
        held->mem = pvmc_mem_new(h->length);
        if (!held->mem) {
            held_free(held);
            return PVMC_ENOMEM;
        }
        held->data = memcpy(held->mem->data, data, h->length);
    }
    hold(e, held);
    return 0;
}

static void on_ready(void *arg, struct pvmt_endpoint *inner)
{
    struct fault_transport *t = arg;
    struct fault_endpoint *e = inner->owner;
    e->up = true;
    e->refused = e->inner_owes = false;
    t->base.callbacks->tx_ready(t->base.arg, &e->base);
}

static void on_down(void *arg, struct pvmt_endpoint *inner, int reason)
{
    struct fault_endpoint *e = inner->owner;
    (void)arg;
    e->ended = true;
    e->reason = reason;
    drop_inner(e);
}

/* Wrapped transports connect by offer only. */
static int on_accepted(void *arg, struct pvmt_endpoint *inner, const struct pvmt_credentials *who)
{
    (void)arg;
    (void)inner;
    (void)who;
    return PVMC_EDENIED;
}

static uint16_t on_node(void *arg)
{
    const struct pvmt_transport *t = arg; /* ours */
    return t->callbacks->node ? t->callbacks->node(t->arg) : 1;
}

#define CALLBACKS                                                                                                      \
    .accepted = on_accepted, .rx_place = on_place, .rx_done = on_done, .tx_ready = on_ready, .down = on_down,          \
    .node = on_node

static const struct pvmt_callbacks callbacks = {CALLBACKS};
static const struct pvmt_callbacks callbacks_whole = {CALLBACKS, .rx_whole = on_whole};

/* ---- opening and closing ---- */

static void fault_close(struct pvmt_transport *base)
{
    struct fault_transport *t = (struct fault_transport *)base;
    struct fault_endpoint *e, *next;
    if (t->inner)
        t->inner_ops->close(t->inner);
    DL_FOREACH_SAFE (t->endpoints, e, next)
        endpoint_free(e);
    if (t->timer_fd >= 0)
        close(t->timer_fd);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
    free(t);
}

static int watch(struct fault_transport *t, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return fd < 0 || epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? PVMC_ESYSTEM : 0;
}

/* One descriptor for the inner transport and the timer. */
static int open_timer(struct fault_transport *t)
{
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    t->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int rc = t->epoll_fd < 0 || t->timer_fd < 0 ? PVMC_ESYSTEM : watch(t, t->timer_fd);
    return rc ? rc : watch(t, t->inner_ops->fd(t->inner));
}

static int fault_open(const struct slot *slot, const char *address, const struct pvmt_callbacks *above, void *arg,
                      struct pvmt_transport **out)
{
    struct fault_transport *t = calloc(1, sizeof *t);
    if (!t)
        return PVMC_ENOMEM;
    t->base = (struct pvmt_transport){.ops = &slot->ops, .callbacks = above, .arg = arg};
    t->inner_ops = slot->inner;
    t->plan = slot->plan;
    t->epoll_fd = t->timer_fd = -1;
    int rc = slot->inner->open(address, above->rx_whole ? &callbacks_whole : &callbacks, t, &t->inner);
    if (rc)
        t->inner = NULL;
    else if (t->plan.delay_us)
        rc = open_timer(t);
    if (rc) {
        fault_close(&t->base);
        return rc;
    }
    *out = &t->base;
    return 0;
}

static void fault_query(const struct slot *slot, const struct pvmt_transport *base, struct pvmt_attributes *out)
{
    slot->inner->query(base ? ((const struct fault_transport *)base)->inner : NULL, out);
    if (slot->plan.drop || slot->plan.cut)
        out->lossless = false;
}

/* ---- connecting ---- */

/* The inner endpoint exists; e owns it from now on. */
static int settle(struct fault_endpoint *e, int rc, struct pvmt_endpoint **out)
{
    if (rc < 0) {
        endpoint_free(e);
        return rc;
    }
    *out = &e->base;
    return rc;
}

static int fault_offer(struct pvmt_transport *base, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                       struct pvmt_endpoint **out)
{
    struct fault_transport *t = (struct fault_transport *)base;
    struct fault_endpoint *e = endpoint_new(base, owner, false);
    if (!e)
        return PVMC_ENOMEM;
    return settle(e, t->inner_ops->offer(t->inner, e, blob, fd, &e->inner), out);
}

static int fault_join(struct pvmt_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                      uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out)
{
    struct fault_transport *t = (struct fault_transport *)base;
    struct fault_endpoint *e = chance(t->plan.nojoin) ? NULL : endpoint_new(base, owner, true);
    if (!e) {
        if (fd >= 0)
            close(fd);
        return PVMC_EUNREACHABLE;
    }
    return settle(e, t->inner_ops->join(t->inner, blob, length, fd, e, reply, &e->inner), out);
}

static int fault_joined(struct pvmt_endpoint *base, const uint8_t *reply, size_t length)
{
    struct fault_endpoint *e = (struct fault_endpoint *)base;
    return e->inner ? transport_of(e)->inner_ops->joined(e->inner, reply, length) : PVMC_EDOWN;
}

/* ---- sending ---- */

/* Ends the connection before the frame or in the middle of it. What the inner transport has not sent yet is lost. */
static int send_and_cut(struct fault_endpoint *e, struct pvmc_frame *f)
{
    bool before = pvmc_fault_random(&random_state) & 1;
    if (!before)
        transport_of(e)->inner_ops->send(e->inner, f);
    end_by_fault(e);
    e->swallows = !before;
    return before ? PVMC_EDOWN : 0;
}

static int fault_send(struct pvmt_endpoint *base, struct pvmc_frame *f)
{
    struct fault_endpoint *e = (struct fault_endpoint *)base;
    struct fault_transport *t = transport_of(e);
    if (!e->inner)
        return e->swallows && !e->told ? 0 : PVMC_EDOWN;
    if (e->up && chance(t->plan.refuse)) {
        e->refused = true;
        return PVMC_EAGAIN;
    }
    if (e->up && chance(t->plan.cut))
        return send_and_cut(e, f);
    if (e->up && chance(t->plan.drop)) {
        end_by_fault(e);
        e->swallows = true;
        return 0;
    }
    int rc = t->inner_ops->send(e->inner, f);
    e->inner_owes = e->inner_owes || rc == PVMC_EAGAIN;
    return rc;
}

static size_t fault_pending(const struct pvmt_endpoint *base)
{
    const struct fault_endpoint *e = (const struct fault_endpoint *)base;
    return e->inner ? transport_of(e)->inner_ops->pending(e->inner) : 0;
}

static bool fault_encrypts(const struct pvmt_endpoint *base)
{
    const struct fault_endpoint *e = (const struct fault_endpoint *)base;
    return e->inner && transport_of(e)->inner_ops->encrypts(e->inner);
}

static size_t fault_unsent(const struct pvmt_endpoint *base)
{
    const struct fault_endpoint *e = (const struct fault_endpoint *)base;
    return e->inner ? transport_of(e)->inner_ops->unsent(e->inner) : 0;
}

/* ---- progress ---- */

static bool owes_ready(const struct fault_endpoint *e)
{
    return e->refused && !e->inner_owes && !e->ended;
}

static bool owes_down(const struct fault_endpoint *e)
{
    return e->ended && !e->told && !e->held;
}

static int endpoint_progress(struct fault_endpoint *e, int64_t now_us)
{
    const struct pvmt_callbacks *cb = e->base.transport->callbacks;
    void *arg = e->base.transport->arg;
    int n = 0;
    if (!e->released && owes_ready(e)) {
        e->refused = false;
        n++;
        cb->tx_ready(arg, &e->base);
    }
    n += deliver_due(e, now_us);
    if (!e->released && owes_down(e)) {
        e->told = true;
        n++;
        cb->down(arg, &e->base, e->reason);
    }
    return n;
}

static void quiet_timer(struct fault_transport *t)
{
    uint64_t count;
    if (!t->timer_set)
        return;
    t->timer_set = read(t->timer_fd, &count, sizeof count) < 0; /* not yet expired */
}

static int fault_progress(struct pvmt_transport *base)
{
    struct fault_transport *t = (struct fault_transport *)base;
    struct fault_endpoint *e, *next;
    quiet_timer(t);
    t->in_progress = true;
    int n = t->inner_ops->progress(t->inner);
    int64_t now_us = t->plan.delay_us ? pvmc_clock_us() : 0;
    DL_FOREACH (t->endpoints, e) {
        int more = endpoint_progress(e, now_us);
        n = n < 0 ? n : n + more;
    }
    t->in_progress = false;
    DL_FOREACH_SAFE (t->endpoints, e, next)
        if (e->released)
            endpoint_free(e);
    return n;
}

static int fault_fd(struct pvmt_transport *base)
{
    struct fault_transport *t = (struct fault_transport *)base;
    return t->epoll_fd >= 0 ? t->epoll_fd : t->inner_ops->fd(t->inner);
}

/* Sets the timer for the next frame; 0, or 1 if that is due now. */
static int set_timer(struct fault_transport *t, int64_t due_us)
{
    int64_t left_us = due_us - pvmc_clock_us();
    if (left_us <= 0)
        return 1;
    struct itimerspec when = {.it_value = {.tv_sec = left_us / 1000000, .tv_nsec = left_us % 1000000 * 1000}};
    timerfd_settime(t->timer_fd, 0, &when, NULL);
    t->timer_set = true;
    return 0;
}

static int fault_arm(struct pvmt_transport *base)
{
    struct fault_transport *t = (struct fault_transport *)base;
    const struct fault_endpoint *e;
    int64_t due_us = INT64_MAX;
    DL_FOREACH (t->endpoints, e) {
        if (owes_ready(e) || owes_down(e))
            return 1;
        if (e->held && is_due(e, 0))
            return 1;
        if (e->held && e->held->due_us < due_us)
            due_us = e->held->due_us;
    }
    if (due_us != INT64_MAX && set_timer(t, due_us))
        return 1;
    return t->inner_ops->arm(t->inner);
}

/* ---- one table of functions per wrapped transport ---- */

static struct slot slots[SLOTS_MAX];
static unsigned slot_count;

#define EACH_SLOT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* open() and query() get no transport, so each slot has its own functions, which know what they wrap. */
#define SLOT_FUNCTIONS(n)                                                                                              \
    static int open_##n(const char *address, const struct pvmt_callbacks *above, void *arg,                            \
                        struct pvmt_transport **out)                                                                   \
    {                                                                                                                  \
        return fault_open(&slots[n], address, above, arg, out);                                                        \
    }                                                                                                                  \
    static void query_##n(const struct pvmt_transport *t, struct pvmt_attributes *out)                                 \
    {                                                                                                                  \
        fault_query(&slots[n], t, out);                                                                                \
    }
EACH_SLOT(SLOT_FUNCTIONS)

static const struct {
    int (*open)(const char *, const struct pvmt_callbacks *, void *, struct pvmt_transport **);
    void (*query)(const struct pvmt_transport *, struct pvmt_attributes *);
} slot_functions[SLOTS_MAX] = {
#define SLOT_ROW(n) {open_##n, query_##n},
    EACH_SLOT(SLOT_ROW)};

static void slot_fill(struct slot *s, unsigned n, const struct pvmt_transport_ops *inner)
{
    s->inner = inner;
    s->ops = (struct pvmt_transport_ops){
        .name = inner->name,
        .summary = inner->summary,
        .available = inner->available,
        .open = slot_functions[n].open,
        .close = fault_close,
        .query = slot_functions[n].query,
        .offer = fault_offer,
        .join = fault_join,
        .joined = inner->joined ? fault_joined : NULL,
        .disconnect = fault_disconnect,
        .send = fault_send,
        .pending = fault_pending,
        .encrypts = inner->encrypts ? fault_encrypts : NULL,
        .unsent = inner->unsent ? fault_unsent : NULL,
        .progress = fault_progress,
        .fd = fault_fd,
        .arm = fault_arm,
    };
}

static struct slot *slot_of(const struct pvmt_transport_ops *inner)
{
    for (unsigned i = 0; i < slot_count; i++)
        if (slots[i].inner == inner)
            return &slots[i];
    if (slot_count == SLOTS_MAX)
        return NULL;
    slot_fill(&slots[slot_count], slot_count, inner);
    return &slots[slot_count++];
}

const struct pvmt_transport_ops *pvmt_fault_wrap(const struct pvmt_transport_ops *inner)
{
    static bool begun;
    char why[PVMC_FAULT_WHY];
    struct pvmc_fault_plan plan;
    const char *text = pvmc_config_text(PVMC_SETTING_FAULT);
    if (pvmc_fault_plan_read(&plan, text, why, sizeof why)) {
        pvmc_log_once(PVMC_LOG_ERROR, "PVM_FAULT is not usable and ignored: %s", why);
        return inner;
    }
    struct slot *s = inner->offer && pvmc_fault_plan_has_links(&plan) ? slot_of(inner) : NULL;
    if (!s)
        return inner;
    s->plan = plan;
    if (!begun) {
        random_state = pvmc_fault_random_start(plan.seed);
        pvmc_log(PVMC_LOG_INFO, "direct links fail on purpose: PVM_FAULT=%s", text);
    }
    begun = true;
    return &s->ops;
}
