/*
 * link.c - frames over a connection that is up.
 *
 * Sending writes header and payload with one sendmsg(), at once: what send() took is the kernel's, whatever the task
 * does next. Frames behind a full socket wait in a short queue and leave together. Receiving reads large payloads
 * straight to where they belong; headers and small frames pass through a scratch buffer, many at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <netinet/tcp.h>
#include <utlist.h>
#include "../../core/error.h"
#include "../../core/log.h"
#include "tcp.h"

#define SMALL_BYTES 1024      /* payloads up to this are gathered by copying */
#define LARGE_BYTES 16384     /* payloads above this are worth a read of their own */
#define QUEUE_BYTES (1 << 18) /* beyond this no frame is taken behind others */
#define GATHER_MAX  64        /* iovecs in one sendmsg */
#define ASIDE_AFTER 64        /* reads, see pvmi_tcp_link_set_aside() */
#define READS_MAX   8         /* from one link before the others get their turn */
#define TLS_READS   256       /* the same with TLS, which reads a record at a time */

int pvmi_tcp_link_new(struct tcp_transport *t, void *owner, enum tcp_state state, struct tcp_link **out)
{
    struct tcp_link *e = calloc(1, sizeof *e);
    if (!e)
        return PVMI_ENOMEM;
    e->base = (struct pvmi_endpoint){.transport = &t->base, .owner = owner};
    e->watch = (struct tcp_watch){.kind = TCP_LINK, .fd = -1};
    e->state = state;
    DL_APPEND(t->links, e);
    *out = e;
    return 0;
}

void pvmi_tcp_link_set_aside(struct tcp_link *e)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    if (e->aside || e->polls_out || ++e->found < ASIDE_AFTER || pvmi_tcp_watch(t, EPOLL_CTL_DEL, &e->watch, 0))
        return;
    e->aside = true;
    t->aside++;
}

/* Whether epoll has to be told of it anew. */
static bool watch_again(struct tcp_link *e)
{
    bool was = e->aside;
    ((struct tcp_transport *)e->base.transport)->aside -= was;
    e->aside = false;
    e->found = 0;
    return was;
}

void pvmi_tcp_links_watch_all(struct tcp_transport *t)
{
    struct tcp_link *e;
    DL_FOREACH (t->links, e)
        if (watch_again(e))
            pvmi_tcp_watch(t, EPOLL_CTL_ADD, &e->watch, EPOLLIN);
}

/* Whether to be woken when there is room in the socket. */
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
    pvmi_tcp_watch(t, watch_again(e) ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, &e->watch, on ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void pvmi_tcp_link_up(struct tcp_link *e, struct tcp_watch *from, struct pvmw_tls *tls)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    int on = t->settings.nodelay;
    bool offered = e->state == TCP_OFFERED;
    setsockopt(from->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* A network that swallows what we send must not keep it: by the daemons there may be a way round. */
    setsockopt(from->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &t->settings.silence_ms, sizeof t->settings.silence_ms);
    e->watch.fd = from->fd;
    from->fd = -1;
    e->tls = tls;
    e->state = TCP_UP;
    t->up++;
    explicit_bzero(&e->ticket, sizeof e->ticket);
    if (pvmi_tcp_watch(t, EPOLL_CTL_MOD, &e->watch, EPOLLIN)) {
        pvmi_tcp_link_down(e, PVMI_ESYSTEM);
        return;
    }
    t->unread |= tls != NULL; /* what came with the handshake is in the module, not in the socket */
    if (e->queued)
        poll_out(e, true);
    e->want_ready |= offered;
    pvmi_tcp_link_writable(e);
}

static void drop_queue(struct tcp_link *e)
{
    while (e->queued) {
        pvmi_frame_unref(e->queue[e->queue_first]);
        e->queue_first = (e->queue_first + 1) % TCP_QUEUE_MAX;
        e->queued--;
    }
}

/* Neither epoll nor the peer is told: they are our parent's, if we are a forked child dropping its copies. */
void pvmi_tcp_link_free(struct tcp_link *e)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    if (t->tls)
        t->tls->end(e->tls, t->pid == getpid());
    if (e->watch.fd >= 0)
        close(e->watch.fd);
    drop_queue(e);
    explicit_bzero(&e->ticket, sizeof e->ticket);
    free(e);
}

