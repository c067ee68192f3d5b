/* dial.c - calling another daemon. */
#include "dial.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "wire/socket.h"

#define AGAIN_S 0.05 /* before the next try at a port that is crowded with strangers */

/* What the dial waits for at the current address. */
enum dial_state {
    DIAL_NEXT,    /* the loop, to try the next address */
    DIAL_CROWDED, /* the delay before the next try: the port is crowded with strangers */
    DIAL_CONNECT, /* TCP */
    DIAL_NONCE,   /* the other side's random bytes */
    DIAL_ANSWER,  /* its verdict on our preface */
};

struct pvmd_dial {
    struct ev_loop *loop;
    struct pvmw_addresses addresses;
    unsigned current;
    struct pvmd_preface preface;
    const struct pvmd_dial_events *events;
    void *owner;
    enum dial_state state;
    int fd; /* -1: none */
    ev_io io;
    ev_timer limit;
    ev_timer again;
    ev_tstamp crowded_since; /* 0: the current address has not turned us away */
    uint8_t nonce[PVMD_NONCE_BYTES];
    uint8_t wire[PVMD_PREFACE_BYTES];
    uint8_t answer[PVMD_ANSWER_BYTES];
    size_t bytes;      /* read of nonce or answer */
    unsigned refusals; /* addresses that refused the connection */
    unsigned wrongs;   /* addresses whose daemon answered WRONG */
    char why[1024];
};

static void close_socket(struct pvmd_dial *d)
{
    ev_io_stop(d->loop, &d->io);
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
}

/* Gives up the current address. */
static void leave_address(struct pvmd_dial *d)
{
    close_socket(d);
    ev_timer_stop(d->loop, &d->limit);
    ev_timer_stop(d->loop, &d->again);
    d->crowded_since = 0.;
}

void pvmd_dial_cancel(struct pvmd_dial *d)
{
    leave_address(d);
    OPENSSL_cleanse(d, sizeof *d);
    free(d);
}

bool pvmd_dial_is_answered(const struct pvmd_dial *d)
{
    return d->state == DIAL_NONCE || d->state == DIAL_ANSWER || d->state == DIAL_CROWDED;
}

bool pvmd_dial_has_asked(const struct pvmd_dial *d)
{
    return d->state == DIAL_ANSWER;
}

const char *pvmd_dial_why(const struct pvmd_dial *d)
{
    return d->why;
}

__attribute__((format(printf, 2, 3))) static void note(struct pvmd_dial *d, const char *format, ...)
{
    size_t used = strlen(d->why);
    char text[PVMW_ADDRESS_TEXT];
    va_list args;
    int n = snprintf(d->why + used, sizeof d->why - used, "%s%s: ", used ? "; " : "",
                     pvmw_address_text(&d->addresses.list[d->current], text));
    used += (size_t)n;
    if (used >= sizeof d->why)
        return;
    va_start(args, format);
    vsnprintf(d->why + used, sizeof d->why - used, format, args);
    va_end(args);
}

static void give_up(struct pvmd_dial *d, enum pvmd_verdict verdict)
{
    leave_address(d);
    d->events->failed(d->owner, verdict, d->refusals == d->addresses.count, d->why);
    pvmd_dial_cancel(d);
}

static void try_address(struct pvmd_dial *d);

/* The current address has failed: tries the next one. */
static void try_next(struct pvmd_dial *d)
{
    leave_address(d);
    if (++d->current < d->addresses.count)
        try_address(d);
    else
        give_up(d, d->wrongs == d->addresses.count ? PVMD_VERDICT_WRONG : 0);
}

/*
 * The listener closed the connection before its nonce: a crowded doorman turns strangers away at random, so another try
 * may succeed.
 */
static bool try_again(struct pvmd_dial *d)
{
    ev_tstamp now = ev_now(d->loop);
    if (!d->crowded_since)
        d->crowded_since = now;
    if (now - d->crowded_since >= PVMD_DIAL_CROWDED_S)
        return false;
    close_socket(d);
    d->state = DIAL_CROWDED;
    ev_timer_set(&d->again, AGAIN_S, 0.);
    ev_timer_start(d->loop, &d->again);
    return true;
}

