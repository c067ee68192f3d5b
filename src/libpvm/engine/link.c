/* link.c - see link.h: the callbacks of all transports, and what they have in common. */
#include "link.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>
#include "../core/clock.h"
#include "../core/error.h"
#include "../core/log.h"
#include "../core/proto.h"
#include "arrivals.h"
#include "control.h"
#include "farewell.h"
#include "options.h"
#include "outbox.h"
#include "pvmproto.h"
#include "request.h"
#include "route.h"
#include "task.h"
#include "wait.h"

/* A sender looks for TC_HOLD after so many bytes: the bound of what it can send past the daemon's high mark. */
#define LISTEN_BYTES (64u << 10)

/* On direct links only others' offers and the like are missed, so it listens less often: here a frame counts more. */
#define LISTEN_DIRECT_BYTES (1u << 20)
#define FRAME_COST          1024
#define WATCHED_LOOKS       20   /* a tenth of a second apart */
#define OUTPUT_NAPS         200  /* of 1 ms in which the daemon should have read what a task printed */
#define ASIDE_MS            1000 /* longest look at the daemon's socket in virtual time, before we look again */

struct pvmi_link pvmi_daemon_link;
struct pvmi_link *pvmi_links;
unsigned pvmi_link_count, pvmi_link_epoch;

static int descriptor = -1; /* came with the frame under way */

/* ---- the end of links ---- */

static void drop_descriptor(void)
{
    if (descriptor >= 0)
        close(descriptor);
    descriptor = -1;
}

/* Without the daemon there is no machine: direct links end, too, and others see it. */
static void lose_daemon(void)
{
    struct pvmi_link *l = &pvmi_daemon_link;
    pvmi_peer_cancel(&l->arrival);
    drop_descriptor();
    l->carrier->ops->disconnect(l->ep);
    l->ep = NULL;
    pvmi_route_clear();
    pvmi_task_lost();
    pvmi_wait_news = true;
}

/* We cannot go on with what is at the other end. */
static void lose(struct pvmi_link *l, int reason)
{
    if (l == &pvmi_daemon_link)
        lose_daemon();
    else
        pvmi_route_lost(l, reason);
}

/*
 * A frame could not be taken. The daemon brings what all tasks send, and answers for none of them: only its own frames
 * can cost it the connection.
 */