void pvmi_tcp_link_bury(struct tcp_link *e)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    if (e->dead)
        return;
    e->dead = true;
    if (e->state == TCP_OFFERED)
        pvmi_tcp_door_leave(t, e);
    else if (e->state == TCP_DIALING)
        pvmi_tcp_dial_drop(e);
    else
        t->up--;
    t->waiting -= e->polls_out;
    t->aside -= e->aside;
    if (t->tls)
        t->tls->end(e->tls, true);
    e->tls = NULL;
    pvmi_tcp_unwatch(t, &e->watch);
    drop_queue(e);
    DL_DELETE(t->links, e);
    DL_APPEND(t->graveyard, e);
}

void pvmi_tcp_link_down(struct tcp_link *e, int reason)
{
    if (e->dead)
        return;
    pvmi_tcp_link_bury(e);
    e->base.transport->callbacks->down(e->base.transport->arg, &e->base, reason);
}

/* ---- sending ---- */

/* Adds what is left of a frame after `done` bytes to iov; returns their number. Needs PVMI_FRAME_PIECES_MAX + 1. */
static unsigned frame_rest(const struct pvmi_frame *f, size_t done, uint8_t wire[PVMI_FRAME_HEADER_BYTES],
                           struct iovec *iov)
{
    unsigned n = 0;
    if (done < PVMI_FRAME_HEADER_BYTES) {
        pvmi_frame_encode(&f->h, wire);
        iov[n++] = (struct iovec){wire + done, PVMI_FRAME_HEADER_BYTES - done};
        done = 0;
    } else {
        done -= PVMI_FRAME_HEADER_BYTES;
    }
    for (unsigned i = 0; i < f->piece_count; i++) {
        if (done >= f->pieces[i].iov_len) {
            done -= f->pieces[i].iov_len;
            continue;
        }
        iov[n++] = (struct iovec){(uint8_t *)f->pieces[i].iov_base + done, f->pieces[i].iov_len - done};
        done = 0;
    }
    return n;
}

/* What errno says: 0 the socket is full, or PVMI_EDOWN. */
static ssize_t write_failed(struct tcp_link *e)
{
    if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM)
        return 0;
    e->broken = true;
    return PVMI_EDOWN;
}

static ssize_t write_encrypted(struct tcp_link *e, const struct pvmi_tcp_tls_ops *tls, const struct iovec *iov,
                               unsigned count)
{
    size_t taken = 0, n = 0;
    for (unsigned i = 0; i < count && n == (i ? iov[i - 1].iov_len : 0); i++) {
        n = tls->put(e->tls, iov[i].iov_base, iov[i].iov_len);
        taken += n;
    }
    tls->flush(e->tls);
    e->broken |= tls->error(e->tls) != NULL;
    return e->broken ? PVMI_EDOWN : (ssize_t)taken;
}

/* Bytes written, 0 when the socket is full, or PVMI_EDOWN. */
static ssize_t write_out(struct tcp_link *e, struct iovec *iov, unsigned count)
{
    const struct tcp_transport *t = (const struct tcp_transport *)e->base.transport;
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = count};
    if (!e->tls) {
        ssize_t n = sendmsg(e->watch.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
        return n >= 0 ? n : write_failed(e);
    }
    return write_encrypted(e, t->tls, iov, count);
}

static size_t frame_bytes(const struct pvmi_frame *f)
{
    return PVMI_FRAME_HEADER_BYTES + (size_t)f->h.length;
}

static void enqueue(struct tcp_link *e, struct pvmi_frame *f, size_t done)
{
    if (!e->queued)
        e->tx_done = done;
    e->queue[(e->queue_first + e->queued++) % TCP_QUEUE_MAX] = pvmi_frame_ref(f);
    e->queue_bytes += frame_bytes(f);
    if (e->state == TCP_UP)
        poll_out(e, true);
}

static int refuse(struct tcp_link *e)
{
    e->want_ready = true;
    return PVMI_EAGAIN;
}

