/* link.c - links: their queues, their retransmit windows, and how they open and lose connections. */
#include "link.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "pvmd/base/events.h"
#include "pvmd/base/memory.h"
#include "pvmd/base/self.h"
#include "pvmd/base/virtual.h"
#include "dial.h"
#include "wire/window.h"
#include "pvmd/frames/queue.h"
#include "pvmd/frames/relay.h"
#include "stream.h"

#define TICK_S       0.1  /* interval of checks of a link that is not up */
#define OPEN_TICKS   30   /* for two slaves to reach each other; after that they send through the master */
#define REOPEN_TICKS 8    /* for a lost connection, unless the other machine accepts our call */
#define ACCEPT_TICKS 50   /* for the handshake of a daemon that called us */
#define COUNT_LAZY_S 0.05 /* received frames are counted to the sender after this delay without a request */
#define ASK_FRAMES   512  /* sent without requesting a count */
#define KEPT_MAX     65536

struct pvmd_link {
    struct pvmd_host *host;
    enum pvmd_link_state state;
    struct pvmd_queue queue;

    struct pvmw_window window; /* sent, and not yet acknowledged by a count */
    bool kept_much;            /* since it was empty */
    uint32_t next_out;         /* number of the next frame for this connection: in the window, or window.end */
    size_t unasked_bytes;      /* sent since we last requested a count */
    unsigned unasked;

    uint32_t received; /* frames received on this link, over all connections */
    uint32_t told;     /* the part of `received` that the other side knows of */
    bool count_due;    /* the other side has requested a count */

    struct pvmd_dial *dial;          /* our call in progress, or NULL */
    struct pvmd_stream *stream;      /* the connection, or one in its handshake, or NULL */
    bool stream_is_call;             /* we called */
    uint32_t epoch;                  /* number of connections so far */
    uint32_t caller_epoch;           /* as the caller of `stream` counts them */
    struct pvmw_addresses addresses; /* where to call */
    ev_timer tick;                   /* while OPENING or LOST */
    unsigned ticks;                  /* loop turns, not time, so that a daemon that was stopped does not hurry */
    int64_t excused_us;              /* silence before this does not count */
    bool goodbye;                    /* the other daemon is about to end */
    bool count_awaited;              /* RELAYED: kept frames wait for the other side's count */

    bool dirty; /* in the list of links to be flushed */
    struct pvmd_link *prev, *next;
};

static struct pvmd_link *dirty_links;
static ev_prepare flush_watcher; /* never started: fed when a link becomes dirty */
static ev_timer lazy_timer;

static bool link_lost(struct pvmd_link *l, const char *why);
static void mark_dirty(struct pvmd_link *l);
static void tick_event(struct ev_loop *loop, ev_timer *w, int events);
static const struct pvmd_dial_events dial_events;
static const struct pvmd_stream_events stream_events;

static struct pvmd_link *link_of(struct pvmd_host *host)
{
    struct pvmd_link *l = host->link;
    if (l)
        return l;
    l = calloc(1, sizeof *l);
    if (!l) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for the link to host %s", host->name);
        return NULL;
    }
    l->host = host;
    ev_init(&l->tick, tick_event);
    l->tick.data = l;
    pvmd_queue_init(&l->queue, pvmc_tid_of_host_index(host->index));
    return host->link = l;
}

static bool is_to_or_from_master(const struct pvmd_link *l)
{
    return pvmd_is_master() || l->host->index == pvmd.master_index;
}

static struct pvmd_link *master_link(void)
{
    struct pvmd_host *master = pvmd_host_any(pvmd.master_index);
    return master ? master->link : NULL;
}

/* ---- sending ---- */

/* Limit of the retransmit window: half of the queue's limit, so that a link holds at most 1.5 * PVM_QUEUE_MAX. */
static size_t window_bytes(void)
{
    static size_t bytes;
    if (!bytes)
        bytes = (size_t)pvmc_config_integer(PVMC_SETTING_QUEUE_MAX) / 2;
    return bytes;
}

