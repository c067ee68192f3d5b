/* session.c - the life of a reliable channel. */
#include "session.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "endpoint.h"
#include "hello.h"

enum {
    PAUSE_FIRST_US = 2000, /* between hellos; doubled each time */
    PAUSE_LAST_US = 200000,
    LEAVE_US = 1000000, /* time after which a peer that said bye no longer acknowledges */
};

int dpi_session_room(const struct dpi_endpoint *e)
{
    return dpi_port_room(&e->port) - PVMW_RELIABLE_HEADER_BYTES;
}

/* ---- the list of active sessions, and when they are due ---- */

static void note_due(struct dpi_endpoint *e, int64_t us)
{
    if (us < e->sessions.due_us)
        e->sessions.due_us = us;
}

static void note_session(struct dpi_session *s)
{
    if (s->asks)
        note_due(s->e, s->ask_us);
    if (s->r)
        note_due(s->e, pvmw_reliable_due_us(s->r));
}

static void enlist(struct dpi_session *s)
{
    struct dpi_sessions *all = &s->e->sessions;
    if (s->at)
        return;
    s->after = all->active;
    s->at = &all->active;
    if (s->after)
        s->after->at = &s->after;
    all->active = s;
    all->count++;
}

static void delist(struct dpi_session *s)
{
    if (!s->at)
        return;
    *s->at = s->after;
    if (s->after)
        s->after->at = s->at;
    s->at = NULL;
    s->e->sessions.count--;
    if (s->e->sessions.touched == s)
        s->e->sessions.touched = NULL;
}

/* ---- start and end ---- */

static uint32_t draw(void)
{
    uint32_t number = 0;
    while (!number && getrandom(&number, sizeof number, 0) != sizeof number)
        ;
    return number ? number : 1;
}

static struct dpi_session *session_of(struct dpi_endpoint *e, struct dpi_peer *p)
{
    if (!p->session && (p->session = calloc(1, sizeof *p->session))) {
        p->session->e = e;
        p->session->peer = p;
    }
    return p->session;
}

void dpi_session_count(const struct dpi_session *s, dpstats_t *all)
{
    const struct pvmw_reliable_counters *c = pvmw_reliable_counters(s->r);
    all->packets_sent += c->packets_sent;
    all->packets_again += c->resent;
    all->acks_sent += c->acks_sent;
    all->duplicates += c->duplicates;
}

/* Unacknowledged messages are freed, too. */
static void drop_connection(struct dpi_session *s)
{
    if (!s->r)
        return;
    dpi_session_count(s, &s->e->counts);
    pvmw_reliable_free(s->r);
    s->r = NULL;
    s->own = s->other = 0;
    s->leaves = s->parted = false;
    while (s->queued)
        dpi_sendbuf_free(s->e, dpi_sendbuf_pop(s));
}

static void end(struct dpi_session *s)
{
    drop_connection(s);
    while (s->queued)
        dpi_sendbuf_free(s->e, dpi_sendbuf_pop(s));
    delist(s);
}

static void declare_dead(struct dpi_session *s)
{
    end(s);
    s->asks = false;
    s->next_own = s->next_other = 0;
    s->dead = true;
    s->e->sessions.died = true;
}

void dpi_session_free(struct dpi_session *s)
{
    if (!s)
        return;
    end(s);
    free(s);
}

/* ---- hellos ---- */

static void say(struct dpi_session *s, uint32_t own, uint32_t yours, uint8_t flags)
{
    struct dpi_hello h = {own, yours, flags | (s->e->mode == DP_GO_BACK_N ? DPI_HELLO_BACK_N : 0)};
    dpi_hello_say(s->e, s->peer, &h);
}

static void ask(struct dpi_session *s, int64_t now_us)
{
    if (!s->peer->resolved)
        dpi_peer_resolve(s->e, s->peer, now_us);
    say(s, s->next_own, 0, DPI_HELLO_ASKS);
    s->ask_us = now_us + s->pause_us;
    s->pause_us = s->pause_us * 2 < PAUSE_LAST_US ? s->pause_us * 2 : PAUSE_LAST_US;
    note_session(s);
}

