/* route.c - see route.h. */
#include "route.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utlist.h>
#include "core/buf.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "transports/choice.h"
#include "transports/fault/fault.h"
#include "exit_notice.h"
#include "libpvm/engine/handler.h"
#include "libpvm/engine/outbox.h"
#include "libpvm/base/gate.h"
#include "libpvm/base/task.h"
#include "libpvm/base/virtual.h"
#include "libpvm/engine/wait.h"

#define OFFERS_MAX      8        /* limit of open offers, because each holds descriptors */
#define OFFER_BUSY_US   1000000  /* an older offer may be withdrawn in favour of another peer */
#define OFFER_LIMIT_US  30000000 /* an older offer is repeated */
#define PAUSE_LOST_US   20000    /* before a lost link is offered again; doubles each time */
#define PAUSE_FAILED_US 1000000  /* before a failed link is offered again */
#define PAUSE_MAX_US    60000000
#define STABLE_US       5000000 /* a link that lived longer does not count as a failure */
#define SCARCE_PAUSE_US 1000000 /* before descriptors are checked again */
#define SPARE_FDS       8       /* descriptors reserved for the program */
#define AWAIT_US        1000000 /* time limit for the peer to answer before the daemons carry its message */
#define LEAVE_LIMIT_US  100000  /* time limit for acknowledgements before the daemon carries the frames again */
#define NAME_BYTES      32
#define WATCH_MAX       4096 /* tids in one question to the daemon */

/*
 * A link costs its two tasks as much processor time as some twenty frames by the daemon, one by shared memory half of
 * that. So it pays at once for a task that talks to few others. One of many peers gets a link when its frames have cost
 * about as much as a link does: whatever follows, the task has then spent at most twice what it needed to.
 */
#define SHARE       8          /* one of so many frames goes to a peer: one of few */
#define MANY_FACTOR 4          /* frames to one of many peers before it gets a link, in PVM_LINK_FRAMES ... */
#define NEAR_FACTOR 2          /* ... and by shared memory */
#define FRAME_BYTES (8u << 10) /* so many bytes cost as much as a frame */

const struct pvmi_route_listener *pvmi_route_listener;

static struct pvmt_choice choice;
static struct {
    unsigned offers_open;
    uint32_t last_number;
    int64_t scarce_until_us;
    unsigned links_max, link_frames;
    bool has_shm;    /* shared memory is among the choice */
    uint64_t frames; /* sent by the daemon */
} routes;

/* ---- the choice ---- */

/* Logs an error once, even if the program runs into it repeatedly: the first time that it wants to hear of errors. */
static void say_once(enum pvmc_log_level level, const char *why)
{
    static char said[1024];
    if (!strcmp(said, why))
        return;
    if (!pvmi_options.auto_err) {
        pvmc_log(level, "%s", why);
        return;
    }
    snprintf(said, sizeof said, "%s", why);
    pvmc_log(level, "%s", why);
}

/* The chosen transport of that name, or NULL. */
static const struct pvmt_transport_ops *chosen(const char *name)
{
    for (unsigned i = 0; i < choice.count; i++)
        if (!strcmp(choice.ops[i]->name, name))
            return choice.ops[i];
    return NULL;
}

int pvmi_route_start(void)
{
    char why[1024];
    int rc = pvmt_choice_parse(pvmc_config_text(PVMC_SETTING_TRANSPORT), &choice, why, sizeof why);
    if (why[0])
        say_once(rc ? PVMC_LOG_ERROR : PVMC_LOG_WARNING, why);
    if (rc)
        return rc;
    memset(&routes, 0, sizeof routes);
    routes.links_max = (unsigned)pvmc_config_integer(PVMC_SETTING_LINKS_MAX);
    routes.link_frames = (unsigned)pvmc_config_integer(PVMC_SETTING_LINK_FRAMES);
    bool arenas = false;
    for (unsigned i = 0; i < choice.count; i++) {
        struct pvmt_attributes a;
        choice.ops[i] = pvmt_fault_wrap(choice.ops[i]);
        choice.ops[i]->query(NULL, &a);
        arenas = arenas || a.by_reference || a.registers;
    }
    routes.has_shm = chosen("shm");
    if (arenas)
        pvmc_mem_use_arenas(); /* shared memory copies without arenas */
    return 0;
}