/* Moves the oldest queued frame to the retransmit window: false when there is none, or the window is full. */
static bool take(struct pvmd_link *l)
{
    struct pvmc_frame *f = pvmd_queue_first(&l->queue);
    uint32_t kept = pvmw_window_count(&l->window);
    if (!f || (kept && l->window.bytes >= window_bytes()) || kept >= KEPT_MAX || pvmw_window_add(&l->window, f))
        return false;
    pvmd_queue_pop(&l->queue);
    l->kept_much = l->kept_much || l->window.bytes > window_bytes() / 8;
    return true;
}

/*
 * Requests counts often enough that they arrive before the window is full, and always in virtual time, which waits for
 * them.
 */
static bool must_ask(const struct pvmd_link *l, const struct pvmc_frame *f)
{
    return pvmd_virtual_is_watched() || l->unasked_bytes + f->h.length >= window_bytes() / 4 ||
           l->unasked >= ASK_FRAMES;
}

static void note_sent(struct pvmd_link *l, const struct pvmc_frame *f, bool asked)
{
    l->told = l->received;
    l->next_out++;
    l->unasked_bytes = asked ? 0 : l->unasked_bytes + sizeof *f + f->h.length;
    l->unasked = asked ? 0 : l->unasked + 1;
}

static void flush_up(struct pvmd_link *l)
{
    while (l->next_out != l->window.end || take(l)) {
        struct pvmc_frame *f = pvmw_window_frame(&l->window, l->next_out);
        bool ask = must_ask(l, f);
        if (!pvmd_stream_frame(l->stream, f, l->received, ask))
            break;
        note_sent(l, f, ask);
    }
    if (l->count_due && l->told != l->received) {
        l->told = l->received;
        pvmd_stream_signal(l->stream, PVMD_SIGNAL_COUNT, l->received);
    }
    l->count_due = false;
    pvmd_stream_flush(l->stream);
}

/*
 * Moves frames to the master's queue while that is short. Senders are held on account of this link's host, not of the
 * master.
 */
static void flush_relayed(struct pvmd_link *l)
{
    struct pvmd_link *master = master_link();
    struct pvmc_frame *f;
    if (!master || l->count_awaited)
        return;
    for (uint32_t n = l->window.first; n != l->window.end; n++)
        pvmd_link_send(master->host, pvmw_window_frame(&l->window, n));
    pvmw_window_clear(&l->window);
    while (master->queue.bytes < window_bytes() / 2 && (f = pvmd_queue_first(&l->queue))) {
        pvmd_link_send(master->host, f);
        pvmd_queue_pop(&l->queue);
    }
}

/* Resumes links that send through this one once its queue is short again. */
static void wake_relayed(const struct pvmd_link *master)
{
    size_t count;
    struct pvmd_host **list = pvmd_host_list(&count);
    if (master->queue.bytes >= window_bytes() / 2)
        return;
    for (size_t i = 0; i < count; i++) {
        struct pvmd_link *l = list[i]->link;
        if (l && l->state == PVMD_LINK_RELAYED && pvmd_queue_first(&l->queue))
            mark_dirty(l);
    }
}

static void flush(struct pvmd_link *l)
{
    if (l->state == PVMD_LINK_RELAYED)
        flush_relayed(l);
    if (l->state != PVMD_LINK_UP)
        return;
    flush_up(l);
    if (!pvmd_is_master() && l->host->index == pvmd.master_index)
        wake_relayed(l);
}

static void flush_event(struct ev_loop *loop, ev_prepare *w, int events)
{
    (void)loop, (void)w, (void)events;
    pvmd_virtual_tell(); /* before the other side hears of the frame and lets time pass */
    while (dirty_links) {
        struct pvmd_link *l = dirty_links;
        DL_DELETE(dirty_links, l);
        l->dirty = false;
        flush(l);
    }
}

/* Links are flushed at the end of the loop's turn (lowest priority), so that frames leave together. */
static void mark_dirty(struct pvmd_link *l)
{
    if (l->dirty)
        return;
    l->dirty = true;
    DL_APPEND(dirty_links, l);
    if (!ev_is_pending(&flush_watcher)) {
        ev_prepare_init(&flush_watcher, flush_event);
        ev_set_priority(&flush_watcher, EV_MINPRI);
        ev_feed_event(pvmd.loop, &flush_watcher, EV_PREPARE);
    }
}

