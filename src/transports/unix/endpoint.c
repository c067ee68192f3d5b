/* endpoint.c - one connection between a task and its daemon. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "unix.h"

#define LARGE_BYTES  4096 /* larger payloads get a read of their own */
#define SOCKET_BYTES (1 << 20)
#define READS_MAX    8 /* per endpoint, before the others get their turn */

#define ENDPOINT_OF(stream_) ((struct unix_endpoint *)((char *)(stream_)-offsetof(struct unix_endpoint, stream)))

static struct unix_transport *transport_of(const struct unix_endpoint *e)
{
    return (struct unix_transport *)e->base.transport;
}

/* ---- incoming frames ---- */

static uint8_t *stream_place(struct pvmw_stream *s)
{
    struct unix_endpoint *e = ENDPOINT_OF(s);
    struct pvmt_transport *t = e->base.transport;
    return t->callbacks->rx_place(t->arg, &e->base, &s->rx);
}

static size_t stream_take(struct pvmw_stream *s, const uint8_t *wire, size_t count)
{
    struct unix_endpoint *e = ENDPOINT_OF(s);
    struct pvmt_transport *t = e->base.transport;
    return t->callbacks->rx_wire(t->arg, &e->base, wire, count);
}

static void stream_descriptor(struct pvmw_stream *s, int fd)
{
    struct unix_endpoint *e = ENDPOINT_OF(s);
    struct pvmt_transport *t = e->base.transport;
    if (t->callbacks->rx_descriptor)
        t->callbacks->rx_descriptor(t->arg, &e->base, &s->rx, fd);
    else if (fd >= 0)
        close(fd);
}

static void stream_done(struct pvmw_stream *s)
{
    struct unix_endpoint *e = ENDPOINT_OF(s);
    struct pvmt_transport *t = e->base.transport;
    t->callbacks->rx_done(t->arg, &e->base, &s->rx);
}

#define STREAM_OWNER                                                                                                   \
    .place = stream_place, .descriptor = stream_descriptor, .done = stream_done, .queue_max = 1,                       \
    .large_bytes = LARGE_BYTES

static const struct pvmw_stream_owner stream_owner = {STREAM_OWNER};
static const struct pvmw_stream_owner stream_owner_taking = {STREAM_OWNER, .take = stream_take};

/* ---- life cycle ---- */

int pvmt_unix_endpoint_new(struct unix_transport *t, int fd, struct unix_endpoint **out)
{
    struct unix_endpoint *e = calloc(1, sizeof *e);
    if (!e || pvmt_unix_watch(t, EPOLL_CTL_ADD, fd, EPOLLIN, e)) {
        free(e);
        close(fd);
        return e ? PVMC_ESYSTEM : PVMC_ENOMEM;
    }
    int bytes = SOCKET_BYTES; /* as much as the system allows: fewer wake-ups for large messages */
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    struct ucred who = {.pid = 0};
    socklen_t size = sizeof who;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size);
    e->pid = who.pid;
    e->base.transport = &t->base;
    pvmw_stream_init(&e->stream, PVMW_STREAM_RIGHTS, t->base.callbacks->rx_wire ? &stream_owner_taking : &stream_owner,
                     fd);
    DL_APPEND(t->endpoints, e);
    t->count++;
    *out = e;
    return 0;
}

static void end_stream(struct unix_endpoint *e)
{
    pvmw_stream_end(&e->stream);
    if (e->stream.fd >= 0)
        close(e->stream.fd);
    e->stream.fd = -1;
}

/* Does not tell epoll: it is about to be closed or, in a forked child that drops its copies, is the parent's. */
void pvmt_unix_endpoint_free(struct unix_endpoint *e)
{
    end_stream(e);
    free(e);
}

void pvmt_unix_endpoint_bury(struct unix_endpoint *e)
{
    struct unix_transport *t = transport_of(e);
    if (e->stream.ended)
        return;
    /*
     * Tells epoll explicitly, because close() does not end the watch while a child between fork and exec holds a copy.
     */
    pvmt_unix_watch(t, EPOLL_CTL_DEL, e->stream.fd, 0, NULL);
    t->unread -= e->stream.unread != NULL;
    end_stream(e);
    DL_DELETE(t->endpoints, e);
    DL_APPEND(t->graveyard, e);
    t->count--;
}

/* The connection is lost. The owner is told once and then calls disconnect. */
static void down(struct unix_endpoint *e, int reason)
{
    if (e->stream.ended)
        return;
    pvmt_unix_endpoint_bury(e);
    e->base.transport->callbacks->down(e->base.transport->arg, &e->base, reason);
}

static void poll_anew(struct unix_endpoint *e)
{
    uint32_t events = (e->paused ? 0 : EPOLLIN) | (e->polls_out ? EPOLLOUT : 0);
    pvmt_unix_watch(transport_of(e), EPOLL_CTL_MOD, e->stream.fd, events, e);
}