/*
 * With PVM_TRANSPORT=daemon a task has no transport, but lives in the time of the network that PVM_ATM_SOCKET names:
 * that network carries the shadows of its messages.
 */
static const struct pvmt_transport_ops *clock_without_links(void)
{
    char why[256];
    if (!*pvmc_config_text(PVMC_SETTING_ATM_SOCKET))
        return NULL;
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name; row++) {
        bool may = row->ops && row->ops->clock_watch;
        const struct pvmc_clock_watch *watch = may ? row->ops->clock_watch(why, sizeof why) : NULL;
        if (watch && watch->is_there())
            return row->ops;
    }
    return NULL;
}

const struct pvmt_transport_ops *pvmi_route_clock(void)
{
    struct pvmt_attributes a;
    if (!choice.count)
        return clock_without_links();
    for (unsigned i = 0; i < choice.count; i++) {
        choice.ops[i]->query(NULL, &a);
        if (a.has_clock)
            return choice.ops[i];
    }
    return NULL;
}

bool pvmi_gate_is_allowed(void)
{
    return routes.has_shm && !pvmi_virtual() && !pvmi_lock_is_ours();
}

uint32_t pvmi_gate_sent(int tid)
{
    const struct pvmi_peer *p = pvmi_peer_find((pvmc_tid)tid);
    bool at_once = p && p->link && p->link->lossless;
    return p ? p->tx_seq - (at_once ? (uint32_t)p->direct.tx_frames : 0) : 0;
}

/* Whether a transport can reach p from here at all. */
static bool leads_to(const struct pvmt_transport_ops *ops, const struct pvmi_peer *p)
{
    struct pvmt_attributes a;
    ops->query(NULL, &a);
    return !a.local_only || pvmc_tid_host(p->tid) == pvmc_tid_host(pvmi_task.tid);
}

/* ---- limits ---- */

/* Whether the process is nearly out of descriptors. The last ones are reserved for the program. */
static bool descriptors_scarce(void)
{
    struct rlimit limit;
    int64_t now = pvmc_clock_us();
    if (now < routes.scarce_until_us)
        return true;
    int lowest = fcntl(pvmi_link_fd(), F_DUPFD_CLOEXEC, 0);
    if (lowest >= 0)
        close(lowest);
    if (lowest >= 0 && (getrlimit(RLIMIT_NOFILE, &limit) || (rlim_t)lowest + SPARE_FDS < limit.rlim_cur))
        return false;
    routes.scarce_until_us = now + SCARCE_PAUSE_US;
    pvmc_log_once(PVMC_LOG_INFO, "out of descriptors (ulimit -n): no more direct links, the daemons carry the rest");
    return true;
}

static bool room_for_link(void)
{
    return pvmi_link_count < routes.links_max && !descriptors_scarce();
}

/* ---- pauses ---- */

static void pause_offers(struct pvmi_peer *p, int64_t first_us)
{
    int64_t pause = first_us << (p->route.failures < 12 ? p->route.failures : 12);
    p->route.failures++;
    p->route.next = 0;
    p->route.not_before_us = pvmc_clock_us() + (pause < PAUSE_MAX_US ? pause : PAUSE_MAX_US);
}

static void drop_attempt(struct pvmi_peer *p)
{
    struct pvmi_link *l = p->route.attempt;
    if (!l)
        return;
    if (l->state == PVMI_LINK_OFFERED)
        routes.offers_open--;
    p->route.attempt = NULL;
    pvmi_link_free(l);
}

