/* link.c - how links open and lose connections. Their frames are in flow.c. */
#include "link.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "pvmd/base/events.h"
#include "pvmd/base/self.h"
#include "pvmd/base/stats.h"
#include "pvmd/base/virtual.h"
#include "detour.h"
#include "dial.h"
#include "flow.h"
#include "link_state.h"
#include "linked.h"
#include "pvmd/frames/relay.h"
#include "stream.h"

#define TICK_S       0.1   /* interval of checks of a link that is not up */
#define OPEN_TICKS   30    /* for two slaves to reach each other; after that they send through the master */
#define ACCEPT_TICKS 50    /* for the handshake of the first daemon that called us */
#define CALL_TICKS   5     /* for a call of a lost link that nobody answers, before the next one */
#define REFUSED_MAX  8     /* calls of a slave, one each tick, before it believes that no daemon listens */
#define USEFUL_BYTES 65536 /* acknowledged by the other kernel: more than a handshake and signals */
#define DOUBT_TICKS  5     /* for a sign of life on an UP link whose other side calls */

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
    pvmd_linked_add(host->index);
    return host->link = l;
}

static bool is_to_or_from_master(const struct pvmd_link *l)
{
    return pvmd_is_master() || l->host->index == pvmd.master_index;
}

static bool has_master(void)
{
    const struct pvmd_host *master = pvmd_host_any(pvmd.master_index);
    return !master || !master->lost;
}

/* ---- connections ---- */

static int64_t proven_us(const struct pvmd_link *l)
{
    int64_t us = l->state == PVMD_LINK_UP && l->stream ? pvmd_stream_proven_us(l->stream) : 0;
    return us > l->proven_us ? us : l->proven_us;
}

/* A connection is of use if frames get across, or there are none. On some networks only small packets do. */
static void look_at_stream(struct pvmd_link *l)
{
    pvmd_stream_look(l->stream);
    l->is_of_use = l->is_of_use || !pvmw_window_count(&l->window) || l->window.first != l->first_up ||
                   pvmd_stream_acked(l->stream) > USEFUL_BYTES;
}

static int64_t useful_us(const struct pvmd_link *l)
{
    return l->state != PVMD_LINK_UP || l->is_of_use ? proven_us(l) : l->before_up_us;
}

/* Frames in the connection's buffers are kept (window), and leave by the next one. */
static void drop_connection(struct pvmd_link *l)
{
    if (l->dial)
        pvmd_dial_cancel(l->dial);
    if (l->stream && l->state == PVMD_LINK_UP) {
        look_at_stream(l);
        l->proven_us = useful_us(l);
    }
    if (l->stream)
        pvmd_stream_abort(l->stream);
    l->dial = NULL;
    l->stream = NULL;
}

static void start_ticks(struct pvmd_link *l)
{
    l->ticks = 0;
    ev_timer_set(&l->tick, TICK_S, TICK_S);
    ev_timer_start(pvmd.loop, &l->tick);
}

static void enter(struct pvmd_link *l, enum pvmd_link_state state)
{
    if (l->state == PVMD_LINK_UP && state == PVMD_LINK_LOST && !l->goodbye)
        pvmd_stats.link_losses++;
    l->state = state;
    l->refusals = 0;
    ev_timer_stop(pvmd.loop, &l->tick);
    l->resting = false;
    if (state == PVMD_LINK_OPENING || state == PVMD_LINK_LOST)
        start_ticks(l);
}

/*
 * Whether loopback addresses of hosts are those of our machine. Only the first master has no address, and a daemon that
 * does not know other hosts than its master yet.
 */
static bool is_on_first_machine(void)
{
    const char *own = pvmd_host_self()->address;
    return !*own || pvmw_ip_is_loopback(own);
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
    if (pvmw_address_is_loopback(&a) && !is_on_first_machine())
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
    l->ticks = 0;
    if (may_call(l))
        l->dial = pvmd_dial_new(pvmd.loop, &l->addresses, &p, &dial_events, l);
}

