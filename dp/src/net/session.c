/* session.c - the life of a reliable channel. */
#include "session.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "../core/clock.h"
#include "../core/config.h"
#include "../core/error.h"
#include "endpoint.h"
#include "hello.h"

enum {
    PAUSE_FIRST_US = 2000, /* between hellos; doubles */
    PAUSE_LAST_US = 200000,
    LEAVE_US = 1000000, /* what a peer that said bye has not acknowledged after this time it never will */
};

int pvmi_session_room(const struct pvmi_endpoint *e)
{
    return pvmi_dp_port_room(&e->port) - PVMI_RELIABLE_HEADER_BYTES;
}

/* ---- the list of active sessions, and when they are due ---- */

static void note_due(struct pvmi_endpoint *e, int64_t us)
{
    if (us < e->sessions.due_us)
        e->sessions.due_us = us;
}

static void note_session(struct pvmi_session *s)
{
    if (s->asks)
        note_due(s->e, s->ask_us);
    if (s->r)
        note_due(s->e, pvmi_reliable_due_us(s->r));
}

static void enlist(struct pvmi_session *s)
{
    struct pvmi_sessions *all = &s->e->sessions;
    if (s->at)
        return;
    s->after = all->active;
    s->at = &all->active;
    if (s->after)
        s->after->at = &s->after;
    all->active = s;
    all->count++;
}

static void delist(struct pvmi_session *s)
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

/* ---- beginning and end ---- */

static uint32_t draw(void)
{
    uint32_t number = 0;
    while (!number && getrandom(&number, sizeof number, 0) != sizeof number)
        ;
    return number ? number : 1;
}

static struct pvmi_session *session_of(struct pvmi_endpoint *e, struct pvmi_peer *p)
{
    if (!p->session && (p->session = calloc(1, sizeof *p->session))) {
        p->session->e = e;
        p->session->peer = p;
    }
    return p->session;
}

void pvmi_session_count(const struct pvmi_session *s, dpstats_t *all)
{
    const struct pvmi_reliable_counters *c = pvmi_reliable_counters(s->r);
    all->packets_sent += c->packets_sent;
    all->packets_again += c->resent;
    all->acks_sent += c->acks_sent;
    all->duplicates += c->duplicates;
}

/* With what has not been acknowledged. */
static void drop_connection(struct pvmi_session *s)
{
    if (!s->r)
        return;
    pvmi_session_count(s, &s->e->counts);
    pvmi_reliable_free(s->r);
    s->r = NULL;
    s->own = s->other = 0;
    s->leaves = s->parted = false;
    while (s->queued)
        pvmi_parcel_free(s->e, pvmi_parcel_pop(s));
}

static void end(struct pvmi_session *s)
{
    drop_connection(s);
    while (s->queued)
        pvmi_parcel_free(s->e, pvmi_parcel_pop(s));
    delist(s);
}

static void declare_dead(struct pvmi_session *s)
{
    end(s);
    s->asks = false;
    s->next_own = s->next_other = 0;
    s->dead = true;
    s->e->sessions.died = true;
}

void pvmi_session_free(struct pvmi_session *s)
{
    if (!s)
        return;
    end(s);
    free(s);
}

/* ---- hellos ---- */

static void say(struct pvmi_session *s, uint32_t own, uint32_t yours, uint8_t flags)
{
    struct pvmi_hello h = {own, yours, flags | (s->e->mode == DP_GO_BACK_N ? PVMI_HELLO_BACK_N : 0)};
    pvmi_hello_say(s->e, s->peer, &h);
}

static void ask(struct pvmi_session *s, int64_t now_us)
{
    if (!s->peer->resolved)
        pvmi_peer_resolve(s->e, s->peer, now_us);
    say(s, s->next_own, 0, PVMI_HELLO_ASKS);
    s->ask_us = now_us + s->pause_us;
    s->pause_us = s->pause_us * 2 < PAUSE_LAST_US ? s->pause_us * 2 : PAUSE_LAST_US;
    note_session(s);
}

static void start_asking(struct pvmi_session *s, int64_t now_us)
{
    s->asks = true;
    if (!s->next_own)
        s->next_own = draw();
    s->pause_us = PAUSE_FIRST_US;
    s->give_up_us = now_us + pvmi_config_us(PVMI_SETTING_DP_TIMEOUT);
    enlist(s);
    ask(s, now_us);
}

/* The next connection is real: it takes the place of the last one. `r` is it. */
static void promote(struct pvmi_session *s, struct pvmi_reliable *r, int64_t now_us)
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
    for (struct pvmi_parcel *p = s->first, *next; p; p = next) {
        next = p->next;
        pvmi_flow_send(s, p, now_us);
    }
    note_session(s);
}

static void answered(struct pvmi_session *s, const struct pvmi_hello *h, int64_t now_us)
{
    s->next_other = h->own;
    struct pvmi_reliable *r = pvmi_flow_new(s);
    if (r)
        promote(s, r, now_us);
}

/* A peer asks. While we ask ourselves, our number is the answer to every one of its lives. */
static void answer(struct pvmi_session *s, const struct pvmi_hello *h)
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

static void part(struct pvmi_session *s, const struct pvmi_hello *h)
{
    if (!s->r || h->own != s->other || h->yours != s->own)
        return;
    if (h->flags & PVMI_HELLO_FAREWELL) {
        s->parted = true;
        return;
    }
    if (!s->leaves)
        s->give_up_us = pvmi_clock_us() + LEAVE_US;
    s->leaves = true;
    if (!s->queued)
        say(s, s->own, s->other, PVMI_HELLO_BYE | PVMI_HELLO_FAREWELL);
}