void pvmi_route_withdraw(struct pvmi_peer *p)
{
    if (p->route.attempt && p->route.attempt->state == PVMI_LINK_OFFERED)
        drop_attempt(p);
}

/* ---- offering ---- */

static void send_offer(struct pvmi_peer *p, const char *name, const uint8_t *blob, int length, int fd)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, p->route.number);
    pvmc_buf_put_u8(&body, 1);
    pvmc_buf_put_string(&body, name);
    pvmc_buf_put_blob(&body, blob, (size_t)length);
    pvmi_outbox_put(&(struct pvmc_envelope){.dst = p->tid, .ctx = PVMC_CTX_TC, .tag = (int32_t)PVMC_TC_OFFER}, &body,
                    fd);
}

/* Offers a link by one transport; false when that is impossible. */
static bool offer_by(struct pvmi_peer *p, const struct pvmt_transport_ops *ops)
{
    uint8_t blob[PVMT_OFFER_MAX];
    int fd = -1;
    struct pvmi_link *l = pvmi_link_new(ops, p, PVMI_LINK_OFFERED);
    if (!l)
        return false;
    int length = ops->offer(l->carrier->transport, l, blob, &fd, &l->ep);
    if (length < 0) {
        pvmc_log(PVMC_LOG_INFO, "cannot offer a link by %s to t%x: %s", ops->name, p->tid, pvmc_error_text(length));
        l->ep = NULL;
        pvmi_link_free(l);
        return false;
    }
    p->route.attempt = l;
    l->ours = true;
    l->attempt = p->route.number = ++routes.last_number;
    p->route.since_us = pvmc_clock_us();
    routes.offers_open++;
    send_offer(p, ops->name, blob, length, fd);
    return true;
}

/* Offers a link by the next chosen transport that can reach p; pauses after the last one. */
static void offer(struct pvmi_peer *p)
{
    if (!room_for_link()) {
        pause_offers(p, PAUSE_FAILED_US);
        return;
    }
    for (; p->route.next < choice.count; p->route.next++)
        if (leads_to(choice.ops[p->route.next], p) && offer_by(p, choice.ops[p->route.next]))
            return;
    pause_offers(p, PAUSE_FAILED_US);
}

static void try_next(struct pvmi_peer *p)
{
    p->route.next++;
    offer(p);
}

/* Makes room for one more open offer. False if all are young. */
static bool make_room(int64_t now_us)
{
    if (routes.offers_open < OFFERS_MAX)
        return true;
    struct pvmi_link *l, *oldest = NULL;
    DL_FOREACH (pvmi_links, l)
        if (l->state == PVMI_LINK_OFFERED && (!oldest || l->peer->route.since_us < oldest->peer->route.since_us))
            oldest = l;
    if (!oldest || now_us - oldest->peer->route.since_us < OFFER_BUSY_US)
        return false;
    struct pvmi_peer *busy = oldest->peer;
    drop_attempt(busy);
    pause_offers(busy, PAUSE_FAILED_US);
    return true;
}

/*
 * Whether a link to p is worth its cost. One that was lost has been, and in virtual time the cost does not count. With
 * PvmRouteDirect the second frame is enough, because one to each of many others tells nothing.
 */
static bool pays(const struct pvmi_peer *p)
{
    bool direct = pvmi_options.route == PvmRouteDirect;
    uint64_t frames = p->route.frames, enough = direct ? 1 : routes.link_frames;
    if (pvmi_virtual() || (direct && p->links_opened))
        return true;
    if (frames > enough && (p->links_opened || frames * SHARE >= routes.frames))
        return true;
    bool near = routes.has_shm && pvmc_tid_host(p->tid) == pvmc_tid_host(pvmi_task.tid);
    return frames > (near ? NEAR_FACTOR : MANY_FACTOR) * (uint64_t)routes.link_frames;
}