/* Sends a small frame from one piece of memory: the kernel takes that in faster than a list. As write_out(). */
static ssize_t write_small(struct tcp_link *e, const struct pvmi_frame *f)
{
    uint8_t wire[PVMI_FRAME_HEADER_BYTES + SMALL_BYTES];
    size_t n = PVMI_FRAME_HEADER_BYTES;
    pvmi_frame_encode(&f->h, wire);
    for (unsigned i = 0; i < f->piece_count; i++) {
        memcpy(wire + n, f->pieces[i].iov_base, f->pieces[i].iov_len);
        n += f->pieces[i].iov_len;
    }
    ssize_t sent = send(e->watch.fd, wire, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent >= 0 ? sent : write_failed(e);
}

static ssize_t write_frame(struct tcp_link *e, const struct pvmi_frame *f)
{
    uint8_t wire[PVMI_FRAME_HEADER_BYTES];
    struct iovec iov[PVMI_FRAME_PIECES_MAX + 1];
    if (!e->tls && f->h.length <= SMALL_BYTES)
        return write_small(e, f);
    return write_out(e, iov, frame_rest(f, 0, wire, iov));
}

int pvmi_tcp_link_send(struct pvmi_endpoint *base, struct pvmi_frame *f)
{
    struct tcp_link *e = (struct tcp_link *)base;
    if (e->dead || e->broken)
        return PVMI_EDOWN;
    if (e->state == TCP_OFFERED)
        return refuse(e);
    if (e->queued || e->state == TCP_DIALING) {
        if (e->queued && (e->queued == TCP_QUEUE_MAX || e->queue_bytes + frame_bytes(f) > QUEUE_BYTES))
            return refuse(e);
        enqueue(e, f, 0);
        return 0;
    }
    ssize_t n = write_frame(e, f);
    if (n < 0)
        return PVMI_EDOWN; /* down follows from progress(), when what the peer sent before has been read */
    if ((size_t)n < frame_bytes(f))
        enqueue(e, f, (size_t)n);
    else if (e->tls && ((struct tcp_transport *)base->transport)->tls->is_blocked(e->tls))
        poll_out(e, true);
    return 0;
}

/* One write of as much as fits of what is queued. */
static ssize_t write_queue(struct tcp_link *e)
{
    uint8_t wire[TCP_QUEUE_MAX][PVMI_FRAME_HEADER_BYTES];
    struct iovec iov[GATHER_MAX];
    unsigned n = 0;
    for (unsigned i = 0; i < e->queued && n + PVMI_FRAME_PIECES_MAX + 1 <= GATHER_MAX; i++)
        n += frame_rest(e->queue[(e->queue_first + i) % TCP_QUEUE_MAX], i ? 0 : e->tx_done, wire[i], iov + n);
    return write_out(e, iov, n);
}

/* `n` more bytes of the queue are out. */
static void advance_queue(struct tcp_link *e, size_t n)
{
    e->tx_done += n;
    while (e->queued) {
        struct pvmi_frame *f = e->queue[e->queue_first];
        if (e->tx_done < frame_bytes(f))
            return;
        e->tx_done -= frame_bytes(f);
        e->queue_bytes -= frame_bytes(f);
        e->queue_first = (e->queue_first + 1) % TCP_QUEUE_MAX;
        e->queued--;
        pvmi_frame_unref(f);
    }
}

void pvmi_tcp_link_writable(struct tcp_link *e)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    if (e->tls && !t->tls->flush(e->tls))
        return; /* full still; an error shows when reading */
    while (e->queued) {
        ssize_t n = write_queue(e);
        if (n <= 0)
            return;
        advance_queue(e, (size_t)n);
    }
    if (e->tls && t->tls->is_blocked(e->tls))
        return;
    poll_out(e, false);
    if (e->want_ready) {
        e->want_ready = false;
        t->base.callbacks->tx_ready(t->base.arg, &e->base);
    }
}

/* ---- receiving ---- */

static void frame_begin(struct tcp_link *e)
{
    struct pvmi_transport *t = e->base.transport;
    e->header_have = 0;
    e->in_payload = true;
    e->placed = 0;
    e->last_large = e->rx.length > LARGE_BYTES;
    e->place = t->callbacks->rx_place(t->arg, &e->base, &e->rx);
    if (!e->dead && e->place && e->rx.flags & PVMI_FRAME_FD && t->callbacks->rx_descriptor)
        t->callbacks->rx_descriptor(t->arg, &e->base, &e->rx, -1); /* none can come this way */
}

