/*
 * dial.c - the joining side. It tries the addresses of an offer one after the other: the next one when one has failed
 * or NEXT_US have passed, so that a silent address delays little. The first to send a welcome wins. An address gets the
 * hello only once it is connected, so usually only one receives the ticket.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "tcp.h"

#define NEXT_US 100000

enum attempt_state {
    ATTEMPT_UNTRIED,
    ATTEMPT_CONNECTING,
    ATTEMPT_TLS,
    ATTEMPT_ASKED, /* the hello is sent, the welcome is due */
    ATTEMPT_FAILED,
};

struct tcp_attempt {
    struct tcp_watch watch;
    struct tcp_dial *dial;
    enum attempt_state state;
    bool encrypted;  /* TLS follows the hello */
    const char *why; /* the reason of its failure */
    char tls_error[160];
    struct pvmw_tls *tls;
    uint8_t welcome[PVMT_TCP_WELCOME_BYTES];
    size_t have;
};

struct tcp_dial {
    struct tcp_link *link; /* NULL: over */
    uint8_t host[PVMT_TCP_HOST_BYTES];
    enum pvmt_tcp_tls_mode mode; /* the offering side's setting */
    struct pvmt_tcp_candidates candidates;
    struct tcp_attempt attempts[PVMT_TCP_CANDIDATES_MAX]; /* one per candidate */
    unsigned next;                                        /* candidate */
    unsigned live;                                        /* attempts in progress */
    int64_t next_us;                                      /* when the next candidate is tried in any case */
    int reason;                                           /* the reason that down() reports if all fail */
    struct tcp_dial *next_spent;
};

static struct tcp_transport *transport_of(const struct tcp_dial *d)
{
    return (struct tcp_transport *)d->link->base.transport;
}

/* ---- remembered addresses ---- */

static struct tcp_remembered *recall(struct tcp_transport *t, const uint8_t host[PVMT_TCP_HOST_BYTES])
{
    for (unsigned i = 0; i < TCP_REMEMBERED_MAX; i++)
        if (t->remembered[i].address.any.sa_family && !memcmp(t->remembered[i].host, host, PVMT_TCP_HOST_BYTES))
            return &t->remembered[i];
    return NULL;
}

static void remember(struct tcp_transport *t, const struct tcp_dial *d, const union pvmw_address *a)
{
    struct tcp_remembered *r = recall(t, d->host);
    if (!r)
        r = &t->remembered[t->remembered_next++ % TCP_REMEMBERED_MAX];
    memcpy(r->host, d->host, sizeof r->host);
    r->address = *a;
}

/* The remembered address did not answer this time. */
static void forget(struct tcp_transport *t, const struct tcp_dial *d)
{
    struct tcp_remembered *r = recall(t, d->host);
    if (r)
        memset(r, 0, sizeof *r);
}

/* ---- the end of a dial ---- */

static void attempt_close(struct tcp_transport *t, struct tcp_attempt *a)
{
    if (a->watch.fd < 0)
        return;
    if (t->tls)
        t->tls->end(a->tls, false);
    a->tls = NULL;
    pvmt_tcp_unwatch(t, &a->watch);
}

/* Late events may still point to its attempts, so progress() frees it at the end. */
void pvmt_tcp_dial_drop(struct tcp_link *e)
{
    struct tcp_dial *d = e->dial;
    struct tcp_transport *t = transport_of(d);
    for (unsigned i = 0; i < d->candidates.count; i++)
        attempt_close(t, &d->attempts[i]);
    e->dial = NULL;
    t->dialing--;
    d->link = NULL;
    d->next_spent = t->spent;
    t->spent = d;
    if (!t->in_progress)
        pvmt_tcp_dial_free_spent(t);
}

void pvmt_tcp_dial_free_spent(struct tcp_transport *t)
{
    while (t->spent) {
        struct tcp_dial *d = t->spent;
        t->spent = d->next_spent;
        free(d);
    }
}

/*
 * Logs one line with all addresses and their failures. This is no warning, because the peer may have ended meanwhile.
 * If it has not, it learns that its offer was not joined, and warns.
 */
static void explain(const struct tcp_dial *d)
{
    char tried[800] = "", text[PVMW_ADDRESS_TEXT];
    size_t at = 0;
    for (unsigned i = 0; i < d->next && at < sizeof tried; i++) {
        const struct tcp_attempt *a = &d->attempts[i];
        at += (size_t)snprintf(tried + at, sizeof tried - at, "%s%s (%s)", i ? ", " : "",
                               pvmw_address_text(&d->candidates.list[i].address, text),
                               a->state == ATTEMPT_FAILED  ? a->why
                               : a->state == ATTEMPT_ASKED ? "no welcome"
                                                           : "no answer");
    }
    pvmc_log(PVMC_LOG_INFO, "no direct TCP link: tried %s; see PVM_TCP_IF and PVM_TCP_PORTS",
             *tried ? tried : "no address");
}