void pvmi_route_consider(struct pvmi_peer *p, unsigned frames, uint64_t bytes)
{
    struct pvmi_route *r = &p->route;
    r->frames += frames + bytes / FRAME_BYTES;
    routes.frames += frames + bytes / FRAME_BYTES;
    if (p->link || pvmi_options.route == PvmDontRoute || !choice.count || p->ended || p->broken || !pays(p))
        return;
    int64_t now = pvmc_clock_us();
    if (r->attempt && r->attempt->state == PVMI_LINK_OFFERED && now - r->since_us > OFFER_LIMIT_US) {
        drop_attempt(p);
        pause_offers(p, PAUSE_FAILED_US);
    }
    if (r->attempt || now < r->not_before_us || !make_room(now))
        return;
    offer(p);
}

static bool is_decided(void *arg)
{
    const struct pvmi_peer *p = arg;
    return p->link || !p->route.attempt || p->gone || p->ended || pvmi_options.route == PvmDontRoute;
}

int pvmi_route_await(struct pvmi_peer *p)
{
    int64_t limit_us = p->route.since_us + AWAIT_US;
    if (!pvmi_virtual() || is_decided(p) || pvmc_clock_us() >= limit_us)
        return 0;
    pvmi_handler_defer();
    int rc = pvmi_wait_until(is_decided, p, limit_us);
    pvmi_handler_allow();
    return rc == PVMC_ETIMEOUT ? 0 : rc;
}

/* ---- incoming offers ---- */

static void send_answer(struct pvmi_peer *p, uint32_t number, int code, const char *name, const uint8_t *reply,
                        int length)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, number);
    pvmc_buf_put_i32(&body, code);
    pvmc_buf_put_string(&body, name);
    pvmc_buf_put_blob(&body, reply, (size_t)length);
    pvmi_outbox_put(&(struct pvmc_envelope){.dst = p->tid, .ctx = PVMC_CTX_TC, .tag = (int32_t)PVMC_TC_ANSWER}, &body,
                    -1);
}

/*
 * Limits the time for a link to come up. If the kernel connects, the joining side measures it. If both ends must
 * respond (there is a reply), the offering side does, from the answer on, because the peer's first packet is then in
 * transit.
 */
static void limit_attempt(struct pvmi_link *l, enum pvmc_setting setting)
{
    l->deadline_us = pvmc_clock_us() + pvmc_config_us(setting);
    pvmi_carrier_alarm(l->deadline_us);
}

/* Joins one offer; takes ownership of fd. 0 or why it failed. */
static int join(struct pvmi_peer *p, uint32_t number, const char *name, const uint8_t *blob, size_t length, int fd)
{
    uint8_t reply[PVMT_OFFER_MAX];
    const struct pvmt_transport_ops *ops = chosen(name);
    struct pvmi_link *l = ops && leads_to(ops, p) ? pvmi_link_new(ops, p, PVMI_LINK_JOINED) : NULL;
    if (!l) {
        if (fd >= 0)
            close(fd);
        return PVMC_EUNSUPPORTED;
    }
    int n = ops->join(l->carrier->transport, blob, length, fd, l, reply, &l->ep);
    if (n < 0) {
        l->ep = NULL;
        pvmi_link_free(l);
        return n;
    }
    p->route.attempt = l;
    l->attempt = p->route.number = number;
    p->route.since_us = pvmc_clock_us();
    if (!l->lossless && !n)
        limit_attempt(l, PVMC_SETTING_TCP_TIMEOUT);
    if (n || !l->lossless)
        send_answer(p, number, 0, name, reply, n); /* else tx_ready tells the peer */
    if (!l->lossless)
        pvmi_link_acknowledge(l, false); /* the greeting: once it is sent, the connection exists */
    return 0;
}