/* ---- counting ---- */

static void lazy_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    for (unsigned i = 1; i <= PVMC_HOST_INDEX_MAX; i++) {
        struct pvmd_host *h = pvmd_host_any(i);
        if (!h || !h->link || h->link->told == h->link->received)
            continue;
        h->link->count_due = true;
        mark_dirty(h->link);
    }
}

static void count_later(struct pvmd_link *l, bool asked)
{
    if (asked) {
        l->count_due = true;
        mark_dirty(l);
    } else if (!ev_is_active(&lazy_timer)) {
        ev_timer_init(&lazy_timer, lazy_event, COUNT_LAZY_S, 0.);
        ev_timer_start(pvmd.loop, &lazy_timer);
    }
}

/*
 * The other side has received our frames before `count`. False if the count is impossible: the link is lost, maybe
 * freed.
 */
static bool counted(struct pvmd_link *l, uint32_t count)
{
    if (count == l->window.first)
        return true;
    if (pvmw_window_acknowledge(&l->window, count, l->next_out)) {
        pvmc_log(PVMC_LOG_ERROR, "host %s counts %u frames of %u", l->host->name, count, l->next_out);
        return link_lost(l, "it miscounts our frames");
    }
    if (l->kept_much && !pvmw_window_count(&l->window)) {
        l->kept_much = false;
        pvmd_trim_later();
    }
    if (pvmd_queue_first(&l->queue))
        mark_dirty(l);
    return true;
}

static void stream_frame(void *owner, struct pvmc_frame *f, uint32_t count, bool asked)
{
    struct pvmd_link *l = owner;
    if (l->state != PVMD_LINK_UP || !counted(l, count))
        return;
    l->received++;
    count_later(l, asked);
    pvmd_relay(f, l->host->index); /* may end the link */
}

static void stream_writable(void *owner)
{
    mark_dirty(owner);
}

/* ---- connections ---- */

static void drop_connection(struct pvmd_link *l)
{
    if (l->dial)
        pvmd_dial_cancel(l->dial);
    if (l->stream)
        pvmd_stream_close(l->stream);
    l->dial = NULL;
    l->stream = NULL;
}

static void enter(struct pvmd_link *l, enum pvmd_link_state state)
{
    l->state = state;
    l->ticks = 0;
    ev_timer_stop(pvmd.loop, &l->tick);
    if (state != PVMD_LINK_OPENING && state != PVMD_LINK_LOST)
        return;
    ev_timer_set(&l->tick, TICK_S, TICK_S);
    ev_timer_start(pvmd.loop, &l->tick);
}

/* Decides which addresses to call. A loopback address reaches the other host only if both are on one machine. */
static bool may_call(struct pvmd_link *l)
{
    union pvmw_address a;
    const struct pvmd_host *h = l->host;
    if (l->addresses.count)
        return true;
    if (!h->port || pvmw_address_parse(h->address, h->port, &a))
        return false;
    if (pvmw_address_is_loopback(&a) && !is_to_or_from_master(l) && !pvmw_ip_is_loopback(pvmd_host_self()->address))
        return false;
    pvmw_addresses_add(&l->addresses, &a);
    return true;
}

static void call(struct pvmd_link *l)
{
    struct pvmd_preface p = {
        .from_index = pvmd.host_index,
        .from_incarnation = pvmd_host_self()->incarnation,
        .to_index = l->host->index,
        .to_incarnation = l->host->incarnation,
        .epoch = l->epoch,
    };
    if (may_call(l))
        l->dial = pvmd_dial_new(pvmd.loop, &l->addresses, &p, &dial_events, l);
}

/* Sends frames through the master from now on. */
static void relay_from_now(struct pvmd_link *l, const char *why)
{
    pvmc_log(PVMC_LOG_INFO, "sending to host %s through the master: %s", l->host->name, why);
    drop_connection(l);
    enter(l, PVMD_LINK_RELAYED);
    l->count_awaited = pvmw_window_count(&l->window) > 0;
    pvmd_tell_link_relayed(l->host->index, l->received);
    mark_dirty(l);
}

