/* clients.c - the daemon's end of the sockets between tasks and their daemon. */
#include "clients.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include "core/buf.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/frame_wire.h"
#include "core/message/proto.h"
#include "core/reserve.h"
#include "pvmd/base/events.h"
#include "pvmd/base/self.h"
#include "overrun.h"
#include "pvmd/net/refusals.h"
#include "pvmd/frames/relay.h"
#include "service.h"
#include "request.h"
#include "pvmd/base/stats.h"

#define PATIENCE_S        5.0  /* for TM_CONNECT, and for closing after TM_EXIT */
#define CONNECT_BYTES_MAX 4096 /* body of a TM_CONNECT */

/* How long a task with PVM 3.4's own library waits for its refusal. */
#define OTHER_FIRST_S  0.01
#define OTHER_MAX_S    5.0
#define OTHER_FORGET_S 60.0 /* after so long without such a task, the delays start anew */
#define OTHERS_MAX     256  /* that wait at a time; more are refused at once */

static struct pvmt_transport *transport;
struct pvmd_client *pvmd_clients;
static ev_io readable;
static ev_timer more;   /* runs while frames that were read wait to be processed */
static unsigned others; /* clients in state OTHER */

/* ---- the end of a client ---- */

static void client_free(struct pvmd_client *c)
{
    ev_timer_stop(pvmd.loop, &c->limit);
    others -= c->state == PVMD_CLIENT_OTHER;
    pvmc_frame_unref(c->rx);
    pvmc_frame_unref(c->farewell);
    pvmd_reassembly_clear(&c->request);
    DL_DELETE(pvmd_clients, c);
    pvmd_tell_client_gone(c->pid);
    free(c);
}

static void client_close(struct pvmd_client *c)
{
    struct pvmd_task *task = c->task;
    transport->ops->disconnect(c->ep);
    client_free(c);
    if (task)
        pvmd_task_leave(task);
}

void pvmd_client_refuse(struct pvmd_client *c, const char *why)
{
    pvmd_stats.refused++;
    if (c->task)
        pvmd_refused("closing the connection of t%x (pid %d): %s", c->task->tid, (int)c->pid, why);
    else
        pvmd_refused("closing the connection of process %d: %s", (int)c->pid, why);
    client_close(c);
}

static void out_of_patience(EV_P_ ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    struct pvmd_client *c = timer->data;
    if (c->state == PVMD_CLIENT_NEW)
        pvmd_client_refuse(c, "it sent no TM_CONNECT within 5 s");
    else if (c->state == PVMD_CLIENT_TASK)
        pvmd_client_refuse(c, "out of memory: a message for it was lost");
    else
        client_close(c);
}

static void be_patient(struct pvmd_client *c, double limit_s)
{
    ev_timer_stop(pvmd.loop, &c->limit);
    ev_timer_init(&c->limit, out_of_patience, limit_s, 0.);
    c->limit.data = c;
    ev_now_update(pvmd.loop);
    ev_timer_start(pvmd.loop, &c->limit);
}

void pvmd_client_cut(struct pvmd_client *c)
{
    if (c->state == PVMD_CLIENT_TASK)
        be_patient(c, 0.);
}

/* ---- pausing ---- */

/* What was read before a pause is in no socket: processes it in the loop's next turn. */
static void look_for_more(void)
{
    if (!transport->ops->arm(transport) || ev_is_active(&more))
        return;
    ev_timer_set(&more, 0., 0.);
    ev_timer_start(pvmd.loop, &more);
}

void pvmd_client_pause(const struct pvmd_task *task, enum pvmd_pause why, bool on)
{
    struct pvmd_client *c = task->ep ? task->ep->owner : NULL;
    unsigned pauses = !c ? 0 : on ? c->pauses | why : c->pauses & ~(unsigned)why;
    if (!c || pauses == c->pauses)
        return;
    c->pauses = pauses;
    transport->ops->pause(c->ep, pauses);
    look_for_more();
}

/* ---- callbacks of the transport ---- */

static int accepted(void *arg, struct pvmt_endpoint *ep, const struct pvmt_credentials *who)
{
    (void)arg;
    if (who->uid != getuid()) {
        pvmd_refused("connection of user %u (pid %d) refused: this daemon serves user %u", (unsigned)who->uid,
                     (int)who->pid, (unsigned)getuid());
        pvmd_stats.refused++;
        return PVMC_EDENIED;
    }
    struct pvmd_client *c = pvmc_reserve_is_low() ? NULL : calloc(1, sizeof *c);
    if (!c) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for one more connection");
        return PVMC_ENOMEM;
    }
    c->ep = ep;
    c->pid = who->pid;
    c->state = PVMD_CLIENT_NEW;
    ep->owner = c;
    DL_APPEND(pvmd_clients, c);
    be_patient(c, PATIENCE_S);
    return 0;
}