static void take_failure(struct pvmi_link *l, const struct pvmi_frame_header *h, int reason)
{
    bool is_of_another = !l->peer && reason == PVMI_EFORMAT && !pvmi_tid_is_daemon(h->src);
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

static bool is_acknowledgement(const struct pvmi_frame_header *h)
{
    return h->ctx == PVMI_CTX_TC && h->tag == (int32_t)PVMI_TC_ACK;
}

/* Whether a frame may come by a link: a direct one carries only what its peer sends to us. */
static bool is_allowed(const struct pvmi_link *l, const struct pvmi_frame_header *h)
{
    if (!l->peer)
        return true;
    return h->src == l->peer->tid && h->dst == pvmi_task.tid && !h->flags &&
           (pvmi_peer_counts(h->src, h->ctx) || is_acknowledgement(h));
}

static int refuse(struct pvmi_link *l, const struct pvmi_frame_header *h)
{
    pvmi_log(PVMI_LOG_ERROR, "closing the link to t%x: it brought a frame from t%x to t%x (tag %d)", l->peer->tid,
             h->src, h->dst, h->tag);
    return PVMI_EFORMAT;
}

static bool is_whole(const struct pvmi_frame_header *h)
{
    return h->length == h->body_length && !(h->flags & PVMI_FRAME_ABORT);
}

/* A TC_ACK of a direct link. */
static bool take_acknowledgement(struct pvmi_link *l, const struct pvmi_frame_header *h)
{
    if (!l->peer || !is_acknowledgement(h))
        return false;
    pvmi_replay_acknowledge(&l->kept, h->seq);
    if (h->wid)
        pvmi_link_acknowledge(l, false);
    return true;
}

static void count_received(struct pvmi_link *l, struct pvmi_peer *p, const struct pvmi_frame_header *h)
{
    struct pvmi_traffic *t = l->peer ? &p->direct : &p->daemon;
    t->rx_frames++;
    t->rx_bytes += h->length;
}

/* Tells the sender of frames that may have to be sent again what has come. */
static void acknowledge_sometimes(struct pvmi_link *l, const struct pvmi_frame_header *h)
{
    if (l->lossless || !l->peer)
        return;
    l->unacked_frames++;
    l->unacked_bytes += h->length;
    if (l->unacked_frames >= PVMI_REPLAY_ACK_FRAMES || l->unacked_bytes >= PVMI_REPLAY_ACK_BYTES ||
        (pvmi_frame_is_last(h) && h->body_length > PVMI_REPLAY_COPY_BYTES))
        pvmi_link_acknowledge(l, false);
}

/* A control message, which has no number: it does not wait for others, nor they for it. */
static uint8_t *place_control(struct pvmi_link *l, const struct pvmi_frame_header *h)
{
    static uint8_t nowhere;
    struct pvmi_message *m = l->arrival.whole = pvmi_message_from_header(h);
    if (!m)
        lose(l, PVMI_ENOMEM); /* it may be what a call waits for */
    return !m ? NULL : h->length ? m->mem->data : &nowhere;
}

/* Whose frame it is. Uncounted messages of tasks are put together beside their others. */
static struct pvmi_peer *sender_of(const struct pvmi_link *l, const struct pvmi_frame_header *h)
{
    if (l->peer)
        return l->peer;
    bool beside = !pvmi_tid_is_daemon(h->src) && !pvmi_peer_counts(h->src, h->ctx);
    return pvmi_peer_get(beside ? h->src | PVMI_TID_MULTICAST : h->src);
}

static uint8_t *rx_place(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    l->arrival = (struct pvmi_arrival){0};
    int status = is_allowed(l, h) ? 0 : refuse(l, h);
    if (!status && l->state != PVMI_LINK_UP)
        pvmi_route_heard(l);
    if (!status && take_acknowledgement(l, h))
        return NULL;
    if (!status && is_whole(h) && !pvmi_peer_counts(h->src, h->ctx))
        return place_control(l, h);
    struct pvmi_peer *p = status ? NULL : sender_of(l, h);
    if (!status && !p)
        status = PVMI_ENOMEM;
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

static void rx_descriptor(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h, int fd)
{
    (void)arg;
    (void)ep;
    (void)h;
    drop_descriptor();
    descriptor = fd;
}

static void rx_done(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    struct pvmi_message *control = l->arrival.whole;
    if (control) {
        l->arrival.whole = NULL;
        pvmi_link_deliver(control);
        drop_descriptor();
        return;
    }
    pvmi_peer_placed(&l->arrival, h);
    acknowledge_sometimes(l, h);
}

/* Direct links only: the daemon's transport knows no whole frames. */
static int rx_whole(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h, struct pvmi_mem *mem,
                    const uint8_t *data)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    int rc = is_allowed(l, h) ? 0 : refuse(l, h);
    if (!rc && l->state != PVMI_LINK_UP)
        pvmi_route_heard(l);
    if (!rc && take_acknowledgement(l, h))
        return PVMI_EEXISTS;
    if (!rc) {
        count_received(l, l->peer, h);
        rc = pvmi_peer_whole(l->peer, h, mem, data);
    }
    if (rc && rc != PVMI_EEXISTS)
        lose(l, rc);
    else
        acknowledge_sometimes(l, h);
    return rc;
}

static void tx_ready(void *arg, struct pvmi_endpoint *ep)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    l->refused = false;
    if (l->state == PVMI_LINK_OFFERED)
        pvmi_route_heard(l);
    else if (l->ack_due)
        pvmi_link_acknowledge(l, l->ack_wanted);
}

static void down(void *arg, struct pvmi_endpoint *ep, int reason)
{
    (void)arg;
    struct pvmi_link *l = ep->owner;
    if (l == &pvmi_daemon_link)
        pvmi_log(PVMI_LOG_INFO, "lost the daemon: %s", reason ? pvmi_error_text(reason) : "it closed the connection");
    lose(l, reason);
}

/* We never listen. */
static int accepted(void *arg, struct pvmi_endpoint *ep, const struct pvmi_credentials *who)
{
    (void)arg;
    (void)ep;
    (void)who;
    return PVMI_EDENIED;
}

