/* link.c - see link.h: the callbacks of all transports, and the code common to all links. */
#include "link.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "arrivals.h"
#include "control.h"
#include "inbox.h"
#include "libpvm/base/call.h"
#include "libpvm/base/options.h"
#include "libpvm/base/shadow.h"
#include "outbox.h"
#include "pvmproto.h"
#include "libpvm/base/task.h"
#include "libpvm/base/virtual.h"
#include "wait.h"

/* A sender checks for TC_HOLD after so many bytes. That bounds what it can send beyond the daemon's high mark. */
#define LISTEN_BYTES (64u << 10)

/*
 * On direct links it would only miss offers and the like, so it checks less often. Here a frame counts with a minimum
 * size.
 */
#define LISTEN_DIRECT_BYTES (1u << 20)
#define FRAME_COST          1024

/* A frame of so many bytes costs little more than its share of a longer one, on every transport. */
#define STREAM_BYTES 8192

struct pvmi_link pvmi_daemon_link;
struct pvmi_link *pvmi_links;
unsigned pvmi_link_count, pvmi_link_epoch;
const struct pvmi_link_listener *pvmi_link_listener;
bool pvmi_link_end_is_due;
void (*pvmi_link_has_room)(void);

static int descriptor = -1; /* arrived with the current frame */

/* ---- the end of links ---- */

static void drop_descriptor(void)
{
    if (descriptor >= 0)
        close(descriptor);
    descriptor = -1;
}

static void clear_direct(void)
{
    if (pvmi_link_listener)
        pvmi_link_listener->clear();
}

/* Without the daemon there is no virtual machine: direct links end as well, and their peers notice. */
static void lose_daemon(void)
{
    struct pvmi_link *l = &pvmi_daemon_link;
    pvmi_peer_cancel(&l->arrival);
    drop_descriptor();
    l->carrier->ops->disconnect(l->ep);
    l->ep = NULL;
    clear_direct();
    pvmi_task_lost();
    pvmi_lock_news = true;
}

/* Ends a link that has become unusable. */
static void lose(struct pvmi_link *l, int reason)
{
    if (l == &pvmi_daemon_link)
        lose_daemon();
    else
        pvmi_link_listener->lost(l, reason);
}

/*
 * Handles a frame that could not be accepted. The daemon carries frames of all tasks without checking them, so only a
 * frame of its own can cost it the connection.
 */
static void take_failure(struct pvmi_link *l, const struct pvmc_frame_header *h, int reason)
{
    bool is_of_another = !l->peer && reason == PVMC_EFORMAT && !pvmc_tid_is_daemon(h->src);
    if (!is_of_another)
        lose(l, reason);
}

/* ---- receiving ---- */

int pvmi_link_take_descriptor(void)
{
    int fd = descriptor;
    descriptor = -1;
    return fd;
}

static bool is_acknowledgement(const struct pvmc_frame_header *h)
{
    return h->ctx == PVMC_CTX_TC && h->tag == (int32_t)PVMC_TC_ACK;
}

static bool is_of_stream(const struct pvmc_frame_header *h)
{
    return h->flags & PVMC_FRAME_STREAM && !(h->flags & ~(PVMC_FRAME_STREAM | PVMC_FRAME_ABORT));
}

/* Whether a link may carry a frame: a direct one carries only what its peer sends to us. */
static inline bool is_allowed(const struct pvmi_link *l, const struct pvmc_frame_header *h)
{
    if (!l->peer)
        return true;
    return h->src == l->peer->tid && h->dst == pvmi_task.tid && (!h->flags || is_of_stream(h)) &&
           (pvmi_peer_counts(h->src, h->ctx) || is_acknowledgement(h));
}

static PVMI_COLD int refuse(struct pvmi_link *l, const struct pvmc_frame_header *h)
{
    pvmc_log(PVMC_LOG_ERROR, "closing the link to t%x: it delivered a frame from t%x to t%x (tag %d)", l->peer->tid,
             h->src, h->dst, h->tag);
    return PVMC_EFORMAT;
}