void pvmd_link_peer_relays(struct pvmd_host *host, uint32_t count)
{
    struct pvmd_link *l = link_of(host);
    if (!l)
        return;
    if (l->state != PVMD_LINK_RELAYED)
        relay_from_now(l, "it does so too");
    if (pvmw_window_acknowledge(&l->window, count, l->window.end))
        pvmc_log(PVMC_LOG_ERROR, "host %s counts %u frames of %u", host->name, count, l->window.end);
    l->count_awaited = false;
    mark_dirty(l);
}

/* Gives up on a connection. Returns false, because the link may be gone now. */
static bool link_lost(struct pvmd_link *l, const char *why)
{
    drop_connection(l);
    enter(l, PVMD_LINK_LOST);
    ev_timer_stop(pvmd.loop, &l->tick);
    if (!is_to_or_from_master(l))
        relay_from_now(l, why);
    else
        pvmd_tell_link_lost(l->host->index, l->goodbye ? "it has ended" : why);
    return false;
}

/* The connection of an UP link is lost: both sides call at once. */
static void torn(struct pvmd_link *l, const char *why)
{
    if (l->goodbye) {
        link_lost(l, why);
        return;
    }
    pvmc_log(PVMC_LOG_INFO, "lost the connection to host %s: %s", l->host->name, why);
    drop_connection(l);
    enter(l, PVMD_LINK_LOST);
    call(l);
}

static void stream_down(void *owner, const char *why);

/* 0: none. For the first call to a slave the time limit of joining applies. */
static unsigned tick_limit(const struct pvmd_link *l)
{
    if (l->stream && !l->stream_is_call)
        return ACCEPT_TICKS;
    if (l->state == PVMD_LINK_OPENING)
        return is_to_or_from_master(l) ? 0 : OPEN_TICKS;
    if (l->stream || (l->dial && pvmd_dial_is_answered(l->dial))) /* the kernel accepts for a stopped daemon */
        return (unsigned)((double)pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) / (TICK_S * 1e6));
    return REOPEN_TICKS;
}

static void tick_event(struct ev_loop *loop, ev_timer *w, int events)
{
    struct pvmd_link *l = w->data;
    unsigned limit = tick_limit(l);
    (void)loop, (void)events;
    if (!limit || ++l->ticks <= limit) {
        if (l->state == PVMD_LINK_LOST && !l->dial && !l->stream)
            call(l);
    } else if (l->state == PVMD_LINK_LOST) {
        link_lost(l, "it cannot be reached any more");
    } else if (l->stream && !l->stream_is_call) {
        stream_down(l, "no handshake in time");
    } else {
        link_lost(l, "no connection in time");
    }
}

static void begin_stream(struct pvmd_link *l, int fd, bool is_call, const uint8_t *key, uint32_t caller_epoch)
{
    l->stream_is_call = is_call;
    l->caller_epoch = caller_epoch;
    l->stream = pvmd_stream_new(pvmd.loop, fd, is_call, key, &stream_events, l);
}

/* ---- our calls ---- */

static void dial_connected(void *owner, int fd, const uint8_t key[PVMD_KEY_BYTES], const union pvmw_address *address)
{
    struct pvmd_link *l = owner;
    l->dial = NULL;
    l->addresses.count = 0; /* only the address that worked is kept */
    pvmw_addresses_add(&l->addresses, address);
    begin_stream(l, fd, true, key, l->epoch);
}

static void dial_failed(void *owner, enum pvmd_verdict verdict, bool refused, const char *why)
{
    struct pvmd_link *l = owner;
    l->dial = NULL;
    if (verdict == PVMD_VERDICT_CROSSED)
        return; /* the timer checks that their call arrives */
    if (verdict == PVMD_VERDICT_RELAYED || l->state == PVMD_LINK_OPENING)
        link_lost(l, why);
    else if (refused && pvmd_is_master())
        link_lost(l, "its daemon is gone");
}