static void frame_end_if_whole(struct tcp_link *e)
{
    struct pvmi_transport *t = e->base.transport;
    if (e->dead || !e->in_payload || e->placed < e->rx.length)
        return;
    e->in_payload = false;
    if (e->place)
        t->callbacks->rx_done(t->arg, &e->base, &e->rx);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Takes in bytes that were read to the scratch buffer. Returns 0 or the reason to give the connection up. */
static int consume(struct tcp_link *e, const uint8_t *bytes, size_t count)
{
    while (count && !e->dead) {
        size_t n;
        if (e->in_payload) {
            n = least(e->rx.length - e->placed, count);
            if (e->place)
                memcpy(e->place + e->placed, bytes, n);
            e->placed += n;
        } else {
            n = least(PVMI_FRAME_HEADER_BYTES - e->header_have, count);
            memcpy(e->header_bytes + e->header_have, bytes, n);
            e->header_have += n;
            if (e->header_have < PVMI_FRAME_HEADER_BYTES)
                return 0;
            int rc = pvmi_frame_decode(e->header_bytes, &e->rx);
            if (rc)
                return rc;
            frame_begin(e);
        }
        bytes += n;
        count -= n;
        frame_end_if_whole(e);
    }
    return 0;
}

/* Bytes read, 0 when there is nothing now, PVMI_ESHORT at the end of the stream, PVMI_EDOWN. */
static ssize_t read_in(struct tcp_link *e, struct iovec *iov, unsigned count)
{
    const struct tcp_transport *t = (const struct tcp_transport *)e->base.transport;
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = count};
    ssize_t n;
    if (e->tls) {
        n = t->tls->read(e->tls, iov->iov_base, iov->iov_len);
        return n >= 0 ? n : n == -1 ? PVMI_ESHORT : PVMI_EDOWN;
    }
    do
        n = count == 1 ? recv(e->watch.fd, iov->iov_base, iov->iov_len, MSG_DONTWAIT)
                       : recvmsg(e->watch.fd, &msg, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    return n > 0 ? n : !n ? PVMI_ESHORT : errno == EAGAIN ? 0 : PVMI_EDOWN;
}

/*
 * One read: the rest of the payload to its place, and what comes behind it to the scratch buffer. In a row of large
 * frames only the next header is read there, so that no payload byte is copied twice. Returns bytes read, 0 when there
 * is nothing, negative when the connection is over; *drained tells that the socket is empty now.
 */
static ssize_t read_once(struct tcp_link *e, bool *drained)
{
    struct tcp_transport *t = (struct tcp_transport *)e->base.transport;
    struct iovec iov[2];
    unsigned count = 0;
    size_t direct = e->in_payload && e->place ? e->rx.length - e->placed : 0;
    size_t behind =
        e->last_large && (direct || !e->in_payload) ? PVMI_FRAME_HEADER_BYTES - e->header_have : TCP_SCRATCH_BYTES;
    if (direct)
        iov[count++] = (struct iovec){e->place + e->placed, direct};
    iov[count++] = (struct iovec){t->scratch, behind};
    ssize_t n = read_in(e, iov, count);
    *drained = e->tls ? n <= 0 : n < (ssize_t)(direct + behind);
    if (!n)
        return 0;
    if (n < 0) {
        bool torn = n != PVMI_ESHORT || e->broken || e->in_payload || e->header_have;
        pvmi_tcp_link_down(e, torn ? PVMI_EDOWN : 0);
        return -1;
    }
    size_t straight = least((size_t)n, direct);
    e->placed += straight;
    if (direct)
        frame_end_if_whole(e);
    int rc = consume(e, t->scratch, (size_t)n - straight);
    if (rc) {
        pvmi_log(PVMI_LOG_WARNING, "direct TCP link closed: received %s", pvmi_error_text(rc));
        pvmi_tcp_link_down(e, rc);
        return -1;
    }
    return n;
}

int pvmi_tcp_link_readable(struct tcp_link *e)
{
    int reads = 0, most = e->tls ? TLS_READS : READS_MAX;
    bool drained = false;
    while (reads < most && !drained && !e->dead && read_once(e, &drained) > 0)
        reads++;
    if (e->tls && !drained && !e->dead)
        ((struct tcp_transport *)e->base.transport)->unread = true;
    return reads;
}