static bool is_whole(const struct pvmc_frame_header *h)
{
    return h->length == h->body_length && !(h->flags & PVMC_FRAME_ABORT);
}

/* Processes a TC_ACK of a direct link. */
static bool take_acknowledgement(struct pvmi_link *l, const struct pvmc_frame_header *h)
{
    if (__builtin_expect(!is_acknowledgement(h), 1) || !l->peer)
        return false;
    pvmw_window_acknowledge_seq(&l->kept, h->seq);
    pvmi_link_retry(); /* the window may have been full */
    if (h->wid)
        pvmi_link_acknowledge(l, false);
    return true;
}

static void count_received(struct pvmi_link *l, struct pvmi_peer *p, const struct pvmc_frame_header *h)
{
    struct pvmi_traffic *t = l->peer ? &p->direct : &p->daemon;
    struct pvmc_gauges_route *shown = l->carrier->shown;
    t->rx_frames++;
    t->rx_bytes += h->length;
    shown->rx_messages += pvmc_frame_is_last(h);
    shown->rx_bytes += h->length;
}

/* Acknowledges frames to a sender that may have to retransmit them. */
static void acknowledge_sometimes(struct pvmi_link *l, const struct pvmc_frame_header *h)
{
    if (l->lossless || !l->peer)
        return;
    l->unacked_frames++;
    l->unacked_bytes += h->length;
    if (l->unacked_frames >= PVMI_RETRANSMIT_ACK_FRAMES || l->unacked_bytes >= PVMI_RETRANSMIT_ACK_BYTES ||
        (pvmc_frame_is_last(h) && h->body_length > PVMI_RETRANSMIT_COPY_BYTES))
        pvmi_link_acknowledge(l, false);
}

/* A control message has no number: it waits for no other frames, nor they for it. */
static uint8_t *place_control(struct pvmi_link *l, const struct pvmc_frame_header *h)
{
    static uint8_t nowhere;
    struct pvmc_message *m = l->arrival.whole = pvmc_message_from_header(h);
    if (!m)
        lose(l, PVMC_ENOMEM); /* a call may be waiting for it */
    return !m ? NULL : h->length ? m->mem->data : &nowhere;
}

/* The sender of the frame. A task's uncounted messages are assembled separately from its counted ones. */
static struct pvmi_peer *sender_of(const struct pvmi_link *l, const struct pvmc_frame_header *h)
{
    if (l->peer)
        return l->peer;
    bool beside = !pvmc_tid_is_daemon(h->src) && !pvmi_peer_counts(h->src, h->ctx);
    return pvmi_peer_get(beside ? h->src | PVMC_TID_MULTICAST : h->src);
}

static uint8_t *rx_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    l->arrival = (struct pvmi_arrival){0};
    int status = is_allowed(l, h) ? 0 : refuse(l, h);
    if (!status && l->state != PVMI_LINK_UP)
        pvmi_link_listener->heard(l);
    if (!status && take_acknowledgement(l, h))
        return NULL;
    if (!status && is_whole(h) && !pvmi_peer_counts(h->src, h->ctx))
        return place_control(l, h);
    struct pvmi_peer *p = status ? NULL : sender_of(l, h);
    if (!status && !p)
        status = PVMC_ENOMEM;
    uint8_t *place = NULL;
    if (p) {
        count_received(l, p, h);
        place = pvmi_peer_place(&l->arrival, p, h, l->peer, &status);
    }
    if (status)
        take_failure(l, h, status);
    else if (!place)
        acknowledge_sometimes(l, h);
    return place;
}

static void rx_descriptor(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, int fd)
{
    (void)arg;
    (void)ep;
    (void)h;
    drop_descriptor();
    descriptor = fd;
}

static void rx_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    struct pvmc_message *control = l->arrival.whole;
    if (control) {
        l->arrival.whole = NULL;
        pvmi_link_deliver(control);
        drop_descriptor();
        return;
    }
    pvmi_peer_placed(&l->arrival, h);
    acknowledge_sometimes(l, h);
}