/* Sends frames through the master from now on. */
static void relay_from_now(struct pvmd_link *l, const char *why)
{
    pvmc_log(PVMC_LOG_INFO, "sending to host %s through the master: %s", l->host->name, why);
    drop_connection(l);
    enter(l, PVMD_LINK_RELAYED);
    pvmd_flow_ask(l);
}

void pvmd_link_peer_counts(struct pvmd_host *host, uint32_t count, enum pvmd_count kind)
{
    struct pvmd_link *l = link_of(host);
    if (!l)
        return;
    if (l->state != PVMD_LINK_RELAYED)
        relay_from_now(l, "it does so too");
    pvmd_flow_told(l, count, kind);
}

/* While there is no master no other way leads to the host: calls go on until it answers, or is known to be dead. */
static void call_on(struct pvmd_link *l)
{
    drop_connection(l);
    l->proven_us = pvmc_clock_us();
    enter(l, PVMD_LINK_LOST);
}

/* Gives up on a connection. Returns false, because the link may be gone now. */
static bool link_lost(struct pvmd_link *l, const char *why)
{
    bool is_dead = l->dead || l->goodbye;
    if (!has_master() && !is_dead) {
        call_on(l);
        return false;
    }
    drop_connection(l);
    enter(l, PVMD_LINK_LOST);
    ev_timer_stop(pvmd.loop, &l->tick);
    if (has_master() && !is_to_or_from_master(l))
        relay_from_now(l, why);
    else
        pvmd_tell_link_lost(l->host->index, l->goodbye ? "it has ended" : why);
    return false;
}

/* The connection of an UP link is lost: both sides call until one gets through. */
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

/* Of an OPENING link; 0: none. For the first call to a slave the time limit of joining applies. */
static unsigned tick_limit(const struct pvmd_link *l)
{
    if (l->stream && !l->stream_is_call)
        return ACCEPT_TICKS;
    return is_to_or_from_master(l) ? 0 : OPEN_TICKS;
}

static void tick_opening(struct pvmd_link *l)
{
    unsigned limit = tick_limit(l);
    if (!limit || l->ticks <= limit)
        return;
    if (l->stream && !l->stream_is_call)
        stream_down(l, "no handshake in time");
    else
        link_lost(l, "no connection in time");
}

/*
 * How long the present call of a LOST link may take. TCP's own retries grow too rare to find a network that works
 * again. A busy or stopped daemon gets longer once its kernel has answered.
 */
static unsigned call_ticks(const struct pvmd_link *l)
{
    unsigned quarter = (unsigned)((double)pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) / 4 / (TICK_S * 1e6));
    if (!l->dial && !l->stream)
        return 1;
    bool is_answered = l->stream || pvmd_dial_is_answered(l->dial);
    return is_answered && quarter > CALL_TICKS ? quarter : CALL_TICKS;
}

static void relay_without_call(struct pvmd_link *l)
{
    relay_from_now(l, "it is reachable from the master's machine only");
}

/* Only the other side can call, and has not. Without a master there was no other way. */
static bool is_called_in_vain(struct pvmd_link *l)
{
    return has_master() && !is_to_or_from_master(l) && !may_call(l) &&
           pvmc_clock_us() - l->proven_us > (int64_t)(OPEN_TICKS * TICK_S * 1e6);
}

/* Calls anew, and again, until a call gets through or liveness.c gives up. */
static void tick_lost(struct pvmd_link *l)
{
    if (l->ticks < call_ticks(l))
        return;
    drop_connection(l);
    if (is_called_in_vain(l))
        relay_without_call(l);
    else
        call(l);
}

/* The other side has called although our connection looks well: it may have lost it, and we cannot know. */
static void tick_doubted(struct pvmd_link *l)
{
    if (pvmd_stream_heard_us(l->stream) > l->called_us)
        ev_timer_stop(pvmd.loop, &l->tick);
    else if (l->ticks >= DOUBT_TICKS)
        torn(l, "the other side calls anew");
}