static const struct pvmd_dial_events dial_events = {.connected = dial_connected, .failed = dial_failed};

/* ---- life cycle of a stream ---- */

static void stream_ready(void *owner)
{
    struct pvmd_link *l = owner;
    pvmd_stream_signal(l->stream, PVMD_SIGNAL_HELLO, l->received);
    pvmd_stream_flush(l->stream);
}

/* Announces the address that worked. Slaves learn the master's address only from its call. */
static void learn_address(struct pvmd_link *l)
{
    struct sockaddr_storage raw;
    socklen_t size = sizeof raw;
    union pvmw_address a;
    char ip[PVMW_ADDRESS_TEXT];
    if (!l->stream_is_call && l->host->index != pvmd.master_index)
        return;
    if (getpeername(pvmd_stream_fd(l->stream), (struct sockaddr *)&raw, &size) ||
        pvmw_address_from((struct sockaddr *)&raw, &a))
        return;
    pvmw_address_ip(&a, ip, sizeof ip);
    pvmd_host_set_text(&l->host->address, ip);
}

static void stream_hello(struct pvmd_link *l, uint32_t count)
{
    if (l->state == PVMD_LINK_UP || pvmw_window_acknowledge(&l->window, count, l->window.end)) {
        link_lost(l, "it does not follow the protocol");
        return;
    }
    l->next_out = l->window.first;
    l->told = l->received;
    l->unasked_bytes = l->unasked = 0;
    l->epoch = (l->caller_epoch > l->epoch ? l->caller_epoch : l->epoch) + 1;
    l->excused_us = pvmc_clock_us();
    enter(l, PVMD_LINK_UP);
    learn_address(l);
    mark_dirty(l);
    pvmd_tell_link_up(l->host->index);
}

static void stream_signal(void *owner, enum pvmd_signal signal, uint32_t count)
{
    struct pvmd_link *l = owner;
    if (signal == PVMD_SIGNAL_HELLO) {
        stream_hello(l, count);
        return;
    }
    if (l->state != PVMD_LINK_UP || !counted(l, count))
        return;
    if (signal == PVMD_SIGNAL_PING) {
        l->told = l->received;
        pvmd_stream_signal(l->stream, PVMD_SIGNAL_PONG, l->received);
        pvmd_stream_flush(l->stream);
    } else if (signal == PVMD_SIGNAL_BYE) {
        l->goodbye = true;
    }
}

static void stream_down(void *owner, const char *why)
{
    struct pvmd_link *l = owner;
    drop_connection(l);
    if (l->state == PVMD_LINK_UP)
        torn(l, why);
    else if (l->state == PVMD_LINK_OPENING && l->stream_is_call)
        link_lost(l, why);
    else if (l->state == PVMD_LINK_OPENING && pvmd_queue_first(&l->queue))
        call(l);
    else if (l->state == PVMD_LINK_OPENING)
        enter(l, PVMD_LINK_IDLE);
    /* still LOST: the timer runs on */
}

static const struct pvmd_stream_events stream_events = {
    .ready = stream_ready,
    .frame = stream_frame,
    .signal = stream_signal,
    .writable = stream_writable,
    .down = stream_down,
};

/* ---- calls from other daemons ---- */

enum pvmd_verdict pvmd_link_offered(const struct pvmd_preface *p)
{
    const struct pvmd_host *host = pvmd_host_any(p->from_index);
    if (p->to_index != pvmd.host_index || p->to_incarnation != pvmd_host_self()->incarnation)
        return PVMD_VERDICT_WRONG;
    if (!host || host->incarnation != p->from_incarnation || host->state == PVMD_HOST_LEAVING ||
        host == pvmd_host_self())
        return PVMD_VERDICT_WRONG;
    const struct pvmd_link *l = host->link;
    if (!l)
        return PVMD_VERDICT_GO;
    if (l->state == PVMD_LINK_RELAYED)
        return PVMD_VERDICT_RELAYED;
    if (l->state == PVMD_LINK_UP) /* the caller lost the current connection before we did */
        return p->epoch >= l->epoch ? PVMD_VERDICT_GO : PVMD_VERDICT_CROSSED;
    bool calling = l->dial || (l->stream && l->stream_is_call);
    return calling && pvmd.host_index < p->from_index ? PVMD_VERDICT_CROSSED : PVMD_VERDICT_GO;
}