static bool is_for_us(pvmc_tid dst)
{
    return dst == PVMC_TID_DAEMON || dst == (PVMC_TID_DAEMON | pvmd_host_tid());
}

/* Why a frame is not acceptable, or NULL. */
static const char *objection(const struct pvmd_client *c, const struct pvmc_frame_header *h)
{
    bool request = is_for_us(h->dst) && h->ctx == PVMC_CTX_TM;
    if (c->state == PVMD_CLIENT_NEW) {
        bool connect = request && h->tag == (int32_t)PVMC_TM_CONNECT && h->body_length <= CONNECT_BYTES_MAX;
        return connect ? NULL : "its first message is not TM_CONNECT";
    }
    if (h->src != c->task->tid)
        return "it sent a frame in another task's name";
    if (request && h->body_length > PVMC_BUF_MAX)
        return "its request is too long";
    return NULL;
}

static uint8_t *rx_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    static uint8_t nowhere; /* for frames without payload */
    struct pvmd_client *c = ep->owner;
    if (c->state == PVMD_CLIENT_LEFT)
        return NULL;
    const char *why = objection(c, h);
    if (!why && !(c->rx = pvmc_frame_alloc(h)))
        why = "no memory for its frame";
    if (why) {
        pvmd_client_refuse(c, why);
        return NULL;
    }
    return h->length ? c->rx->pieces[0].iov_base : &nowhere;
}

/* ---- PVM 3.4's own library ---- */

/*
 * Its first message begins with the tid of "the daemon here" and that of a task without a tid. When we close the
 * connection, it gives up with an error, and some programs retry at once; so each refusal is delayed longer.
 */
static bool is_other_library(const struct pvmd_client *c, const uint8_t *bytes)
{
    static const uint8_t first[] = {0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    return c->state == PVMD_CLIENT_NEW && !memcmp(bytes, first, sizeof first);
}

static double next_pause_s(void)
{
    static double pause_s, before;
    double now = ev_now(pvmd.loop);
    pause_s = now - before > OTHER_FORGET_S || !pause_s ? OTHER_FIRST_S : pause_s * 2;
    if (pause_s > OTHER_MAX_S)
        pause_s = OTHER_MAX_S;
    before = now;
    return pause_s;
}

static void hold_other_library(struct pvmd_client *c)
{
    pvmc_log_once(PVMC_LOG_WARNING,
                  "process %d is a task with PVM 3.4's own libpvm3, which this daemon does not understand; it and all "
                  "later ones are refused: see \"The other library\" in doc/migrating.md",
                  (int)c->pid);
    pvmd_stats.refused++;
    if (others == OTHERS_MAX) {
        client_close(c);
        return;
    }
    others++;
    c->state = PVMD_CLIENT_OTHER;
    c->pauses |= PVMD_PAUSE_OTHER;
    transport->ops->pause(c->ep, true);
    be_patient(c, next_pause_s());
}

static void rx_foreign(void *arg, struct pvmt_endpoint *ep, const uint8_t *bytes, int reason)
{
    (void)arg;
    struct pvmd_client *c = ep->owner;
    if (is_other_library(c, bytes))
        hold_other_library(c);
    else
        pvmd_client_refuse(c, pvmc_error_text(reason));
}

/* ---- frames ---- */

/* Only TM and SM messages are for a daemon. PVM drops all others, too. */
static void frame_for_us(struct pvmd_client *c, struct pvmc_frame *f)
{
    if (f->h.ctx == PVMC_CTX_TM)
        pvmd_request_frame(c, f);
    else if (pvmd_service_is(&f->h))
        pvmd_service_frame(f);
    else
        pvmd_stats.dropped++;
}

static void frame_for_others(struct pvmd_client *c, struct pvmc_frame *f)
{
    struct pvmd_task *task = c->task;
    bool service = pvmd_service_is(&f->h) && task->flags & PVMD_TASK_RM;
    if ((pvmc_tid_is_daemon(f->h.dst) && !service) || f->h.ctx == PVMC_CTX_DM) {
        pvmd_stats.dropped++; /* other daemons listen only to daemons and the resource manager */
        return;
    }
    if (task->overruns && !pvmd_overrun_takes(task, &f->h)) {
        pvmd_stats.dropped++;
        return;
    }
    bool is_part = !pvmd_frame_is_whole(&f->h) && !pvmc_tid_is_multicast(f->h.dst);
    if (is_part && pvmd_unfinished_note(&task->unfinished, &f->h) == PVMC_ELIMIT)
        pvmd_client_refuse(c, "it has begun too many messages without finishing them");
    else
        pvmd_relay(f, 0);
}

static void rx_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    (void)h;
    struct pvmd_client *c = ep->owner;
    struct pvmc_frame *f = c->rx;
    c->rx = NULL;
    if (is_for_us(f->h.dst)) {
        transport->ops->yield(ep); /* other tasks are served before this one's next request */
        frame_for_us(c, f);
    } else
        frame_for_others(c, f);
    pvmc_frame_unref(f);
}