static void tick_event(struct ev_loop *loop, ev_timer *w, int events)
{
    struct pvmd_link *l = w->data;
    (void)loop, (void)events;
    l->ticks++;
    if (l->state == PVMD_LINK_UP)
        tick_doubted(l);
    else if (l->state == PVMD_LINK_LOST)
        tick_lost(l);
    else
        tick_opening(l);
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

static void gone(struct pvmd_link *l)
{
    l->dead = true;
    link_lost(l, "its daemon is gone");
}

static void dial_failed(void *owner, enum pvmd_verdict verdict, bool refused, const char *why)
{
    struct pvmd_link *l = owner;
    l->dial = NULL;
    l->ticks = 0;
    l->refusals = refused ? l->refusals + 1 : 0;
    if (verdict == PVMD_VERDICT_CROSSED || (verdict == PVMD_VERDICT_RELAYED && is_to_or_from_master(l)))
        return; /* their call will arrive, or they will hear that we have a new master: the timer calls again */
    if (verdict == PVMD_VERDICT_OUT && !has_master())
        pvmd_tell_link_out(l->host->index);
    l->out = verdict == PVMD_VERDICT_OUT && l->host->index == pvmd.master_index;
    if (l->out)
        link_lost(l, "this host is out");
    else if (verdict == PVMD_VERDICT_RELAYED || l->state == PVMD_LINK_OPENING)
        link_lost(l, why);
    else if (verdict == PVMD_VERDICT_WRONG || verdict == PVMD_VERDICT_OUT)
        link_lost(l, "its daemon does not know this one");
    else if (l->refusals >= (pvmd_is_master() ? 1 : REFUSED_MAX)) /* a slave may be unable to call its master */
        gone(l);
}

static const struct pvmd_dial_events dial_events = {.connected = dial_connected, .failed = dial_failed};

/* ---- life cycle of a stream ---- */

/* False, since the link may be gone now, if the other side counts frames that we have not sent. */
static bool take_count(struct pvmd_link *l, uint32_t count)
{
    return !pvmd_flow_counted(l, count) || link_lost(l, "it miscounts our frames");
}

/* The master passes on a frame between two slaves that cannot reach each other. */
static void forward_detour(const struct pvmd_host *from, struct pvmc_frame *f)
{
    struct pvmd_host *to = pvmd_host_by_index(pvmd_detour_host(f->h.detour));
    if (!to || to == pvmd_host_self())
        return;
    f->h.detour = pvmd_detour_from(f->h.detour, from->index);
    pvmd_link_send(to, f);
}

/* Such a frame has come from the master. It belongs to the link of the two slaves, which counts it. */
static void receive_detour(struct pvmc_frame *f)
{
    struct pvmd_host *from = pvmd_host_by_index(pvmd_detour_host(f->h.detour));
    if (!from || !from->link || !pvmd_flow_is_next(from->link, f))
        return;
    pvmd_flow_received(from->link, pvmd_detour_is_asked(f->h.detour));
    pvmd_relay(f, from->index);
}

static void stream_frame(void *owner, struct pvmc_frame *f, uint32_t count, bool asked)
{
    struct pvmd_link *l = owner;
    if (l->state != PVMD_LINK_UP || !take_count(l, count))
        return;
    pvmd_flow_received(l, asked);
    if (!f->h.detour)
        pvmd_relay(f, l->host->index); /* may end the link */
    else if (pvmd_is_master())
        forward_detour(l->host, f);
    else if (l->host->index == pvmd.master_index) /* else by a former master: it is sent again */
        receive_detour(f);
}

static void stream_writable(void *owner)
{
    pvmd_flow_mark(owner);
}

static void stream_ready(void *owner)
{
    struct pvmd_link *l = owner;
    pvmd_stream_signal(l->stream, PVMD_SIGNAL_HELLO, l->received);
    pvmd_stream_flush(l->stream);
}

/* Announces the address that worked. Slaves learn the master's address only from its call, which may break at once. */
static void learn_address(struct pvmd_link *l, int fd)
{
    struct sockaddr_storage raw;
    socklen_t size = sizeof raw;
    union pvmw_address a;
    char ip[PVMW_ADDRESS_TEXT];
    if (getpeername(fd, (struct sockaddr *)&raw, &size) || pvmw_address_from((struct sockaddr *)&raw, &a))
        return;
    pvmw_address_ip(&a, ip, sizeof ip);
    pvmd_host_set_text(&l->host->address, ip);
}

/* ---- rest ---- */

/*
 * Whether two slaves may do without their connection for now: nothing waits here, as far as we know nothing is under
 * way, and we can call when there is something again.
 */
static bool may_rest(struct pvmd_link *l)
{
    return l->state == PVMD_LINK_UP && !is_to_or_from_master(l) && has_master() && !pvmd_virtual_is_watched() &&
           !pvmw_window_count(&l->window) && !pvmd_queue_first(&l->queue) && l->told == l->received && may_call(l);
}

/* The other side asks us to close the connection, which it has not used for long. */
static void rest(struct pvmd_link *l)
{
    if (!may_rest(l))
        return;
    drop_connection(l);
    enter(l, PVMD_LINK_IDLE);
}

static void open_link(struct pvmd_link *l);

/* The other side has closed the connection, as we have asked it to; but we have had frames since then. */
static void rested(struct pvmd_link *l)
{
    enter(l, PVMD_LINK_IDLE);
    if (pvmw_window_count(&l->window) || pvmd_queue_first(&l->queue))
        open_link(l);
}

static bool is_used(const struct pvmd_link *l)
{
    return l->window.end != l->end_at_look || l->received != l->received_at_look || pvmd_queue_first(&l->queue);
}

void pvmd_link_look_idle(struct pvmd_host *host, int64_t now_us)
{
    struct pvmd_link *l = host->link;
    int64_t limit_us = pvmc_config_us(PVMC_SETTING_LINK_IDLE);
    if (is_used(l) || !l->idle_since_us) {
        l->resting = l->resting && l->received == l->received_at_look; /* else the other side needs the connection */
        l->idle_since_us = now_us;
        l->end_at_look = l->window.end;
        l->received_at_look = l->received;
    } else if (limit_us && now_us - l->idle_since_us >= limit_us && may_rest(l)) {
        l->resting = true;
        l->idle_since_us = now_us; /* before we ask again */
        pvmd_stream_signal(l->stream, PVMD_SIGNAL_REST, l->received);
        pvmd_stream_flush(l->stream);
    }
}

static void stream_hello(struct pvmd_link *l, uint32_t count)
{
    if (l->state == PVMD_LINK_UP || pvmw_window_acknowledge(&l->window, count, l->window.end)) {
        link_lost(l, "it does not follow the protocol");
        return;
    }
    bool is_of_use = l->state == PVMD_LINK_OPENING || l->window.first != l->first_up;
    pvmc_failpoint(PVMC_FAILPOINT_LINK_HELLO);
    pvmd_flow_restart(l);
    l->epoch = (l->caller_epoch > l->epoch ? l->caller_epoch : l->epoch) + 1;
    l->is_of_use = is_of_use;
    l->first_up = l->window.first;
    l->before_up_us = l->proven_us;
    l->proven_us = pvmc_clock_us();
    enter(l, PVMD_LINK_UP);
    l->has_called = l->has_called || l->stream_is_call;
    l->idle_since_us = 0;
    if (l->stream_is_call)
        learn_address(l, pvmd_stream_fd(l->stream));
    pvmd_flow_mark(l);
    pvmc_failpoint_done(PVMC_FAILPOINT_LINK_HELLO);
    pvmd_tell_link_up(l->host->index);
}

static void stream_signal(void *owner, enum pvmd_signal signal, uint32_t count)
{
    struct pvmd_link *l = owner;
    if (signal == PVMD_SIGNAL_HELLO) {
        stream_hello(l, count);
        return;
    }
    if (l->state != PVMD_LINK_UP || !take_count(l, count))
        return;
    if (signal == PVMD_SIGNAL_PING) {
        l->told = l->received;
        pvmd_stream_signal(l->stream, PVMD_SIGNAL_PONG, l->received);
        pvmd_stream_flush(l->stream);
    } else if (signal == PVMD_SIGNAL_BYE) {
        l->goodbye = true;
    } else if (signal == PVMD_SIGNAL_REST) {
        rest(l);
    }
}

static void stream_down(void *owner, const char *why)
{
    struct pvmd_link *l = owner;
    drop_connection(l);
    if (l->resting && !l->goodbye && has_master() && !is_to_or_from_master(l))
        rested(l);
    else if (l->state == PVMD_LINK_UP)
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

static void doubt(struct pvmd_link *l)
{
    if (ev_is_active(&l->tick))
        return;
    l->called_us = pvmc_clock_us();
    pvmd_link_ping(l->host);
    start_ticks(l);
}

/*
 * Whether the other side may have accepted our own call. On a link that was up, an earlier one may be on a path that
 * works one way only; on a new one, both sides would drop their calls for each other's.
 */
static bool is_calling(const struct pvmd_link *l)
{
    if (l->stream || !l->dial)
        return l->stream && l->stream_is_call;
    return l->state == PVMD_LINK_OPENING || pvmd_dial_has_asked(l->dial);
}

/*
 * The master's daemon was killed and has been started again, with the machine's journal: it is a host under a new
 * index, with the incarnation of the old one.
 */
static bool is_returning_master(const struct pvmd_preface *p)
{
    const struct pvmd_host *master = pvmd_host_any(pvmd.master_index);
    return master && !pvmd_is_master() && !pvmd_host_any(p->from_index) && master->incarnation == p->from_incarnation &&
           (master->lost || master->link);
}

/* Its call may be the first news of the old one. NULL: not now; it will call again. */
static struct pvmd_host *take_master_back(const struct pvmd_preface *p)
{
    struct pvmd_host *master = pvmd_host_any(pvmd.master_index);
    if (!master->lost && master->link) {
        master->link->dead = true;
        link_lost(master->link, "its daemon has been started again");
    }
    if (!master->lost)
        return NULL;
    struct pvmd_host *h = pvmd_host_new(p->from_index, p->from_incarnation, master->name);
    if (!h)
        return NULL;
    master->incarnation = 0;
    pvmd_host_set_state(h, PVMD_HOST_JOINING);
    return h;
}

enum pvmd_verdict pvmd_link_offered(const struct pvmd_preface *p)
{
    const struct pvmd_host *host = pvmd_host_any(p->from_index);
    if (p->to_index != pvmd.host_index || p->to_incarnation != pvmd_host_self()->incarnation)
        return PVMD_VERDICT_WRONG;
    if (is_returning_master(p))
        return PVMD_VERDICT_GO;
    if (!host || host->incarnation != p->from_incarnation || host->state == PVMD_HOST_LEAVING || host->lost ||
        host == pvmd_host_self())
        return pvmd_is_master() ? PVMD_VERDICT_OUT : PVMD_VERDICT_WRONG;
    const struct pvmd_link *l = host->link;
    if (!l)
        return PVMD_VERDICT_GO;
    if (l->state == PVMD_LINK_RELAYED) /* which leads nowhere without a master, or if the other side is the new one */
        return has_master() && !is_to_or_from_master(l) ? PVMD_VERDICT_RELAYED : PVMD_VERDICT_GO;
    if (l->state == PVMD_LINK_UP && p->epoch >= l->epoch) /* the caller lost the current connection before we did */
        return PVMD_VERDICT_GO;
    if (l->state != PVMD_LINK_UP && (!is_calling(l) || pvmd.host_index > p->from_index))
        return PVMD_VERDICT_GO;
    return PVMD_VERDICT_CROSSED;
}

void pvmd_link_crossed(const struct pvmd_preface *p)
{
    struct pvmd_link *l = pvmd_host_any(p->from_index)->link;
    if (l->state == PVMD_LINK_UP)
        doubt(l);
}

void pvmd_link_accepted(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES])
{
    struct pvmd_host *host = is_returning_master(p) ? take_master_back(p) : pvmd_host_any(p->from_index);
    struct pvmd_link *l = host ? link_of(host) : NULL;
    if (!l) {
        close(fd);
        return;
    }
    drop_connection(l);
    enter(l, l->state == PVMD_LINK_IDLE || l->state == PVMD_LINK_OPENING ? PVMD_LINK_OPENING : PVMD_LINK_LOST);
    if (host->index == pvmd.master_index)
        learn_address(l, fd);
    begin_stream(l, fd, false, key, p->epoch);
}

/* ---- for the layers above ---- */

/* The other side of a link that was at rest is there: calls go on for as long as if the connection had stayed. */
static void open_link(struct pvmd_link *l)
{
    if (!may_call(l)) {
        relay_without_call(l);
        return;
    }
    l->proven_us = pvmc_clock_us();
    enter(l, l->has_called ? PVMD_LINK_LOST : PVMD_LINK_OPENING);
    call(l);
}

void pvmd_link_send(struct pvmd_host *host, struct pvmc_frame *f)
{
    struct pvmd_link *l = link_of(host);
    bool may_call = l && !is_to_or_from_master(l) && !host->lost; /* else the master calls, or nobody */
    if (l && !pvmd_flow_put(l, f) && l->state == PVMD_LINK_IDLE && may_call)
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
        pvmd_flow_flush(l);
        if (pvmd.ending)
            pvmd_stream_signal(l->stream, PVMD_SIGNAL_BYE, l->received);
        pvmd_stream_flush(l->stream);
    }
    if (l->stream) /* the kernel delivers what is sent */
        pvmd_stream_close(l->stream);
    l->stream = NULL;
    drop_connection(l);
    ev_timer_stop(pvmd.loop, &l->tick);
    pvmd_flow_clear(l);
    pvmd_linked_remove(host->index);
    free(l);
    host->link = NULL;
}