void pvmd_link_accepted(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES])
{
    struct pvmd_link *l = link_of(pvmd_host_any(p->from_index));
    if (!l) {
        close(fd);
        return;
    }
    drop_connection(l);
    enter(l, l->state == PVMD_LINK_IDLE || l->state == PVMD_LINK_OPENING ? PVMD_LINK_OPENING : PVMD_LINK_LOST);
    begin_stream(l, fd, false, key, p->epoch);
}

/* ---- for the layers above ---- */

static void open_link(struct pvmd_link *l)
{
    if (!may_call(l)) {
        relay_from_now(l, "it is reachable from the master's machine only");
        return;
    }
    enter(l, PVMD_LINK_OPENING);
    call(l);
}

void pvmd_link_send(struct pvmd_host *host, struct pvmc_frame *f)
{
    struct pvmd_link *l = link_of(host);
    if (!l || pvmd_queue_push(&l->queue, f))
        return;
    if (l->state == PVMD_LINK_UP || l->state == PVMD_LINK_RELAYED)
        mark_dirty(l);
    else if (l->state == PVMD_LINK_IDLE && !is_to_or_from_master(l)) /* else the master calls */
        open_link(l);
}

void pvmd_link_call(struct pvmd_host *host, const struct pvmw_addresses *addresses)
{
    struct pvmd_link *l = link_of(host);
    if (!l)
        return; /* the time limit of joining applies */
    l->addresses = *addresses;
    enter(l, PVMD_LINK_OPENING);
    call(l);
}

void pvmd_link_close(struct pvmd_host *host)
{
    struct pvmd_link *l = host->link;
    if (!l)
        return;
    if (l->state == PVMD_LINK_UP) {
        flush(l);
        pvmd_stream_signal(l->stream, PVMD_SIGNAL_BYE, l->received);
        pvmd_stream_flush(l->stream);
    }
    drop_connection(l);
    ev_timer_stop(pvmd.loop, &l->tick);
    if (l->dirty)
        DL_DELETE(dirty_links, l);
    pvmd_queue_clear(&l->queue);
    pvmw_window_clear(&l->window);
    free(l);
    host->link = NULL;
}

const char *pvmd_link_why(const struct pvmd_host *host)
{
    const struct pvmd_link *l = host->link;
    if (l && l->dial)
        return pvmd_dial_why(l->dial);
    return l && l->stream ? "the handshake is not done" : "";
}

enum pvmd_link_state pvmd_link_state(const struct pvmd_host *host)
{
    return host->link ? host->link->state : PVMD_LINK_IDLE;
}

int64_t pvmd_link_heard_us(const struct pvmd_host *host)
{
    int64_t heard_us = pvmd_stream_heard_us(host->link->stream);
    return heard_us > host->link->excused_us ? heard_us : host->link->excused_us;
}

bool pvmd_link_is_busy(const struct pvmd_host *host)
{
    return host->link && (pvmw_window_count(&host->link->window) || pvmd_queue_first(&host->link->queue));
}

bool pvmd_link_has_kept(const struct pvmd_host *host)
{
    return pvmw_window_count(&host->link->window) > 0;
}

void pvmd_link_excuse(struct pvmd_host *host, int64_t us)
{
    host->link->excused_us = pvmd_link_heard_us(host) + us;
}

void pvmd_link_ping(struct pvmd_host *host)
{
    pvmd_stream_signal(host->link->stream, PVMD_SIGNAL_PING, host->link->received);
    pvmd_stream_flush(host->link->stream);
}

void pvmd_link_silent(struct pvmd_host *host, const char *why)
{
    if (is_to_or_from_master(host->link))
        link_lost(host->link, why);
    else
        torn(host->link, why);
}

int pvmd_link_fd(const struct pvmd_host *host)
{
    return pvmd_link_state(host) == PVMD_LINK_UP ? pvmd_stream_fd(host->link->stream) : -1;
}