/* Joins the first of `count` offers that works. 0 or why none worked. */
static int join_any(struct pvmi_peer *p, struct pvmc_buf *body, int count, uint32_t number, int fd)
{
    int rc = PVMC_EFORMAT;
    for (int i = 0; i < count && !pvmc_buf_error(body); i++) {
        char name[NAME_BYTES];
        size_t length;
        pvmc_buf_get_string_to(body, name, sizeof name);
        const uint8_t *blob = pvmc_buf_get_blob(body, &length);
        if (pvmc_buf_error(body) || length > PVMT_OFFER_MAX)
            break;
        rc = join(p, number, name, blob, length, fd);
        fd = -1;
        if (!rc)
            return 0;
    }
    if (fd >= 0)
        close(fd);
    return pvmc_buf_error(body) ? PVMC_EFORMAT : rc;
}

/* Whether our own open offer to p takes precedence over p's: the lower tid wins. */
static bool ours_wins(const struct pvmi_peer *p)
{
    const struct pvmi_link *l = p->route.attempt;
    return l && l->state == PVMI_LINK_OFFERED && pvmi_task.tid < p->tid;
}

/*
 * Tells the peer by the daemons that a link has ended, which it may notice late or never. For its offer the message is
 * a refusing answer, for ours an empty offer.
 */
static void tell_loss(struct pvmi_link *l, int reason)
{
    struct pvmc_buf body;
    if (!l->ours) {
        send_answer(l->peer, l->attempt, reason, "", NULL, 0);
        return;
    }
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, l->attempt);
    pvmc_buf_put_u8(&body, 0);
    pvmi_outbox_put(&(struct pvmc_envelope){.dst = l->peer->tid, .ctx = PVMC_CTX_TC, .tag = (int32_t)PVMC_TC_OFFER},
                    &body, -1);
}

/* The peer has reported the loss. Returns whether there still was such a link. */
static bool take_loss(const struct pvmi_peer *p, uint32_t attempt, bool ours)
{
    struct pvmi_link *l;
    DL_FOREACH (pvmi_links, l)
        if (l->peer == p && l->state != PVMI_LINK_OFFERED && l->attempt == attempt && l->ours == ours)
            break;
    if (l)
        pvmi_route_lost(l, 0);
    return l;
}

/* Takes ownership of fd. */
static void take_offer(struct pvmc_message *m, int fd)
{
    struct pvmc_buf body;
    pvmc_buf_view(&body, m->mem ? m->mem->data : NULL, m->length);
    uint32_t number = pvmc_buf_get_u32(&body);
    int count = pvmc_buf_get_u8(&body), rc = 0;
    struct pvmi_peer *p = pvmi_peer_get(m->src);
    if (!p || m->src == pvmi_task.tid)
        rc = PVMC_EDENIED;
    else if (!count)
        rc = take_loss(p, number, false) ? PVMC_EDOWN : PVMC_EFORMAT;
    else if (ours_wins(p))
        rc = PVMC_EEXISTS;
    else if (pvmi_options.route == PvmDontRoute || !choice.count || p->broken)
        rc = PVMC_EDENIED;
    else {
        drop_attempt(p);
        rc = room_for_link() ? 0 : PVMC_ELIMIT;
    }
    if (rc && fd >= 0)
        close(fd);
    if (!rc)
        rc = join_any(p, &body, count, number, fd);
    if (rc && p)
        send_answer(p, number, rc, "", NULL, 0);
}

/* Offers received before we knew our tid. */
static struct postponed {
    struct pvmc_message *m;
    int fd;
    struct postponed *prev, *next;
} * postponed;

static void postpone(struct pvmc_message *m, int fd)
{
    struct postponed *o = malloc(sizeof *o);
    if (o) {
        *o = (struct postponed){.m = pvmc_message_ref(m), .fd = fd};
        DL_APPEND(postponed, o);
    } else if (fd >= 0) {
        close(fd);
    }
}

void pvmi_route_take_offer(struct pvmc_message *m)
{
    int fd = pvmi_link_take_descriptor();
    if (pvmi_task.tid)
        take_offer(m, fd);
    else
        postpone(m, fd);
}