static bool take_hello(struct pvmi_endpoint *e, const uint8_t *frame, const struct pvmi_dp_message *m, int64_t now_us)
{
    struct pvmi_hello h;
    if (!pvmi_hello_read(frame, m, &h) || !(h.flags & PVMI_HELLO_BACK_N) != (e->mode != DP_GO_BACK_N))
        return false;
    struct pvmi_peer *p = h.flags & PVMI_HELLO_ASKS ? pvmi_peer_meet(e, m->from) : pvmi_peer_find(e, m->from);
    struct pvmi_session *s = p ? session_of(e, p) : NULL;
    if (!s)
        return false;
    if (!p->resolved)
        pvmi_peer_resolve(e, p, now_us);
    if (h.flags & PVMI_HELLO_BYE)
        part(s, &h);
    else if (h.flags & PVMI_HELLO_ASKS)
        answer(s, &h);
    else if (s->asks && h.yours == s->next_own)
        answered(s, &h, now_us);
    return true;
}

/* ---- packets ---- */

/* The first packet of the connection to be. */
static bool take_first(struct pvmi_session *s, const uint8_t *packet, size_t length, int64_t now_us)
{
    struct pvmi_reliable *r = pvmi_flow_new(s);
    if (!r)
        return false;
    if (!pvmi_flow_take(s, r, packet, length, now_us)) {
        pvmi_reliable_free(r);
        return false;
    }
    promote(s, r, now_us);
    return true;
}

static bool take_packet(struct pvmi_session *s, const uint8_t *packet, size_t length, int64_t now_us)
{
    if (s->r && pvmi_flow_take(s, s->r, packet, length, now_us))
        return true;
    return s->next_own && s->next_other && take_first(s, packet, length, now_us);
}

bool pvmi_session_take(struct pvmi_endpoint *e, const uint8_t *frame, const struct pvmi_dp_message *m, int64_t now_us)
{
    if (m->kind == PVMI_DP_HELLO)
        return take_hello(e, frame, m, now_us);
    struct pvmi_peer *p =
        e->target && !memcmp(&e->target->point, &m->from, sizeof m->from) ? e->target : pvmi_peer_find(e, m->from);
    struct pvmi_session *s = p ? p->session : NULL;
    if (!s || !take_packet(s, frame + PVMI_DP_HEADERS_BYTES, m->length, now_us))
        return false;
    if (e->sessions.touched != s)
        pvmi_session_settle(e, now_us);
    e->sessions.touched = s;
    return true;
}

static void work(struct pvmi_session *s, int64_t now_us)
{
    if ((s->asks || (s->leaves && s->queued)) && now_us >= s->give_up_us) {
        declare_dead(s);
        return;
    }
    if (s->asks && now_us >= s->ask_us)
        ask(s, now_us);
    if (s->r && !pvmi_flow_work(s, now_us))
        declare_dead(s);
    else
        note_session(s);
}

void pvmi_session_settle(struct pvmi_endpoint *e, int64_t now_us)
{
    struct pvmi_session *s = e->sessions.touched;
    e->sessions.touched = NULL;
    if (s)
        work(s, now_us);
}

void pvmi_session_tick(struct pvmi_endpoint *e, int64_t now_us)
{
    if (now_us < e->sessions.due_us)
        return;
    e->sessions.due_us = PVMI_RELIABLE_NEVER;
    for (struct pvmi_session *s = e->sessions.active, *after; s; s = after) {
        after = s->after;
        work(s, now_us);
    }
}

void pvmi_session_feed(struct pvmi_endpoint *e)
{
    e->sessions.starved = false;
    e->sessions.due_us = 0;
    pvmi_session_tick(e, pvmi_clock_us());
    pvmi_outbox_flush(e);
}

void pvmi_session_acknowledge(struct pvmi_endpoint *e, int64_t now_us)
{
    for (struct pvmi_session *s = e->sessions.active; s; s = s->after)
        if (s->r)
            pvmi_reliable_acknowledge(s->r, now_us);
}

/* ---- what the calls ask for ---- */

static int tell(struct pvmi_session *s)
{
    int rc = s->dead ? PVMI_EUNREACHABLE : PVMI_ESHORT;
    s->dead = s->reset = false;
    return rc;
}

int pvmi_session_write(struct pvmi_endpoint *e, struct pvmi_peer *peer, const void *data, uint32_t length,
                       int64_t now_us)
{
    struct pvmi_session *s = session_of(e, peer);
    if (!s)
        return PVMI_ENOMEM;
    if (s->dead || s->reset)
        return tell(s);
    if (s->leaves && !s->queued)
        drop_connection(s); /* it may have been opened anew */
    if (s->queued >= pvmi_flow_window(e))
        return PVMI_EAGAIN;
    struct pvmi_parcel *p = pvmi_parcel_new(e, data, length);
    if (!p)
        return PVMI_ENOMEM;
    pvmi_parcel_push(s, p);
    if (s->r) {
        pvmi_flow_send(s, p, now_us);
        note_session(s);
    } else if (!s->asks) {
        start_asking(s, now_us);
    }
    return 0;
}

unsigned pvmi_session_pending(const struct pvmi_endpoint *e)
{
    unsigned n = 0;
    for (const struct pvmi_session *s = e->sessions.active; s; s = s->after)
        n += s->queued;
    return n;
}

bool pvmi_session_part(struct pvmi_endpoint *e, int64_t now_us)
{
    bool waits = false;
    pvmi_session_acknowledge(e, now_us);
    for (struct pvmi_session *s = e->sessions.active; s; s = s->after) {
        if (!s->r || s->parted)
            continue;
        say(s, s->own, s->other, PVMI_HELLO_BYE);
        waits |= !s->leaves;
    }
    return waits;
}