void pvmt_tcp_dial_cancel(struct tcp_link *e)
{
    forget((struct tcp_transport *)e->base.transport, e->dial);
    explain(e->dial);
}

/* ---- attempts ---- */

/* "Unreachable" says least, so any other reason replaces it. */
static void note_reason(struct tcp_dial *d, int reason)
{
    if (reason != PVMC_EUNREACHABLE || !d->reason)
        d->reason = reason;
}

static void start_next(struct tcp_dial *d);

static void attempt_fail(struct tcp_attempt *a, const char *why, int reason)
{
    struct tcp_dial *d = a->dial;
    attempt_close(transport_of(d), a);
    a->state = ATTEMPT_FAILED;
    a->why = why;
    note_reason(d, reason);
    d->live--;
    if (!d->live)
        start_next(d);
}

/* Starts to connect. 0 or an errno. */
static int attempt_connect(struct tcp_transport *t, struct tcp_attempt *a, const struct pvmt_tcp_candidate *c)
{
    int fd = pvmw_socket_connect(&c->address, c->bound ? &c->source : NULL, &t->settings.buffers);
    a->watch = (struct tcp_watch){.kind = TCP_ATTEMPT, .fd = fd < 0 ? -1 : fd};
    if (fd < 0)
        return -fd;
    return pvmt_tcp_watch(t, EPOLL_CTL_ADD, &a->watch, EPOLLOUT) ? errno : 0;
}

static bool must_encrypt(const struct tcp_attempt *a)
{
    const struct tcp_dial *d = a->dial;
    const struct tcp_transport *t = transport_of(d);
    const struct pvmt_tcp_candidate *c = &d->candidates.list[a - d->attempts];
    bool one_host = !memcmp(d->host, t->host, sizeof d->host);
    bool trusted = c->trusted && pvmt_tcp_secrecy_trusts(&t->settings.secrecy, &c->address);
    return pvmt_tcp_must_encrypt(t->settings.secrecy.mode, d->mode, one_host || trusted);
}

/* Whether the two sides' encryption settings allow a link to this address. */
static bool is_agreed(struct tcp_attempt *a)
{
    struct tcp_transport *t = transport_of(a->dial);
    enum pvmt_tcp_tls_mode own = t->settings.secrecy.mode, other = a->dial->mode;
    if (!a->encrypted)
        return true;
    if (own != PVMT_TCP_TLS_OFF && other != PVMT_TCP_TLS_OFF)
        return pvmt_tcp_need_tls(t);
    pvmc_log_once(
        PVMC_LOG_WARNING,
        "no direct TCP link, the daemons carry the messages: PVM_TCP_TLS is %s here and %s at the other task; "
        "set it for both",
        pvmt_tcp_tls_mode_text(own), pvmt_tcp_tls_mode_text(other));
    return false;
}

static void attempt_skip(struct tcp_attempt *a, const char *why, int reason)
{
    a->state = ATTEMPT_FAILED;
    a->why = why;
    note_reason(a->dial, reason);
}

/* Tries candidates until an attempt is in progress. */
static void start_next(struct tcp_dial *d)
{
    struct tcp_transport *t = transport_of(d);
    while (d->next < d->candidates.count) {
        struct tcp_attempt *a = &d->attempts[d->next++];
        a->encrypted = must_encrypt(a);
        if (!is_agreed(a)) {
            attempt_skip(a, "no encryption that both want", PVMC_EUNSUPPORTED);
            continue;
        }
        int failed = attempt_connect(t, a, &d->candidates.list[a - d->attempts]);
        d->next_us = pvmc_clock_us() + NEXT_US;
        if (!failed) {
            a->state = ATTEMPT_CONNECTING;
            d->live++;
            return;
        }
        attempt_close(t, a);
        attempt_skip(a, strerrordesc_np(failed), pvmt_tcp_error(failed));
    }
}

/* All candidates have failed. */
static void dial_fail(struct tcp_dial *d)
{
    int reason = d->reason ? d->reason : PVMC_EUNREACHABLE;
    forget(transport_of(d), d);
    explain(d);
    pvmt_tcp_link_down(d->link, reason);
}

/* The first welcome wins: the link takes over its connection and the other attempts end. */
static void attempt_win(struct tcp_attempt *a)
{
    struct tcp_dial *d = a->dial;
    struct tcp_link *e = d->link;
    struct tcp_watch watch = a->watch;
    struct pvmw_tls *tls = a->tls;
    a->watch.fd = -1;
    a->tls = NULL;
    remember(transport_of(d), d, &d->candidates.list[a - d->attempts].address);
    pvmt_tcp_dial_drop(e);
    pvmt_tcp_link_up(e, &watch, tls);
}