static PVMI_COLD int rx_failed(struct pvmi_link *l, int rc)
{
    lose(l, rc);
    return rc;
}

/* For direct links only: the daemon's transport has no whole frames. */
static int rx_whole(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                    const uint8_t *data)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    int rc = is_allowed(l, h) ? 0 : refuse(l, h);
    if (__builtin_expect(rc, 0))
        return rx_failed(l, rc);
    if (__builtin_expect(l->state != PVMI_LINK_UP, 0))
        pvmi_link_listener->heard(l);
    if (__builtin_expect(take_acknowledgement(l, h), 0))
        return PVMC_EEXISTS;
    count_received(l, l->peer, h);
    rc = pvmi_peer_whole(l->peer, h, mem, data);
    if (__builtin_expect(rc && rc != PVMC_EEXISTS, 0))
        return rx_failed(l, rc);
    if (!l->lossless)
        acknowledge_sometimes(l, h);
    return rc;
}

/* What p sends to us, with that tag and context. */
static inline bool is_sought(const struct pvmi_peer *p, const struct pvmc_envelope *e, int tag, int ctx)
{
    return pvmi_inbox_covers(tag, e->tag) && pvmi_inbox_covers(ctx, (int)e->ctx) && e->src == p->tid &&
           e->dst == pvmi_task.tid && pvmi_link_is_plain(e) && pvmi_peer_counts(e->src, e->ctx);
}

struct pvmc_message *pvmi_link_take_from(struct pvmi_peer *p, int tag, int ctx)
{
    struct pvmi_link *l = p->link;
    const struct pvmt_transport_ops *ops = l->carrier->ops;
    struct pvmt_whole w;
    if (!l->ep || !ops->peek_whole(l->ep, &w) || !is_sought(p, &w.envelope, tag, ctx))
        return NULL;
    struct pvmc_message *m = pvmi_peer_take(p, &w);
    if (m) {
        l->carrier->shown->rx_messages++;
        l->carrier->shown->rx_bytes += w.length;
        ops->take_whole(l->ep, w.length);
    }
    return m;
}

static void tx_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    l->refused = false;
    if (l->state == PVMI_LINK_OFFERED)
        pvmi_link_listener->heard(l);
    else if (l->ack_due)
        pvmi_link_acknowledge(l, l->ack_wanted);
    if (pvmi_link_has_room)
        pvmi_link_has_room();
}

static void down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    if (l == &pvmi_daemon_link)
        pvmc_log(PVMC_LOG_INFO, "lost the daemon: %s", reason ? pvmc_error_text(reason) : "it closed the connection");
    lose(l, reason);
}

/* A task never listens. */
static int accepted(void *arg, struct pvmt_endpoint *ep, const struct pvmt_credentials *who)
{
    (void)arg;
    (void)ep;
    (void)who;
    return PVMC_EDENIED;
}

static uint16_t node(void *arg)
{
    (void)arg;
    return (uint16_t)pvmc_tid_host_index(pvmi_task.tid);
}

static const struct pvmt_callbacks callbacks = {.accepted = accepted,
                                                .rx_place = rx_place,
                                                .rx_done = rx_done,
                                                .rx_whole = rx_whole,
                                                .rx_descriptor = rx_descriptor,
                                                .tx_ready = tx_ready,
                                                .node = node,
                                                .down = down};

void pvmi_link_deliver_special(struct pvmc_message *m)
{
    if (m->ctx == PVMC_CTX_TC && pvmi_control_take(m))
        pvmc_message_unref(m);
    else if ((!pvmc_tid_is_daemon(m->src) && m->tag > SM_LAST) || !pvmi_link_listener || !pvmi_link_listener->take(m))
        pvmi_arrivals_put(m);
}

/* ---- opening and closing ---- */