bool pvmd_link_is_proven(const struct pvmd_host *host)
{
    const struct pvmd_link *l = host->link;
    int64_t silent_us = l ? pvmc_clock_us() - proven_us(l) : 0;
    return l && (l->dead || l->goodbye) && silent_us < pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT);
}

bool pvmd_link_is_out(const struct pvmd_host *master)
{
    return master->link && master->link->out;
}

void pvmd_link_reopen(struct pvmd_host *host)
{
    struct pvmd_link *l = link_of(host);
    if (!l || l->state == PVMD_LINK_UP || l->dial || l->stream)
        return;
    l->proven_us = pvmc_clock_us();
    enter(l, PVMD_LINK_LOST);
    call(l);
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

bool pvmd_link_look(struct pvmd_host *host)
{
    look_at_stream(host->link);
    return pvmd_stream_is_quiet(host->link->stream);
}

int64_t pvmd_link_proven_us(const struct pvmd_host *host)
{
    return proven_us(host->link);
}

bool pvmd_link_is_busy(const struct pvmd_host *host)
{
    return host->link && (pvmw_window_count(&host->link->window) || pvmd_queue_first(&host->link->queue));
}

bool pvmd_link_has_kept(const struct pvmd_host *host)
{
    return pvmw_window_count(&host->link->window) > 0;
}

void pvmd_link_ask_again(struct pvmd_host *host)
{
    pvmd_flow_ask_again(host->link);
}

int64_t pvmd_link_useful_us(const struct pvmd_host *host)
{
    return useful_us(host->link);
}

void pvmd_link_forgive(struct pvmd_host *host, int64_t us)
{
    struct pvmd_link *l = host->link;
    int64_t silence_us = us - proven_us(l);
    if (silence_us <= 0)
        return;
    l->proven_us = us;
    l->before_up_us += silence_us;
}

void pvmd_link_ping(struct pvmd_host *host)
{
    pvmd_stream_signal(host->link->stream, PVMD_SIGNAL_PING, host->link->received);
    pvmd_stream_flush(host->link->stream);
}

void pvmd_link_stuck(struct pvmd_host *host, const char *why)
{
    torn(host->link, why);
}

void pvmd_link_silent(struct pvmd_host *host, const char *why)
{
    link_lost(host->link, why);
}

bool pvmd_link_look_at(const struct pvmd_host *host, struct pvmd_link_figures *figures)
{
    const struct pvmd_link *l = host->link;
    if (!l || l->state == PVMD_LINK_IDLE)
        return false;
    *figures = (struct pvmd_link_figures){
        .state = l->state, .queue_bytes = l->queue.bytes, .kept_frames = pvmw_window_count(&l->window)};
    return true;
}

int pvmd_link_fd(const struct pvmd_host *host)
{
    return pvmd_link_state(host) == PVMD_LINK_UP ? pvmd_stream_fd(host->link->stream) : -1;
}
