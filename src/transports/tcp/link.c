/*
 * link.c - a connection that is up: sends and receives frames over wire/stream.h and decides when epoll watches it. A
 * frame accepted by send() is passed to the kernel at once, whatever the task does next. Frames that do not fit into
 * the socket wait in a short queue and leave together.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <netinet/tcp.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "tcp.h"

#define LARGE_BYTES     16384     /* larger payloads get a read of their own */
#define QUEUE_BYTES     (1 << 18) /* beyond this, a frame is not queued behind others */
#define ASIDE_AFTER     64        /* reads; see pvmt_tcp_link_set_aside() */
#define KEEPALIVE_PARTS 4         /* probes per limit of silence */
#define KEEPALIVE_MAX_S 32767     /* the kernel's limit */
#define READS_MAX       8         /* per link, before the others get their turn */
#define TLS_READS       256       /* the same with TLS, which reads one record at a time */

#define LINK_OF(stream_) ((struct tcp_link *)((char *)(stream_)-offsetof(struct tcp_link, stream)))

/* ---- incoming frames ---- */

static uint8_t *stream_place(struct pvmw_stream *s)
{
    struct tcp_link *e = LINK_OF(s);
    struct pvmt_transport *t = e->base.transport;
    return t->callbacks->rx_place(t->arg, &e->base, &s->rx);
}

/* This transport passes no descriptors. */
static void stream_descriptor(struct pvmw_stream *s, int fd)
{
    struct tcp_link *e = LINK_OF(s);
    struct pvmt_transport *t = e->base.transport;
    if (t->callbacks->rx_descriptor)
        t->callbacks->rx_descriptor(t->arg, &e->base, &s->rx, fd);
}

static void stream_done(struct pvmw_stream *s)
{
    struct tcp_link *e = LINK_OF(s);
    struct pvmt_transport *t = e->base.transport;
    t->callbacks->rx_done(t->arg, &e->base, &s->rx);
}

static const struct pvmw_stream_owner stream_owner = {
    .place = stream_place,
    .descriptor = stream_descriptor,
    .done = stream_done,
    .queue_max = PVMW_STREAM_QUEUE_MAX,
    .queue_bytes = QUEUE_BYTES,
    .large_bytes = LARGE_BYTES,
};

/* ---- life cycle ---- */

int pvmt_tcp_link_new(struct tcp_transport *t, void *owner, enum tcp_state state, struct tcp_link **out)
{
    struct tcp_link *e = calloc(1, sizeof *e);
    if (!e)
        return PVMC_ENOMEM;
    e->base = (struct pvmt_endpoint){.transport = &t->base, .owner = owner};
    e->watch = (struct tcp_watch){.kind = TCP_LINK, .fd = -1};
    pvmw_stream_init(&e->stream, PVMW_STREAM_PLAIN, &stream_owner, -1);
    e->stream.corked = true;
    e->state = state;
    DL_APPEND(t->links, e);
    *out = e;
    return 0;
}

void pvmt_tcp_link_set_aside(struct tcp_link *e)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    if (e->aside || e->polls_out || ++e->found < ASIDE_AFTER || pvmt_tcp_watch(t, EPOLL_CTL_DEL, &e->watch, 0))
        return;
    e->aside = true;
    t->aside++;
}

/* Whether epoll must watch it again. */
static bool watch_again(struct tcp_link *e)
{
    bool was = e->aside;
    ((struct tcp_transport *)e->base.transport)->aside -= was;
    e->aside = false;
    e->found = 0;
    return was;
}

void pvmt_tcp_links_watch_all(struct tcp_transport *t)
{
    struct tcp_link *e;
    DL_FOREACH (t->links, e)
        if (watch_again(e))
            pvmt_tcp_watch(t, EPOLL_CTL_ADD, &e->watch, EPOLLIN);
}