static void poll_out(struct unix_endpoint *e, bool on)
{
    if (e->polls_out == on)
        return;
    e->polls_out = on;
    poll_anew(e);
}

/* ---- sending ---- */

int pvmt_unix_endpoint_send(struct pvmt_endpoint *base, struct pvmc_frame *f)
{
    struct unix_endpoint *e = (struct unix_endpoint *)base;
    if (e->stream.ended)
        return PVMC_EDOWN;
    int rc = pvmw_stream_send(&e->stream, f); /* PVMC_EDOWN: down follows after the peer's last data */
    if (rc == PVMC_EAGAIN)
        e->want_ready = true;
    if (rc == PVMC_EAGAIN || e->stream.queued)
        poll_out(e, true);
    return rc;
}

int pvmt_unix_endpoint_send_wire(struct pvmt_endpoint *base, const uint8_t *wire, size_t length)
{
    struct unix_endpoint *e = (struct unix_endpoint *)base;
    int rc = e->stream.ended ? PVMC_EDOWN : pvmw_stream_send_wire(&e->stream, wire, length);
    if (e->stream.queued)
        poll_out(e, true);
    return rc;
}

void pvmt_unix_endpoint_writable(struct unix_endpoint *e)
{
    if (!pvmw_stream_flush(&e->stream))
        return; /* still full; reading will show an error */
    poll_out(e, false);
    if (e->want_ready) {
        e->want_ready = false;
        e->base.transport->callbacks->tx_ready(e->base.transport->arg, &e->base);
    }
}

/* ---- pausing ---- */

static void set_stopped(struct unix_endpoint *e)
{
    e->stream.stopped = e->paused || e->yielded;
}

void pvmt_unix_endpoint_pause(struct pvmt_endpoint *base, bool on)
{
    struct unix_endpoint *e = (struct unix_endpoint *)base;
    if (e->stream.ended || e->paused == on || (on && e->hung_up))
        return;
    e->paused = on;
    set_stopped(e);
    poll_anew(e);
}

void pvmt_unix_endpoint_yield(struct pvmt_endpoint *base)
{
    struct unix_endpoint *e = (struct unix_endpoint *)base;
    e->yielded = transport_of(e)->yielded = true;
    set_stopped(e);
}

void pvmt_unix_endpoint_unyield(struct unix_endpoint *e)
{
    e->yielded = false;
    set_stopped(e);
}

void pvmt_unix_endpoint_hung_up(struct unix_endpoint *e)
{
    pvmt_unix_endpoint_pause(&e->base, false);
    e->hung_up = true;
}

/* ---- receiving ---- */

/* The peer has sent something that is no frame: the owner decides what to do, or the connection ends. */
static void refuse(struct unix_endpoint *e, int rc)
{
    const struct pvmt_transport *t = e->base.transport;
    if (t->callbacks->rx_foreign) {
        e->stream.drops = true;
        t->callbacks->rx_foreign(t->arg, &e->base, e->stream.header, rc);
        return;
    }
    pvmc_log(PVMC_LOG_WARNING, "connection closed: received %s", pvmc_error_text(rc));
    down(e, rc);
}

/* Handles the result of a read. True: continue. */
static bool judge(struct unix_endpoint *e, ssize_t rc)
{
    if (rc == PVMC_ESHORT || rc == PVMC_EDOWN)
        down(e, rc == PVMC_EDOWN ? PVMC_EDOWN : 0);
    else if (rc < 0 && !e->stream.ended)
        refuse(e, (int)rc);
    return rc && !e->stream.ended;
}

/* Counts the endpoints with unread data. */
static void count_unread(struct unix_endpoint *e)
{
    transport_of(e)->unread += e->stream.unread != NULL;
}

bool pvmt_unix_endpoint_resume(struct unix_endpoint *e)
{
    if (!e->stream.unread || e->stream.stopped)
        return false;
    transport_of(e)->unread--;
    ssize_t rc = pvmw_stream_resume(&e->stream);
    count_unread(e);
    judge(e, rc);
    return true;
}

int pvmt_unix_endpoint_readable(struct unix_endpoint *e)
{
    struct unix_transport *t = transport_of(e);
    struct pvmw_stream *s = &e->stream;
    int reads = s->unread ? pvmt_unix_endpoint_resume(e) : 0;
    bool drained = false;
    while (reads < READS_MAX && !drained && !s->ended && !s->stopped) {
        ssize_t rc = pvmw_stream_read(s, t->scratch, sizeof t->scratch, &drained);
        count_unread(e);
        if (rc <= 0 && !judge(e, rc))
            break;
        reads++;
    }
    return reads;
}