static uint16_t node(void *arg)
{
    (void)arg;
    return (uint16_t)pvmi_tid_host_index(pvmi_task.tid);
}

static const struct pvmi_callbacks callbacks = {.accepted = accepted,
                                                .rx_place = rx_place,
                                                .rx_done = rx_done,
                                                .rx_whole = rx_whole,
                                                .rx_descriptor = rx_descriptor,
                                                .tx_ready = tx_ready,
                                                .node = node,
                                                .down = down};

void pvmi_link_deliver(struct pvmi_message *m)
{
    pvmi_wait_news = true;
    if (m->ctx == PVMI_CTX_TM && pvmi_tid_is_daemon(m->src))
        pvmi_request_take_answer(m);
    else if (m->ctx == PVMI_CTX_TC && pvmi_control_take(m))
        pvmi_message_unref(m);
    else if (pvmi_tid_is_daemon(m->src) && pvmi_farewell_take(m))
        ; /* it comes when the last frames of the task that it is about are here */
    else if (m->tag <= SM_LAST && pvmi_request_take_reply(m))
        ;
    else
        pvmi_arrivals_put(m);
}

/* ---- opening and closing ---- */

static void take_attributes(struct pvmi_link *l, struct pvmi_carrier *carrier)
{
    l->carrier = carrier;
    l->frame_max = carrier->attributes.frame_max;
    l->lossless = carrier->attributes.lossless;
    l->by_reference = carrier->attributes.by_reference;
    l->deadline_us = INT64_MAX;
    if (!l->lossless && l->frame_max > PVMI_FRAME_PAYLOAD_MAX)
        l->frame_max = PVMI_FRAME_PAYLOAD_MAX; /* it may have to go by the daemon after all */
}

static struct pvmi_aside daemon_traffic(void)
{
    struct pvmi_aside traffic;
    pvmi_daemon_link.carrier->ops->traffic(pvmi_daemon_link.ep, &traffic);
    return traffic;
}

/* The daemon looks for the network every now and then. */
static bool daemon_is_watched(void)
{
    for (int i = 0; i < WATCHED_LOOKS; i++) {
        if (pvmi_world->is_watched(daemon_traffic().pid))
            return true;
        poll(NULL, 0, 100); /* a sleep might pass in virtual time */
    }
    return false;
}

/*
 * A transport whose network has a clock must know us before we have done anything, and know of our daemon. Who has said
 * by then that it wants no direct links, such as a console, lives in real time.
 */
static int enter_world(void)
{
    const struct pvmi_transport_ops *ops = pvmi_options.route == PvmDontRoute ? NULL : pvmi_route_clock();
    struct pvmi_carrier *carrier;
    int rc = ops ? pvmi_carrier_open(ops, &callbacks, &carrier) : 0;
    if (rc || !pvmi_world || daemon_is_watched())
        return rc;
    pvmi_log(
        PVMI_LOG_ERROR,
        "the %s network has virtual time, and the daemon (process %d) is not on it: halt it, and start it with the "
        "same PVM_TRANSPORT and PVM_ATM_SOCKET while the network runs",
        ops->name, (int)daemon_traffic().pid);
    return PVMI_EPARAM;
}

int pvmi_link_open(const char *path)
{
    struct pvmi_link *l = &pvmi_daemon_link;
    struct pvmi_carrier *carrier;
    memset(l, 0, sizeof *l);
    int rc = pvmi_carrier_open(pvmi_transport_find("unix"), &callbacks, &carrier);
    if (rc)
        return rc;
    take_attributes(l, carrier);
    l->state = PVMI_LINK_UP;
    rc = carrier->ops->connect(carrier->transport, (const uint8_t *)path, strlen(path), l, &l->ep);
    if (!rc)
        rc = enter_world();
    if (rc)
        pvmi_link_close();
    return rc;
}