static void take_attributes(struct pvmi_link *l, struct pvmi_carrier *carrier)
{
    l->carrier = carrier;
    l->frame_max = carrier->attributes.frame_max;
    l->lossless = carrier->attributes.lossless;
    l->by_reference = carrier->attributes.by_reference;
    l->early = carrier->attributes.early;
    l->stream_bytes = carrier->attributes.stream_bytes ? carrier->attributes.stream_bytes : STREAM_BYTES;
    l->deadline_us = INT64_MAX;
    if (!l->lossless && l->frame_max > PVMC_FRAME_PAYLOAD_MAX)
        l->frame_max = PVMC_FRAME_PAYLOAD_MAX; /* it may have to go by the daemon in the end */
}

static struct pvmc_bypass daemon_traffic(void)
{
    struct pvmc_bypass traffic = {.pid = 0};
    if (pvmi_daemon_link.ep)
        pvmi_daemon_link.carrier->ops->traffic(pvmi_daemon_link.ep, &traffic);
    return traffic;
}

/*
 * A transport whose network has a clock is opened before the task does anything else. A task that wants no direct links
 * at that point, such as a console, lives in real time.
 */
static int enter_virtual_time(void)
{
    const struct pvmt_transport_ops *ops = pvmi_options.route == PvmDontRoute ? NULL : pvmi_link_listener->clock();
    struct pvmi_carrier *carrier;
    int rc = ops ? pvmi_carrier_open(ops, &callbacks, &carrier) : 0;
    if (!rc)
        pvmi_virtual_begin(pvmi_wait_pass_debt);
    if (rc || !pvmi_virtual())
        return rc;
    struct pvmc_bypass daemon = daemon_traffic();
    if (pvmi_virtual_is_watched(&daemon))
        return 0;
    pvmc_log(
        PVMC_LOG_ERROR,
        "the %s network has virtual time, and the daemon (process %d) is not on it: halt it, and start it with the "
        "same PVM_TRANSPORT and PVM_ATM_SOCKET while the network runs",
        ops->name, (int)daemon.pid);
    return PVMC_EPARAM;
}

int pvmi_link_open(const char *path)
{
    struct pvmi_link *l = &pvmi_daemon_link;
    struct pvmi_carrier *carrier;
    memset(l, 0, sizeof *l);
    int rc = pvmi_carrier_open(pvmt_transport_find("unix"), &callbacks, &carrier);
    if (rc)
        return rc;
    take_attributes(l, carrier);
    l->state = PVMI_LINK_UP;
    rc = carrier->ops->connect(carrier->transport, (const uint8_t *)path, strlen(path), l, &l->ep);
    if (!rc)
        rc = enter_virtual_time();
    if (rc)
        pvmi_link_close();
    return rc;
}

/* Closes whole transports rather than single links, so that a forked child leaves its parent's connections alone. */
void pvmi_link_close(void)
{
    struct pvmi_link *l;
    pvmi_link_epoch++;
    pvmi_lock_news = true;
    pvmi_carrier_close_all();
    DL_FOREACH (pvmi_links, l)
        l->ep = NULL;
    pvmi_daemon_link.ep = NULL;
    drop_descriptor();
    pvmi_peer_cancel(&pvmi_daemon_link.arrival);
    clear_direct();
    pvmi_outbox_clear();
    pvmi_shadow_clear();
    memset(&pvmi_daemon_link, 0, sizeof pvmi_daemon_link);
}

struct pvmi_link *pvmi_link_new(const struct pvmt_transport_ops *ops, struct pvmi_peer *p, enum pvmi_link_state state)
{
    struct pvmi_carrier *carrier;
    int rc = pvmi_carrier_open(ops, &callbacks, &carrier);
    struct pvmi_link *l = rc ? NULL : calloc(1, sizeof *l);
    if (!l) {
        pvmc_log(PVMC_LOG_INFO, "cannot open transport %s: %s", ops->name, pvmc_error_text(rc ? rc : PVMC_ENOMEM));
        return NULL;
    }
    take_attributes(l, carrier);
    l->peer = p;
    l->at_once = l->lossless;
    l->takes = l->lossless && ops->peek_whole;
    l->state = state;
    DL_APPEND(pvmi_links, l);
    pvmi_lock_news = true; /* there is another transport to arm */
    pvmi_link_count++;
    p->links++;
    p->had_link = true;
    return l;
}