static void start_asking(struct dpi_session *s, int64_t now_us)
{
    s->asks = true;
    if (!s->next_own)
        s->next_own = draw();
    s->pause_us = PAUSE_FIRST_US;
    s->give_up_us = now_us + pvmc_config_us(PVMC_SETTING_DP_TIMEOUT);
    enlist(s);
    ask(s, now_us);
}

/* The next connection, `r`, is proven: it replaces the current one. */
static void promote(struct dpi_session *s, struct pvmw_reliable *r, int64_t now_us)
{
    s->peer->strange = false;
    s->reset |= s->r && s->queued;
    drop_connection(s);
    s->r = r;
    s->own = s->next_own;
    s->other = s->next_other;
    s->next_own = s->next_other = 0;
    s->asks = false;
    enlist(s);
    for (struct dpi_sendbuf *p = s->first, *next; p; p = next) {
        next = p->next;
        dpi_flow_send(s, p, now_us);
    }
    note_session(s);
}

static void answered(struct dpi_session *s, const struct dpi_hello *h, int64_t now_us)
{
    s->next_other = h->own;
    struct pvmw_reliable *r = dpi_flow_new(s);
    if (r)
        promote(s, r, now_us);
}

/* Answers a hello. While our own hello is unanswered, we answer each incarnation of the peer with the same number. */
static void answer(struct dpi_session *s, const struct dpi_hello *h)
{
    if (s->r && h->own == s->other) {
        say(s, s->own, s->other, 0);
        return;
    }
    if (!s->next_own || (!s->asks && s->next_other && s->next_other != h->own))
        s->next_own = draw();
    s->next_other = h->own;
    say(s, s->next_own, h->own, 0);
}

static void take_bye(struct dpi_session *s, const struct dpi_hello *h)
{
    if (!s->r || h->own != s->other || h->yours != s->own)
        return;
    if (h->flags & DPI_HELLO_BYE_ACK) {
        s->parted = true;
        return;
    }
    if (!s->leaves)
        s->give_up_us = pvmc_clock_us() + LEAVE_US;
    s->leaves = true;
    if (!s->queued)
        say(s, s->own, s->other, DPI_HELLO_BYE | DPI_HELLO_BYE_ACK);
}

static bool take_hello(struct dpi_endpoint *e, const uint8_t *frame, const struct dpi_message *m, int64_t now_us)
{
    struct dpi_hello h;
    if (!dpi_hello_read(frame, m, &h) || !(h.flags & DPI_HELLO_BACK_N) != (e->mode != DP_GO_BACK_N))
        return false;
    struct dpi_peer *p = h.flags & DPI_HELLO_ASKS ? dpi_peer_meet(e, m->from) : dpi_peer_find(e, m->from);
    struct dpi_session *s = p ? session_of(e, p) : NULL;
    if (!s)
        return false;
    if (!p->resolved)
        dpi_peer_resolve(e, p, now_us);
    if (h.flags & DPI_HELLO_BYE)
        take_bye(s, &h);
    else if (h.flags & DPI_HELLO_ASKS)
        answer(s, &h);
    else if (s->asks && h.yours == s->next_own)
        answered(s, &h, now_us);
    return true;
}

/* ---- packets ---- */

/* The first packet of the next connection. */
static bool take_first(struct dpi_session *s, const uint8_t *packet, size_t length, int64_t now_us)
{
    struct pvmw_reliable *r = dpi_flow_new(s);
    if (!r)
        return false;
    if (!dpi_flow_take(s, r, packet, length, now_us)) {
        pvmw_reliable_free(r);
        return false;
    }
    promote(s, r, now_us);
    return true;
}

static bool take_packet(struct dpi_session *s, const uint8_t *packet, size_t length, int64_t now_us)
{
    if (s->r && dpi_flow_take(s, s->r, packet, length, now_us))
        return true;
    return s->next_own && s->next_other && take_first(s, packet, length, now_us);
}