/* Whole transports are closed, and not link by link: so a forked child leaves its parent's connections alone. */
void pvmi_link_close(void)
{
    struct pvmi_link *l;
    pvmi_link_epoch++;
    pvmi_wait_news = true;
    pvmi_carrier_close_all();
    DL_FOREACH (pvmi_links, l)
        l->ep = NULL;
    pvmi_daemon_link.ep = NULL;
    drop_descriptor();
    pvmi_peer_cancel(&pvmi_daemon_link.arrival);
    pvmi_route_clear();
    pvmi_outbox_clear();
    memset(&pvmi_daemon_link, 0, sizeof pvmi_daemon_link);
}

struct pvmi_link *pvmi_link_new(const struct pvmi_transport_ops *ops, struct pvmi_peer *p, enum pvmi_link_state state)
{
    struct pvmi_carrier *carrier;
    int rc = pvmi_carrier_open(ops, &callbacks, &carrier);
    struct pvmi_link *l = rc ? NULL : calloc(1, sizeof *l);
    if (!l) {
        pvmi_log(PVMI_LOG_INFO, "cannot open transport %s: %s", ops->name, pvmi_error_text(rc ? rc : PVMI_ENOMEM));
        return NULL;
    }
    take_attributes(l, carrier);
    l->peer = p;
    l->state = state;
    DL_APPEND(pvmi_links, l);
    pvmi_wait_news = true; /* there is another one to arm */
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
    if (l->kept.count) {
        pvmi_replay_move(&l->kept, &p->again);
        pvmi_outbox_resend();
    }
    pvmi_replay_clear(&l->kept);
    DL_DELETE(pvmi_links, l);
    pvmi_link_count--;
    free(l);
    if (--p->links)
        return;
    pvmi_peer_unlinked(p);
    pvmi_farewell_deliver(p->tid);
}

/* ---- sending ---- */

void pvmi_link_acknowledge(struct pvmi_link *l, bool want_one_back)
{
    struct pvmi_frame_header h = {.src = pvmi_task.tid,
                                  .dst = l->peer->tid,
                                  .seq = l->peer->rx_seq,
                                  .ctx = PVMI_CTX_TC,
                                  .tag = (int32_t)PVMI_TC_ACK,
                                  .wid = want_one_back};
    struct pvmi_frame *f = l->ep ? pvmi_frame_new(&h, NULL) : NULL;
    int rc = f ? l->carrier->ops->send(l->ep, f) : PVMI_ENOMEM;
    pvmi_frame_unref(f);
    l->unacked_frames = l->unacked_bytes = 0;
    l->ack_due = rc == PVMI_EAGAIN;
    l->ack_wanted = l->ack_due && want_one_back;
    l->refused = l->refused || l->ack_due;
}

static void note_sent(struct pvmi_link *l, struct pvmi_frame *f)
{
    l->unheard += (l->peer ? FRAME_COST : PVMI_FRAME_HEADER_BYTES) + f->h.length;
    if (!l->lossless && l->peer)
        pvmi_replay_keep(&l->kept, f);
}

/* Virtual time: a frame is about to be given to the daemon. 0 or PVMI_EDOWN. */
static int announce(const struct pvmi_frame *f)
{
    struct pvmi_aside traffic = daemon_traffic();
    traffic.given += PVMI_FRAME_HEADER_BYTES + (uint64_t)f->h.length;
    return pvmi_world->give(&traffic);
}

int pvmi_link_send(struct pvmi_link *l, struct pvmi_frame *f)
{
    if (!l->ep)
        return PVMI_EDOWN;
    if (pvmi_world && !l->peer && announce(f))
        return PVMI_EDOWN;
    if (!l->lossless && pvmi_replay_is_full(&l->kept))
        return PVMI_EAGAIN;
    struct pvmi_frame *sent = !l->lossless && l->peer ? pvmi_replay_copy(f) : pvmi_frame_ref(f);
    int rc = sent ? l->carrier->ops->send(l->ep, sent) : PVMI_ENOMEM;
    if (rc == PVMI_EAGAIN)
        l->refused = true;
    if (!rc)
        note_sent(l, sent);
    pvmi_frame_unref(sent);
    return rc;
}

bool pvmi_link_can_share(const struct pvmi_link *l, const struct pvmi_link *with)
{
    return l->ep && l->peer && l->carrier->ops->send_to_many && (!with || l->carrier == with->carrier);
}