/*
 * Most frames are small messages between two tasks of this host, and never become a frame of our own. For all others
 * frame_for_others() decides.
 */
static size_t rx_wire(void *arg, struct pvmt_endpoint *ep, const uint8_t *wire, size_t count)
{
    (void)arg;
    struct pvmc_frame_glance f;
    const struct pvmd_task *task = ((const struct pvmd_client *)ep->owner)->task;
    if (!task || task->overruns || !pvmc_frame_glance(wire, &f) || f.length > count - PVMC_FRAME_HEADER_BYTES)
        return 0;
    bool is_plain = f.src == task->tid && f.ctx != PVMC_CTX_DM;
    return is_plain && pvmd_task_forward(f.dst, wire, f.length) ? PVMC_FRAME_HEADER_BYTES + f.length : 0;
}

static void rx_descriptor(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, int fd)
{
    (void)arg;
    (void)h;
    struct pvmd_client *c = ep->owner;
    c->rx->fd = fd; /* relay.c decides where it may go */
}

static void tx_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg;
    struct pvmd_client *c = ep->owner;
    if (c->task)
        pvmd_task_drain(c->task);
    else if (c->farewell && transport->ops->send(ep, c->farewell) != PVMC_EAGAIN) {
        pvmc_frame_unref(c->farewell);
        c->farewell = NULL;
    }
}

static void down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    (void)arg;
    (void)reason;
    client_close(ep->owner);
}

static const struct pvmt_callbacks callbacks = {
    .accepted = accepted,
    .rx_place = rx_place,
    .rx_done = rx_done,
    .rx_wire = rx_wire,
    .rx_descriptor = rx_descriptor,
    .rx_foreign = rx_foreign,
    .tx_ready = tx_ready,
    .down = down,
};

/* ---- enrolling and leaving ---- */

void pvmd_client_enrolled(struct pvmd_client *c, struct pvmd_task *task, struct pvmc_frame *answer)
{
    ev_timer_stop(pvmd.loop, &c->limit);
    c->state = PVMD_CLIENT_TASK;
    c->task = task;
    transport->ops->send(c->ep, answer); /* always fits: nothing was sent before */
    task->ep = c->ep;
    pvmd_task_drain(task);
    if (task->flags & PVMD_TASK_CUT)
        pvmd_client_cut(c);
}

void pvmd_client_left(struct pvmd_client *c, struct pvmc_frame *answer)
{
    c->state = PVMD_CLIENT_LEFT;
    c->task = NULL;
    if (transport->ops->send(c->ep, answer) == PVMC_EAGAIN)
        c->farewell = pvmc_frame_ref(answer);
    be_patient(c, PATIENCE_S);
}

/* ---- in the loop ---- */

/* Counts frames that wait for room as traffic in transit. */
struct pvmc_bypass pvmd_client_traffic(const struct pvmd_client *c)
{
    struct pvmc_bypass traffic;
    transport->ops->traffic(c->ep, &traffic);
    traffic.given += (c->task && c->task->queue.first) || c->farewell;
    return traffic;
}

static int progress(void)
{
    int n = transport->ops->progress(transport);
    look_for_more();
    return n;
}

void pvmd_clients_progress(void)
{
    for (int i = 0; i < 3 && progress() > 0; i++)
        ;
}

static void on_readable(EV_P_ ev_io *io, int events)
{
    (void)loop;
    (void)io;
    (void)events;
    progress();
}

static void on_more(EV_P_ ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    progress();
}

int pvmd_clients_start(const char *path)
{
    int rc = pvmt_transport_find("unix")->open(path, &callbacks, NULL, &transport);
    if (rc)
        return rc;
    ev_io_init(&readable, on_readable, transport->ops->fd(transport), EV_READ);
    ev_io_start(pvmd.loop, &readable);
    ev_timer_init(&more, on_more, 0., 0.);
    return 0;
}

void pvmd_clients_stop(void)
{
    if (!transport)
        return;
    ev_io_stop(pvmd.loop, &readable);
    ev_timer_stop(pvmd.loop, &more);
    transport->ops->close(transport);
    transport = NULL;
    struct pvmd_client *c, *next;
    DL_FOREACH_SAFE (pvmd_clients, c, next) {
        if (c->task)
            c->task->ep = NULL;
        client_free(c);
    }
}