void pvmi_route_enrolled(bool in)
{
    struct postponed *o, *next;
    DL_FOREACH_SAFE (postponed, o, next) {
        DL_DELETE(postponed, o);
        if (in)
            take_offer(o->m, o->fd);
        else if (o->fd >= 0)
            close(o->fd);
        pvmc_message_unref(o->m);
        free(o);
    }
}

/* ---- answers ---- */

/* The next chosen transport that can reach p, or "the daemons". */
static const char *carrier_after(const struct pvmi_peer *p, const char *transport)
{
    bool passed = false;
    for (unsigned i = 0; i < choice.count; i++)
        if (passed && leads_to(choice.ops[i], p))
            return choice.ops[i]->name;
        else
            passed = passed || !strcmp(choice.ops[i]->name, transport);
    return NULL;
}

/* Warns once per host that a network does not work as users expect. */
static void warn_unreachable(const struct pvmi_peer *p, const char *transport, int code)
{
    struct pvmi_peer *host = pvmi_peer_get(pvmc_tid_host(p->tid));
    if (!host || host->route.failures)
        return;
    host->route.failures = 1;
    const char *next = carrier_after(p, transport);
    pvmc_log(PVMC_LOG_WARNING, "no direct link by %s to t%x and others on its host (%s): %s%s", transport, p->tid,
             pvmc_error_text(code), next ? "trying " : "the daemons carry instead", next ? next : "");
}

/* Our offer was not joined. */
static void take_refusal(struct pvmi_peer *p, int code)
{
    const char *name = p->route.attempt->carrier->ops->name;
    drop_attempt(p);
    switch (code) {
    case PVMC_EEXISTS: /* it crossed with the peer's own offer, which will arrive */
        return;
    case PVMC_EDENIED: /* the peer wants no direct links */
    case PVMC_ELIMIT:  /* the peer has no room for another link */
        pause_offers(p, PAUSE_FAILED_US);
        return;
    case PVMC_EUNSUPPORTED: /* the peer does not use this transport */
        break;
    default:
        warn_unreachable(p, name, code);
    }
    try_next(p);
}

void pvmi_route_take_answer(struct pvmc_message *m)
{
    struct pvmc_buf body;
    char name[NAME_BYTES];
    size_t length;
    pvmc_buf_view(&body, m->mem ? m->mem->data : NULL, m->length);
    uint32_t number = pvmc_buf_get_u32(&body);
    int code = pvmc_buf_get_i32(&body);
    pvmc_buf_get_string_to(&body, name, sizeof name);
    const uint8_t *reply = pvmc_buf_get_blob(&body, &length);
    struct pvmi_peer *p = pvmi_peer_find(m->src);
    if (p && code && !pvmc_buf_error(&body) && take_loss(p, number, true))
        return;
    struct pvmi_link *l = p ? p->route.attempt : NULL;
    if (pvmc_buf_end(&body) || !l || l->state != PVMI_LINK_OFFERED || p->route.number != number)
        return; /* the offer has been withdrawn, or its link is up */
    const struct pvmt_transport_ops *ops = l->carrier->ops;
    if (!code && length && ops->joined)
        code = ops->joined(l->ep, reply, length);
    if (code)
        take_refusal(p, code);
    else if (length && !l->lossless && l->state == PVMI_LINK_OFFERED)
        limit_attempt(l, PVMC_SETTING_DP_LINK_TIMEOUT);
}

/* ---- the end of peers ---- */

static int watch_ends(const pvmc_tid *tids, uint32_t count)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, PvmTaskExit);
    pvmc_buf_put_i32(&body, (int32_t)PVMC_TC_ENDED);
    pvmc_buf_put_u32(&body, PVMC_CTX_TC);
    pvmc_buf_put_i32(&body, (int32_t)count);
    pvmc_buf_put_u32(&body, count);
    for (uint32_t i = 0; i < count; i++)
        pvmc_buf_put_u32(&body, tids[i]);
    const struct pvmc_envelope to = {.dst = PVMC_TID_DAEMON, .ctx = PVMC_CTX_TM, .tag = (int32_t)PVMC_TM_NOTIFY};
    return pvmi_outbox_put(&to, &body, -1);
}