static void await(struct pvmd_dial *d, enum dial_state state, int events)
{
    d->state = state;
    d->bytes = 0;
    ev_io_stop(d->loop, &d->io);
    ev_io_set(&d->io, d->fd, events);
    ev_io_start(d->loop, &d->io);
}

static void connected(struct pvmd_dial *d)
{
    int one = 1, error = pvmw_socket_connected(d->fd);
    if (!error && pvmw_socket_is_own_end(d->fd, &d->addresses.list[d->current]))
        error = ECONNREFUSED;
    if (error == ECONNRESET && try_again(d))
        return;
    if (error) {
        note(d, "%s", strerror(error));
        d->refusals += error == ECONNREFUSED;
        try_next(d);
        return;
    }
    setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    await(d, DIAL_NONCE, EV_READ);
}

static const char *how_it_ended(const struct pvmd_dial *d, ssize_t n)
{
    if (d->state == DIAL_ANSWER && !d->preface.from_index)
        return "does not know this token, or has another version of dpvm";
    return n < 0 ? strerror(errno) : "closed the connection";
}

/* Reads the rest of whole[size]: true when it is complete. On failure try_next() has been called. */
static bool read_whole(struct pvmd_dial *d, uint8_t *whole, size_t size)
{
    ssize_t n = recv(d->fd, whole + d->bytes, size - d->bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0 && d->state == DIAL_NONCE && !d->bytes && try_again(d))
        return false;
    if (n <= 0) {
        note(d, "%s", how_it_ended(d, n));
        try_next(d);
        return false;
    }
    d->bytes += (size_t)n;
    return d->bytes == size;
}

static int make_preface(struct pvmd_dial *d)
{
    if (RAND_bytes(d->preface.nonce, sizeof d->preface.nonce) != 1)
        return PVMC_ESYSTEM;
    return pvmd_preface_encode(&d->preface, &pvmd_secrets->own.door, d->nonce, d->wire);
}

static void read_nonce(struct pvmd_dial *d)
{
    if (!read_whole(d, d->nonce, sizeof d->nonce))
        return;
    int rc = pvmc_failpoint(PVMC_FAILPOINT_LINK_PREFACE);
    rc = rc ? rc : make_preface(d);
    if (rc || send(d->fd, d->wire, sizeof d->wire, MSG_NOSIGNAL) != (ssize_t)sizeof d->wire) { /* it fits any buffer */
        note(d, "%s", rc ? pvmc_error_text(rc) : strerror(errno));
        try_next(d);
        return;
    }
    pvmc_failpoint_done(PVMC_FAILPOINT_LINK_PREFACE);
    await(d, DIAL_ANSWER, EV_READ);
}

/* The listener is not a member of this machine: we send nothing more and ignore its verdict. */
static void refuse_impostor(struct pvmd_dial *d, int rc)
{
    char text[PVMW_ADDRESS_TEXT];
    const char *why = rc == PVMC_EDENIED ? "the listener does not know this machine's secret" : pvmc_error_text(rc);
    pvmc_log(PVMC_LOG_WARNING, "%s: %s; not connecting to it", pvmw_address_text(&d->addresses.list[d->current], text),
             why);
    note(d, "%s", why);
    try_next(d);
}

/* The one with which this call has begun; NULL if it has been replaced since. */
static const struct pvmd_key *key_of(const struct pvmd_dial *d)
{
    int place;
    return pvmd_machine_key(pvmd_preface_key_id(d->wire), &place);
}

static void hand_over(struct pvmd_dial *d)
{
    uint8_t key[PVMD_KEY_BYTES];
    pvmc_failpoint_done(PVMC_FAILPOINT_LINK_VERDICT);
    int fd = d->fd, rc = pvmd_preface_key(d->wire, &key_of(d)->machine, d->nonce, key);
    if (rc) {
        note(d, "%s", pvmc_error_text(rc));
        try_next(d);
        return;
    }
    ev_io_stop(d->loop, &d->io);
    d->fd = -1;
    d->events->connected(d->owner, fd, key, &d->addresses.list[d->current]);
    OPENSSL_cleanse(key, sizeof key);
    pvmd_dial_cancel(d);
}