static void take_welcome(struct tcp_attempt *a)
{
    const struct tcp_transport *t = transport_of(a->dial);
    uint8_t *to = a->welcome + a->have;
    size_t want = sizeof a->welcome - a->have;
    ssize_t n = a->tls ? t->tls->read(a->tls, to, want) : recv(a->watch.fd, to, want, MSG_DONTWAIT);
    if (a->tls ? !n : n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        attempt_fail(a, "the ticket was refused", PVMC_EDENIED);
        return;
    }
    a->have += (size_t)n;
    if (a->have < sizeof a->welcome)
        return;
    if (pvmt_tcp_welcome_check(a->welcome, &a->dial->link->ticket, a->tls))
        attempt_fail(a, "not the task that offered", PVMC_EDENIED);
    else
        attempt_win(a);
}

static void go_on_with_tls(struct tcp_attempt *a)
{
    const struct tcp_transport *t = transport_of(a->dial);
    int rc = t->tls->handshake(a->tls);
    if (rc < 0) {
        snprintf(a->tls_error, sizeof a->tls_error, "%s", t->tls->error(a->tls));
        attempt_fail(a, a->tls_error, PVMC_EDENIED);
    } else if (rc) {
        a->state = ATTEMPT_ASKED;
        take_welcome(a); /* the welcome may have come with the end of the handshake */
    }
}

/* Connected: sends the hello. */
static void say_hello(struct tcp_attempt *a)
{
    struct tcp_transport *t = transport_of(a->dial);
    const struct pvmw_tls_key *ticket = &a->dial->link->ticket;
    uint8_t wire[PVMT_TCP_HELLO_BYTES];
    pvmt_tcp_hello_encode(ticket, a->encrypted, wire);
    ssize_t n = send(a->watch.fd, wire, sizeof wire, MSG_NOSIGNAL);
    explicit_bzero(wire, sizeof wire);
    if (n != sizeof wire || pvmt_tcp_watch(t, EPOLL_CTL_MOD, &a->watch, EPOLLIN)) {
        attempt_fail(a, "connection lost", PVMC_EUNREACHABLE);
        return;
    }
    a->state = a->encrypted ? ATTEMPT_TLS : ATTEMPT_ASKED;
    if (!a->encrypted)
        return;
    a->tls = t->tls->open(a->watch.fd, PVMW_TLS_CALLER, ticket);
    if (a->tls)
        go_on_with_tls(a);
    else
        attempt_fail(a, "no memory for TLS", PVMC_ENOMEM);
}

void pvmt_tcp_dial_continue(struct tcp_watch *w)
{
    struct tcp_attempt *a = (struct tcp_attempt *)w;
    struct tcp_dial *d = a->dial;
    if (a->state == ATTEMPT_CONNECTING) {
        int failed = pvmw_socket_connected(a->watch.fd);
        if (failed)
            attempt_fail(a, strerrordesc_np(failed), PVMC_EUNREACHABLE);
        else
            say_hello(a);
    } else if (a->state == ATTEMPT_TLS) {
        go_on_with_tls(a);
    } else {
        take_welcome(a);
    }
    if (d->link && !d->live)
        dial_fail(d);
}

/* ---- start and time limits ---- */

int pvmt_tcp_dial_start(struct tcp_link *e, const struct pvmt_tcp_offer *offer)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    struct tcp_dial *d = calloc(1, sizeof *d);
    if (!d)
        return PVMC_ENOMEM;
    *d = (struct tcp_dial){.link = e};
    d->mode = offer->mode;
    memcpy(d->host, offer->host, sizeof d->host);
    for (unsigned i = 0; i < PVMT_TCP_CANDIDATES_MAX; i++)
        d->attempts[i] = (struct tcp_attempt){.watch = {.kind = TCP_ATTEMPT, .fd = -1}, .dial = d};
    e->dial = d;
    e->ticket = offer->ticket;
    t->dialing++;
    const struct tcp_remembered *r = recall(t, d->host);
    int rc = pvmt_tcp_candidates_of(offer, t->host, t->settings.interfaces, r ? &r->address : NULL, &d->candidates);
    if (rc)
        pvmt_tcp_say_no_address(t, rc);
    else
        start_next(d);
    if (!rc && !d->live) {
        rc = d->reason ? d->reason : PVMC_EUNREACHABLE;
        if (rc != PVMC_EUNSUPPORTED) /* this one is logged already */
            explain(d);
    }
    return rc;
}

static bool has_more(const struct tcp_link *e)
{
    return e->state == TCP_DIALING && e->dial && e->dial->next < e->dial->candidates.count;
}

void pvmt_tcp_dial_expire(struct tcp_transport *t, int64_t now_us)
{
    struct tcp_link *e;
    if (t->dialing)
        DL_FOREACH (t->links, e)
            if (has_more(e) && e->dial->next_us <= now_us)
                start_next(e->dial);
}

int64_t pvmt_tcp_dial_due(const struct tcp_transport *t)
{
    int64_t due_us = INT64_MAX;
    struct tcp_link *e;
    if (t->dialing)
        DL_FOREACH (t->links, e)
            if (has_more(e) && e->dial->next_us < due_us)
                due_us = e->dial->next_us;
    return due_us;
}