void pvmi_route_watch_end(pvmc_tid tid)
{
    watch_ends(&tid, 1);
}

void pvmi_route_watch_all(void)
{
    static pvmc_tid tids[WATCH_MAX];
    uint32_t count = 0;
    struct pvmi_peer *p;
    for (p = pvmi_peer_first(); p && count < WATCH_MAX; p = p->hh.next)
        if (pvmc_tid_is_task(p->tid) && p->tid != pvmi_task.tid && (!p->watched || p->ended))
            tids[count++] = p->tid;
    if (!count || watch_ends(tids, count))
        return;
    for (uint32_t i = 0; i < count; i++)
        pvmi_peer_find(tids[i])->watched = true;
}

static void watch_peer(struct pvmi_peer *p)
{
    if (p->watched)
        return;
    p->watched = true;
    pvmi_route_watch_end(p->tid);
}

/* ---- what the program is told ---- */

static void tell_deleted(struct pvmi_peer *p)
{
    if (p->route.told && pvmi_route_listener)
        pvmi_route_listener->deleted(p->tid);
    p->route.told = false;
}

/* The peer may open a link before it tells us that it has lost the last one. */
static void tell_added(struct pvmi_peer *p)
{
    tell_deleted(p);
    p->route.told = true;
    if (pvmi_route_listener)
        pvmi_route_listener->added(p->tid);
}

/* ---- up ---- */

void pvmi_route_heard(struct pvmi_link *l)
{
    struct pvmi_peer *p = l->peer;
    bool ours = l->state == PVMI_LINK_OFFERED;
    l->state = PVMI_LINK_UP;
    l->deadline_us = INT64_MAX;
    if (ours)
        routes.offers_open--;
    if (p->route.attempt == l)
        p->route.attempt = NULL;
    p->link = l; /* a link that the peer has lost still delivers its frames until it is down */
    p->links_opened++;
    p->route.since_us = pvmc_clock_us();
    p->route.next = 0;
    if (ours)
        pvmi_link_acknowledge(l, false); /* the greeting */
    if (l->carrier->attributes.end_unseen)
        watch_peer(p);
    pvmi_link_retry();
    pvmc_log(PVMC_LOG_DEBUG, "direct link to t%x by %s", p->tid, l->carrier->ops->name);
    tell_added(p);
}

/* ---- down ---- */

void pvmi_route_broken(struct pvmi_link *l)
{
    if (l->peer->link == l)
        l->peer->link = NULL;
}

/* A link that was up is lost. */
static void lose_link(struct pvmi_link *l, int reason)
{
    struct pvmi_peer *p = l->peer;
    bool stable = pvmc_clock_us() - p->route.since_us > STABLE_US;
    pvmc_log(PVMC_LOG_DEBUG, "lost the direct link to t%x by %s: %s", p->tid, l->carrier->ops->name,
             reason ? pvmc_error_text(reason) : "closed");
    if (reason && !l->lossless && pvmi_link_is_up())
        tell_loss(l, reason); /* the packet that would end the other side may be lost, too */
    p->links_lost++;
    if (p->link == l || !p->link) {
        p->link = NULL;
        if (stable)
            p->route.failures = 0;
        pause_offers(p, PAUSE_LOST_US);
    }
    pvmi_peer_use(p);
    pvmi_link_free(l);
    if ((p->incoming || p->stream.open || p->reorder) && !p->ended && pvmi_link_is_up())
        watch_peer(p); /* within a message: if the sender has ended, the rest will never come */
    if (!p->link)
        tell_deleted(p);
    pvmi_link_retry();
    pvmi_peer_put(p);
}