void pvmi_link_free(struct pvmi_link *l)
{
    struct pvmi_peer *p = l->peer;
    pvmi_peer_cancel(&l->arrival);
    if (l->ep)
        l->carrier->ops->disconnect(l->ep);
    if (pvmw_window_count(&l->kept)) {
        pvmw_window_resend_by(&l->kept, &p->again);
        pvmi_outbox_resend();
    }
    pvmw_window_clear(&l->kept);
    DL_DELETE(pvmi_links, l);
    pvmi_link_count--;
    free(l);
    if (--p->links)
        return;
    pvmi_peer_unlinked(p);
    pvmi_link_listener->unlinked(p->tid);
}

/* ---- sending ---- */

void pvmi_link_acknowledge(struct pvmi_link *l, bool want_one_back)
{
    struct pvmc_frame_header h = {.src = pvmi_task.tid,
                                  .dst = l->peer->tid,
                                  .seq = l->peer->rx_seq,
                                  .ctx = PVMC_CTX_TC,
                                  .tag = (int32_t)PVMC_TC_ACK,
                                  .wid = want_one_back};
    struct pvmc_frame *f = l->ep ? pvmc_frame_new(&h, NULL) : NULL;
    int rc = f ? l->carrier->ops->send(l->ep, f) : PVMC_ENOMEM;
    pvmc_frame_unref(f);
    l->unacked_frames = l->unacked_bytes = 0;
    l->ack_due = rc == PVMC_EAGAIN;
    l->ack_wanted = l->ack_due && want_one_back;
    l->refused = l->refused || l->ack_due;
}

static void count_sent(struct pvmi_link *l, const struct pvmc_frame *f)
{
    l->unheard += (l->peer ? FRAME_COST : PVMC_FRAME_HEADER_BYTES) + f->h.length;
}

int pvmi_link_send(struct pvmi_link *l, struct pvmc_frame *f)
{
    if (!l->ep)
        return PVMC_EDOWN;
    if (pvmi_virtual() && !l->peer && pvmi_virtual_give(daemon_traffic(), PVMC_FRAME_HEADER_BYTES + f->h.length))
        return PVMC_EDOWN;
    if (!l->lossless && pvmi_retransmit_is_full(&l->kept))
        return PVMC_EAGAIN;
    bool keeps = !l->lossless && l->peer;
    struct pvmc_frame *sent = keeps ? pvmi_retransmit_copy(f) : pvmc_frame_ref(f);
    int rc = sent ? l->carrier->ops->send(l->ep, sent) : PVMC_ENOMEM;
    if (rc == PVMC_EAGAIN)
        l->refused = true;
    if (!rc)
        count_sent(l, sent);
    if (!rc && keeps)
        pvmw_window_add(&l->kept, sent);
    pvmc_frame_unref(sent);
    return rc;
}

bool pvmi_link_can_share(const struct pvmi_link *l, const struct pvmi_link *with)
{
    return l->ep && l->peer && l->carrier->ops->send_to_many && (!with || l->carrier == with->carrier);
}

int pvmi_link_send_to_many(struct pvmi_link **links, struct pvmc_frame **frames, unsigned count)
{
    struct pvmt_endpoint *eps[PVMI_LINK_SHARE_MAX];
    for (unsigned i = 0; i < count; i++) {
        if (!links[i]->ep)
            return PVMC_EDOWN;
        if (!links[i]->lossless && pvmi_retransmit_is_full(&links[i]->kept))
            return PVMC_EAGAIN;
        eps[i] = links[i]->ep;
    }
    int rc = links[0]->carrier->ops->send_to_many(eps, frames, count);
    for (unsigned i = 0; i < count; i++) {
        if (rc == PVMC_EAGAIN)
            links[i]->refused = true;
        if (rc)
            continue;
        count_sent(links[i], frames[i]);
        if (!links[i]->lossless)
            pvmi_retransmit_keep(&links[i]->kept, frames[i]);
    }
    return rc;
}