bool dpi_session_take(struct dpi_endpoint *e, const uint8_t *frame, const struct dpi_message *m, int64_t now_us)
{
    if (m->kind == DPI_HELLO)
        return take_hello(e, frame, m, now_us);
    struct dpi_peer *p =
        e->target && !memcmp(&e->target->point, &m->from, sizeof m->from) ? e->target : dpi_peer_find(e, m->from);
    struct dpi_session *s = p ? p->session : NULL;
    if (!s || !take_packet(s, frame + DPI_HEADERS_BYTES, m->length, now_us))
        return false;
    if (e->sessions.touched != s)
        dpi_session_settle(e, now_us);
    e->sessions.touched = s;
    return true;
}

static void work(struct dpi_session *s, int64_t now_us)
{
    if ((s->asks || (s->leaves && s->queued)) && now_us >= s->give_up_us) {
        declare_dead(s);
        return;
    }
    if (s->asks && now_us >= s->ask_us)
        ask(s, now_us);
    if (s->r && !dpi_flow_work(s, now_us))
        declare_dead(s);
    else
        note_session(s);
}

void dpi_session_settle(struct dpi_endpoint *e, int64_t now_us)
{
    struct dpi_session *s = e->sessions.touched;
    e->sessions.touched = NULL;
    if (s)
        work(s, now_us);
}

void dpi_session_tick(struct dpi_endpoint *e, int64_t now_us)
{
    if (now_us < e->sessions.due_us)
        return;
    e->sessions.due_us = PVMW_RELIABLE_NEVER;
    for (struct dpi_session *s = e->sessions.active, *after; s; s = after) {
        after = s->after;
        work(s, now_us);
    }
}

void dpi_session_feed(struct dpi_endpoint *e)
{
    e->sessions.starved = false;
    e->sessions.due_us = 0;
    dpi_session_tick(e, pvmc_clock_us());
    dpi_outbox_flush(e);
}

void dpi_session_acknowledge(struct dpi_endpoint *e, int64_t now_us)
{
    for (struct dpi_session *s = e->sessions.active; s; s = s->after)
        if (s->r)
            pvmw_reliable_acknowledge(s->r, now_us);
}

/* ---- for the calls ---- */

static int tell(struct dpi_session *s)
{
    int rc = s->dead ? PVMC_EUNREACHABLE : PVMC_ESHORT;
    s->dead = s->reset = false;
    return rc;
}

int dpi_session_write(struct dpi_endpoint *e, struct dpi_peer *peer, const void *data, uint32_t length, int64_t now_us)
{
    struct dpi_session *s = session_of(e, peer);
    if (!s)
        return PVMC_ENOMEM;
    if (s->dead || s->reset)
        return tell(s);
    if (s->leaves && !s->queued)
        drop_connection(s); /* the peer may have been opened again */
    if (s->queued >= dpi_flow_window(e))
        return PVMC_EAGAIN;
    struct dpi_sendbuf *p = dpi_sendbuf_new(e, data, length);
    if (!p)
        return PVMC_ENOMEM;
    dpi_sendbuf_push(s, p);
    if (s->r) {
        dpi_flow_send(s, p, now_us);
        note_session(s);
    } else if (!s->asks) {
        start_asking(s, now_us);
    }
    return 0;
}

unsigned dpi_session_pending(const struct dpi_endpoint *e)
{
    unsigned n = 0;
    for (const struct dpi_session *s = e->sessions.active; s; s = s->after)
        n += s->queued;
    return n;
}

bool dpi_session_say_bye(struct dpi_endpoint *e, int64_t now_us)
{
    bool waits = false;
    dpi_session_acknowledge(e, now_us);
    for (struct dpi_session *s = e->sessions.active; s; s = s->after) {
        if (!s->r || s->parted)
            continue;
        say(s, s->own, s->other, DPI_HELLO_BYE);
        waits |= !s->leaves;
    }
    return waits;
}