int pvmi_link_send_to_many(struct pvmi_link **links, struct pvmi_frame **frames, unsigned count)
{
    struct pvmi_endpoint *eps[PVMI_LINK_SHARE_MAX];
    for (unsigned i = 0; i < count; i++) {
        if (!links[i]->ep)
            return PVMI_EDOWN;
        if (!links[i]->lossless && pvmi_replay_is_full(&links[i]->kept))
            return PVMI_EAGAIN;
        eps[i] = links[i]->ep;
    }
    int rc = links[0]->carrier->ops->send_to_many(eps, frames, count);
    for (unsigned i = 0; i < count; i++)
        if (!rc)
            note_sent(links[i], frames[i]);
        else if (rc == PVMI_EAGAIN)
            links[i]->refused = true;
    return rc;
}

int pvmi_link_send_whole(struct pvmi_link *l, const struct pvmi_frame_header *h, const uint8_t *data)
{
    if (!l->ep || !l->lossless || !l->carrier->ops->send_whole)
        return PVMI_EUNSUPPORTED;
    int rc = l->carrier->ops->send_whole(l->ep, h, data);
    if (rc == PVMI_EAGAIN)
        l->refused = true;
    if (!rc)
        l->unheard += FRAME_COST + h->length;
    return rc;
}

bool pvmi_link_is_idle(const struct pvmi_link *l)
{
    const struct pvmi_transport_ops *ops = l->carrier->ops;
    return !l->ep || !(ops->unsent ? ops->unsent : ops->pending)(l->ep);
}

bool pvmi_link_must_listen(const struct pvmi_link *l)
{
    return l->unheard >= (l->peer ? LISTEN_DIRECT_BYTES : LISTEN_BYTES);
}

/* ---- all links ---- */

int pvmi_link_progress(void)
{
    if (!pvmi_daemon_link.ep)
        return PVMI_EDOWN;
    pvmi_daemon_link.unheard = 0;
    int n = pvmi_carrier_progress_direct() + pvmi_carrier_progress_daemon();
    if (pvmi_farewell_waits()) {
        pvmi_carrier_arm(); /* a link's end is seen at once, and not when polling has gone on for a while */
        n += pvmi_carrier_progress_direct();
    }
    if (pvmi_carrier_alarmed())
        n += pvmi_route_alarm();
    if (pvmi_daemon_link.ep)
        n += pvmi_outbox_flush();
    pvmi_wait_note(n);
    return n > 0 || pvmi_daemon_link.ep ? n : PVMI_EDOWN;
}

int pvmi_link_progress_direct(void)
{
    int n = pvmi_carrier_progress_direct();
    pvmi_wait_note(n);
    return n;
}

/* What goes past the network takes no time there, so it is waited for in real time, and nobody else goes on. */
static void await_daemon(void)
{
    struct pollfd fd = {.fd = pvmi_carrier_fd(), .events = POLLIN};
    poll(&fd, 1, ASIDE_MS);
}

/* What a spawned task has printed goes past the network, too. */
static void await_output(void)
{
    struct stat status;
    int bytes = 0;
    if (!pvmi_task.spawned || fstat(STDOUT_FILENO, &status) || !S_ISFIFO(status.st_mode))
        return;
    for (int i = 0; i < OUTPUT_NAPS && !ioctl(STDOUT_FILENO, FIONREAD, &bytes) && bytes; i++)
        poll(NULL, 0, 1); /* a sleep might pass in virtual time, see libatmclock */
}

int pvmi_link_sleep(int64_t until_us)
{
    int64_t alarm_us = pvmi_carrier_alarm_us();
    await_output();
    if (pvmi_daemon_link.ep && (pvmi_daemon_link.refused || !pvmi_link_is_idle(&pvmi_daemon_link))) {
        await_daemon();
        return 0;
    }
    struct pvmi_aside traffic = {.pid = 0};
    if (pvmi_daemon_link.ep)
        traffic = daemon_traffic();
    int rc = pvmi_world->sleep(until_us < alarm_us ? until_us : alarm_us, &traffic);
    if (rc > 0)
        await_daemon();
    return rc < 0 ? rc : 0;
}

int pvmi_link_fd(void)
{
    return pvmi_carrier_fd();
}

int pvmi_link_arm(void)
{
    return pvmi_carrier_arm();
}