int pvmi_link_send_whole(struct pvmi_link *l, const struct pvmc_message *m, uint32_t seq)
{
    const struct pvmt_transport_ops *ops = l->carrier->ops;
    if (!l->ep || !ops->send_whole || !m->length)
        return PVMC_EUNSUPPORTED;
    int rc = ops->send_whole(l->ep, &m->envelope, seq, m->mem->data, (uint32_t)m->length);
    if (__builtin_expect(!rc, 1))
        l->unheard += FRAME_COST + (uint32_t)m->length;
    else if (rc == PVMC_EAGAIN)
        l->refused = true;
    return rc;
}

bool pvmi_link_is_idle(const struct pvmi_link *l)
{
    const struct pvmt_transport_ops *ops = l->carrier->ops;
    return !l->ep || !(ops->unsent ? ops->unsent : ops->pending)(l->ep);
}

void pvmi_link_retry(void)
{
    if (pvmi_link_has_room)
        pvmi_carrier_alarm(pvmc_clock_us());
}

bool pvmi_link_must_listen(const struct pvmi_link *l)
{
    return l->unheard >= (l->peer ? LISTEN_DIRECT_BYTES : LISTEN_BYTES);
}

/* ---- all links ---- */

/* What is seldom due. Returns the number of events. */
static PVMI_COLD int progress_rarely(void)
{
    int n = pvmi_shadow_due ? pvmi_peer_pass_shadows() : 0;
    if (!pvmi_link_end_is_due)
        return n;
    pvmi_carrier_arm();
    return n + pvmi_carrier_progress_direct();
}

static PVMI_COLD int take_alarm(void)
{
    int n = pvmi_link_listener->alarm();
    if (pvmi_link_has_room)
        pvmi_link_has_room();
    return n;
}

int pvmi_link_progress(void)
{
    if (!pvmi_daemon_link.ep)
        return PVMC_EDOWN;
    pvmi_daemon_link.unheard = 0;
    int n = pvmi_carrier_progress_direct() + pvmi_carrier_progress_daemon();
    if (__builtin_expect(pvmi_link_end_is_due | pvmi_shadow_due, 0))
        n += progress_rarely();
    if (pvmi_carrier_alarmed())
        n += take_alarm();
    if (pvmi_daemon_link.ep)
        n += pvmi_outbox_flush();
    pvmi_wait_note(n);
    return n > 0 || pvmi_daemon_link.ep ? n : PVMC_EDOWN;
}

int pvmi_link_progress_direct(void)
{
    int n = pvmi_carrier_progress_direct();
    pvmi_wait_note(n);
    return n;
}

int pvmi_link_glance_direct(void)
{
    int n = pvmi_carrier_glance_direct();
    pvmi_wait_note(n);
    return n;
}

int pvmi_link_sleep_virtually(int64_t until_us)
{
    int64_t alarm_us = pvmi_carrier_alarm_us();
    struct pvmc_bypass daemon = daemon_traffic();
    bool owing = pvmi_daemon_link.ep && (pvmi_daemon_link.refused || !pvmi_link_is_idle(&pvmi_daemon_link));
    return pvmi_virtual_sleep(until_us < alarm_us ? until_us : alarm_us, &daemon, owing, pvmi_carrier_fd());
}

int pvmi_link_fd(void)
{
    return pvmi_carrier_fd();
}

int pvmi_link_arm(void)
{
    return pvmi_carrier_arm();
}

unsigned pvmi_link_sleep_on(struct pollfd fds[PVMI_CARRIER_FDS])
{
    return pvmi_carrier_sleep_on(fds);
}