/* A link that was offered or joined is lost. */
static void lose_attempt(struct pvmi_link *l, int reason)
{
    struct pvmi_peer *p = l->peer;
    bool ours = l->state == PVMI_LINK_OFFERED;
    uint32_t number = p->route.number;
    drop_attempt(p);
    if (ours)
        pause_offers(p, PAUSE_FAILED_US);
    else
        send_answer(p, number, reason ? reason : PVMC_EDOWN, "", NULL, 0);
}

void pvmi_route_lost(struct pvmi_link *l, int reason)
{
    if (l->state == PVMI_LINK_UP)
        lose_link(l, reason);
    else
        lose_attempt(l, reason);
}

void pvmi_route_forget(struct pvmi_peer *p)
{
    struct pvmi_link *l, *next;
    if (!p->links)
        return;
    pvmi_peer_use(p);
    drop_attempt(p);
    p->link = NULL;
    p->route.told = false;
    DL_FOREACH_SAFE (pvmi_links, l, next)
        if (l->peer == p)
            pvmi_link_free(l);
    pvmi_peer_put(p);
}

/* ---- time limits ---- */

int pvmi_route_alarm(void)
{
    int n = 0;
    int64_t now = pvmc_clock_us();
    struct pvmi_link *l, *next;
    DL_FOREACH_SAFE (pvmi_links, l, next) {
        if (l->deadline_us > now) {
            pvmi_carrier_alarm(l->deadline_us);
            continue;
        }
        l->deadline_us = INT64_MAX;
        n++;
        if (l->state == PVMI_LINK_OFFERED)
            take_refusal(l->peer, PVMC_ETIMEOUT); /* the two cannot reach each other */
        else if (l->ack_due || !pvmi_link_is_idle(l))
            lose_attempt(l, PVMC_ETIMEOUT);
        else
            n--; /* our greeting is sent, so the connection exists: the peer has not read it yet */
    }
    return n + pvmi_exit_notice_expire(now);
}

/* ---- leaving ---- */

static bool all_acknowledged(void *arg)
{
    (void)arg;
    struct pvmi_link *l;
    DL_FOREACH (pvmi_links, l)
        if (pvmw_window_count(&l->kept))
            return false;
    return true;
}

static bool all_sent_again(void *arg)
{
    (void)arg;
    return pvmi_outbox_is_empty();
}

int pvmi_route_leave(void)
{
    struct pvmi_link *l, *next;
    DL_FOREACH (pvmi_links, l)
        if (pvmw_window_count(&l->kept) || l->unacked_frames)
            pvmi_link_acknowledge(l, pvmw_window_count(&l->kept));
    int rc = all_acknowledged(NULL) ? 0 : pvmi_wait_until(all_acknowledged, NULL, pvmc_clock_us() + LEAVE_LIMIT_US);
    if (rc && rc != PVMC_ETIMEOUT)
        return rc;
    DL_FOREACH (pvmi_links, l)
        if (pvmw_window_count(&l->kept)) {
            pvmw_window_resend_by(&l->kept, &l->peer->again);
            pvmi_outbox_resend();
        }
    DL_FOREACH_SAFE (pvmi_links, l, next)
        if (l->state == PVMI_LINK_OFFERED) {
            tell_loss(l, PVMC_EDOWN); /* else the peer would delay the notice of our end until joining fails */
            drop_attempt(l->peer);
        }
    pvmi_outbox_flush();
    return all_sent_again(NULL) ? 0 : pvmi_wait_until(all_sent_again, NULL, PVMI_WAIT_FOREVER);
}

void pvmi_route_clear(void)
{
    while (pvmi_links) {
        struct pvmi_link *l = pvmi_links;
        struct pvmi_peer *p = l->peer;
        if (p->route.attempt == l)
            p->route.attempt = NULL;
        if (p->link == l)
            p->link = NULL;
        pvmi_link_free(l);
    }
    routes.offers_open = 0;
    pvmi_route_enrolled(false);
    pvmi_exit_notice_clear();
}