static void read_answer(struct pvmd_dial *d)
{
    enum pvmd_verdict verdict;
    if (!read_whole(d, d->answer, sizeof d->answer))
        return;
    const struct pvmd_key *key = key_of(d);
    int rc = key ? pvmd_preface_verdict(d->answer, d->wire, &key->door, d->nonce, &verdict) : PVMC_EDENIED;
    rc = rc ? rc : pvmc_failpoint(PVMC_FAILPOINT_LINK_VERDICT);
    if (rc) {
        refuse_impostor(d, rc);
    } else if (verdict == PVMD_VERDICT_GO) {
        hand_over(d);
    } else if (verdict == PVMD_VERDICT_CROSSED || verdict == PVMD_VERDICT_RELAYED) {
        note(d, verdict == PVMD_VERDICT_CROSSED ? "is calling us itself" : "sends through the master");
        give_up(d, verdict);
    } else if (verdict == PVMD_VERDICT_OUT) {
        note(d, "has no such host any more");
        give_up(d, verdict);
    } else if (verdict >= PVMD_VERDICT_EXPIRED) {
        give_up(d, verdict);
    } else {
        note(d, "is another host's daemon, or does not know us");
        d->wrongs++;
        try_next(d);
    }
}

static void io_event(struct ev_loop *loop, ev_io *w, int events)
{
    struct pvmd_dial *d = w->data;
    (void)loop, (void)events;
    if (d->state == DIAL_NEXT)
        try_address(d);
    else if (d->state == DIAL_CONNECT)
        connected(d);
    else if (d->state == DIAL_NONCE)
        read_nonce(d);
    else
        read_answer(d);
}

static void limit_event(struct ev_loop *loop, ev_timer *w, int events)
{
    struct pvmd_dial *d = w->data;
    (void)loop, (void)events;
    note(d, pvmd_dial_is_answered(d) ? "takes the connection but does not speak" : "does not answer");
    try_next(d);
}

static void again_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)events;
    try_address(w->data);
}

static void try_address(struct pvmd_dial *d)
{
    int fd = pvmc_failpoint(PVMC_FAILPOINT_LINK_CONNECT)
                 ? -errno
                 : pvmw_socket_connect(&d->addresses.list[d->current], NULL, NULL);
    pvmc_failpoint_done(PVMC_FAILPOINT_LINK_CONNECT);
    if (fd < 0) {
        note(d, "%s", strerror(-fd));
        d->refusals += fd == -ECONNREFUSED;
        try_next(d);
        return;
    }
    d->fd = fd;
    await(d, DIAL_CONNECT, EV_WRITE);
    if (d->current + 1 < d->addresses.count && !ev_is_active(&d->limit)) {
        ev_timer_set(&d->limit, PVMD_DIAL_EACH_S, 0.);
        ev_timer_start(d->loop, &d->limit);
    }
}

struct pvmd_dial *pvmd_dial_new(struct ev_loop *loop, const struct pvmw_addresses *addresses,
                                const struct pvmd_preface *preface, const struct pvmd_dial_events *events, void *owner)
{
    struct pvmd_dial *d = addresses->count ? calloc(1, sizeof *d) : NULL;
    if (!d)
        return NULL;
    d->loop = loop;
    d->addresses = *addresses;
    d->preface = *preface;
    d->events = events;
    d->owner = owner;
    d->fd = -1;
    ev_io_init(&d->io, io_event, -1, 0);
    ev_init(&d->limit, limit_event);
    ev_init(&d->again, again_event);
    d->io.data = d->limit.data = d->again.data = d;
    ev_feed_event(loop, &d->io, EV_CUSTOM);
    return d;
}