/* Whether epoll reports room in the socket. */
static void poll_out(struct tcp_link *e, bool on)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    if (e->polls_out == on)
        return;
    e->polls_out = on;
    if (on)
        t->waiting++;
    else
        t->waiting--;
    pvmt_tcp_watch(t, watch_again(e) ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, &e->watch, on ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/*
 * If the network swallows what we send, the link must end, because the daemons may know another route. The keepalive
 * finds a peer whose end is gone even if we send nothing; the user timeout limits it, too.
 */
static void limit_silence(int fd, unsigned silence_ms)
{
    int on = 1, probe_s = (int)(silence_ms / KEEPALIVE_PARTS / 1000);
    probe_s = probe_s < 1 ? 1 : probe_s < KEEPALIVE_MAX_S ? probe_s : KEEPALIVE_MAX_S;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &probe_s, sizeof probe_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_s, sizeof probe_s);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

void pvmt_tcp_link_up(struct tcp_link *e, struct tcp_watch *from, struct pvmw_tls *tls)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    int on = t->settings.nodelay;
    bool offered = e->state == TCP_OFFERED;
    setsockopt(from->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    limit_silence(from->fd, t->settings.silence_ms);
    pvmw_congestion_choose(from->fd, t->settings.congestion);
    e->watch.fd = e->stream.fd = from->fd;
    from->fd = -1;
    if (tls)
        pvmw_stream_use_tls(&e->stream, tls, t->tls);
    e->stream.corked = false;
    e->state = TCP_UP;
    t->up++;
    explicit_bzero(&e->ticket, sizeof e->ticket);
    if (pvmt_tcp_watch(t, EPOLL_CTL_MOD, &e->watch, EPOLLIN)) {
        pvmt_tcp_link_down(e, PVMC_ESYSTEM);
        return;
    }
    t->unread |= tls != NULL; /* data that came with the handshake is in the TLS module, invisible to epoll */
    if (e->stream.queued)
        poll_out(e, true);
    e->want_ready |= offered;
    pvmt_tcp_link_writable(e);
}

static void end_stream(struct tcp_link *e, bool politely)
{
    if (e->stream.tls)
        e->stream.tls_ops->end(e->stream.tls, politely);
    e->stream.tls = NULL;
    pvmw_stream_end(&e->stream);
}

/* Tells neither epoll nor the peer: in a forked child, which drops its copies, both belong to the parent. */
void pvmt_tcp_link_free(struct tcp_link *e)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    end_stream(e, t->pid == getpid());
    if (e->watch.fd >= 0)
        close(e->watch.fd);
    explicit_bzero(&e->ticket, sizeof e->ticket);
    free(e);
}

void pvmt_tcp_link_bury(struct tcp_link *e)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    if (e->stream.ended)
        return;
    if (e->state == TCP_OFFERED)
        pvmt_tcp_door_leave(t, e);
    else if (e->state == TCP_DIALING)
        pvmt_tcp_dial_drop(e);
    else
        t->up--;
    t->waiting -= e->polls_out;
    t->aside -= e->aside;
    end_stream(e, true);
    pvmt_tcp_unwatch(t, &e->watch);
    DL_DELETE(t->links, e);
    DL_APPEND(t->graveyard, e);
}

void pvmt_tcp_link_down(struct tcp_link *e, int reason)
{
    if (e->stream.ended)
        return;
    pvmt_tcp_link_bury(e);
    e->base.transport->callbacks->down(e->base.transport->arg, &e->base, reason);
}

/* ---- sending ---- */

static int refuse(struct tcp_link *e)
{
    e->want_ready = true;
    return PVMC_EAGAIN;
}

int pvmt_tcp_link_send(struct pvmt_endpoint *base, struct pvmc_frame *f)
{
    struct tcp_link *e = (struct tcp_link *)base;
    struct pvmw_stream *s = &e->stream;
    if (s->ended)
        return PVMC_EDOWN;
    if (e->state == TCP_OFFERED)
        return refuse(e);
    bool flushes = s->tls && !s->queued; /* otherwise it already waits for room */
    int rc = pvmw_stream_send(s, f);
    if (flushes)
        pvmw_stream_flush(s);
    if (s->broken)
        return PVMC_EDOWN; /* progress() reports down after the peer's last data has been read */
    if (e->state == TCP_UP && pvmw_stream_waits(s))
        poll_out(e, true);
    return rc == PVMC_EAGAIN ? refuse(e) : rc;
}

void pvmt_tcp_link_writable(struct tcp_link *e)
{
    struct pvmt_transport *t = e->base.transport;
    if (!pvmw_stream_flush(&e->stream))
        return; /* still full; reading will show an error */
    poll_out(e, false);
    if (e->want_ready) {
        e->want_ready = false;
        t->callbacks->tx_ready(t->arg, &e->base);
    }
}

/* ---- receiving ---- */

/* Reading has failed. */
static void give_up(struct tcp_link *e, int rc)
{
    if (rc == PVMC_ESHORT || rc == PVMC_EDOWN) {
        pvmt_tcp_link_down(e, rc == PVMC_EDOWN || e->stream.broken ? PVMC_EDOWN : 0);
    } else if (!e->stream.ended) {
        pvmc_log(PVMC_LOG_WARNING, "direct TCP link closed: received %s", pvmc_error_text(rc));
        pvmt_tcp_link_down(e, rc);
    }
}

int pvmt_tcp_link_readable(struct tcp_link *e)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    struct pvmw_stream *s = &e->stream;
    int reads = 0, most = s->tls ? TLS_READS : READS_MAX;
    bool drained = false;
    while (reads < most && !drained && !s->ended) {
        ssize_t rc = pvmw_stream_read(s, t->scratch, sizeof t->scratch, &drained);
        if (rc < 0)
            give_up(e, (int)rc);
        if (rc <= 0)
            break;
        reads++;
    }
    if (s->tls && !drained && !s->ended)
        t->unread = true;
    return reads;
}
