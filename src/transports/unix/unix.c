/*
 * unix.c - frames over a Unix stream socket: how a task talks to its daemon.
 *
 * Sending writes header and payload with one sendmsg(). The rest of a frame that the socket took in part is kept (one
 * frame for each endpoint) and everything behind it is refused until it is out. Receiving reads large payloads straight
 * to where they belong; only headers and small frames pass through a scratch buffer.
 *
 * A descriptor goes with the first byte of its frame. Linux ends a read behind the bytes of the sendmsg() that brought
 * descriptors, and each sendmsg() here is of one frame: so what a read brings belongs to the last frame that begins in
 * it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utlist.h>
#include "../../core/error.h"
#include "../../core/log.h"
#include "../../core/rights.h"
#include "../transport.h"

#define SCRATCH_BYTES  16384
#define LARGE_BYTES    4096 /* payloads above this are worth a read of their own */
#define SOCKET_BYTES   (1 << 20)
#define EVENTS_MAX     64
#define READS_MAX      8 /* from one endpoint before the others get their turn */
#define DIRECT_MAX     2 /* up to this many endpoints are read without asking epoll first */
#define LISTEN_BACKLOG 4096

struct unix_endpoint {
    struct pvmi_endpoint base;
    int fd;
    bool dead;        /* disconnected or down; freed when progress() is over */
    bool told;        /* down was called */
    bool want_ready;  /* a frame was refused: tx_ready is due */
    bool polls_out;   /* epoll watches for room */
    bool last_large;  /* the last frame's payload was large: expect another */
    bool paused;      /* nothing is read */
    bool foreign;     /* it has sent what is no frame: all else is dropped */
    bool hung_up;     /* the peer is gone: what it has left is read in any case */
    unsigned yielded; /* in this round of progress() nothing is read */
    struct pvmi_frame *tx;
    size_t tx_done; /* bytes of tx that are out, header included */
    struct pvmi_aside traffic;
    uint8_t header_bytes[PVMI_FRAME_HEADER_BYTES];
    size_t header_have;
    int descriptor;              /* came with the first bytes of the header under way; else -1 */
    struct pvmi_frame_header rx; /* valid while in_payload */
    bool in_payload;
    uint8_t *place; /* NULL: the payload is dropped */
    uint32_t placed;
    uint8_t *unread; /* what was read behind the frame that paused us, or NULL */
    size_t unread_bytes;
    int unread_descriptor; /* came with it; else -1 */
    struct unix_endpoint *prev, *next;
};

struct unix_transport {
    struct pvmi_transport base;
    int epoll_fd;
    int listen_fd;
    int spare_fd; /* given up for a moment to refuse a connection when descriptors have run out */
    char *path;   /* of the listening socket */
    pid_t pid;    /* whose it is: a forked child leaves it where it is */
    struct unix_endpoint *endpoints;
    struct unix_endpoint *graveyard; /* dead, to be freed */
    unsigned count;
    unsigned unread; /* endpoints that have something unread */
    unsigned round;  /* of progress(), from 1 */
    bool in_progress;
    uint8_t scratch[SCRATCH_BYTES];
};

/* What a failed system call comes to. */
static int system_error(void)
{
    if (errno != EMFILE && errno != ENFILE)
        return PVMI_ESYSTEM;
    pvmi_log_once(PVMI_LOG_ERROR, "out of descriptors; raise the limit (ulimit -n)");
    return PVMI_ELIMIT;
}

static int unix_available(char *why, size_t size)
{
    if (size)
        why[0] = '\0';
    return 0;
}

/* ---- socket addresses ---- */

struct unix_address {
    struct sockaddr_un sun;
    int dir_fd; /* kept open while a path too long for sun_path is in use, else -1 */
};

/* Paths beyond sun_path's 107 bytes are reached through a descriptor of their folder. */
static int address_fill(struct unix_address *a, const char *path)
{
    memset(a, 0, sizeof *a);
    a->dir_fd = -1;
    a->sun.sun_family = AF_UNIX;
    if (strlen(path) < sizeof a->sun.sun_path) {
        strcpy(a->sun.sun_path, path);
        return 0;
    }
    char dir[4096];
    const char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) >= sizeof dir)
        return PVMI_ELIMIT;
    memcpy(dir, path, slash - path);
    dir[slash - path] = '\0';
    a->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (a->dir_fd < 0)
        return PVMI_ESYSTEM;
    int n = snprintf(a->sun.sun_path, sizeof a->sun.sun_path, "/proc/self/fd/%d%s", a->dir_fd, slash);
    return n < (int)sizeof a->sun.sun_path ? 0 : PVMI_ELIMIT;
}

static void address_release(struct unix_address *a)
{
    if (a->dir_fd >= 0)
        close(a->dir_fd);
}

/* ---- opening and closing ---- */

static int watch(struct unix_transport *t, int op, int fd, uint32_t events, void *who)
{
    struct epoll_event event = {.events = events, .data.ptr = who};
    return epoll_ctl(t->epoll_fd, op, fd, &event) ? PVMI_ESYSTEM : 0;
}

static int listen_on(struct unix_transport *t, const char *path)
{
    struct unix_address a;
    int rc = address_fill(&a, path);
    if (!rc) {
        t->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        mode_t mask = umask(0177); /* the socket is the owner's alone from its first moment */
        if (t->listen_fd < 0 || bind(t->listen_fd, (struct sockaddr *)&a.sun, sizeof a.sun))
            rc = PVMI_ESYSTEM;
        umask(mask);
    }
    if (!rc) {
        t->path = strdup(path);
        t->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (!t->path || listen(t->listen_fd, LISTEN_BACKLOG) || watch(t, EPOLL_CTL_ADD, t->listen_fd, EPOLLIN, NULL))
            rc = PVMI_ESYSTEM;
    }
    if (rc)
        pvmi_log(PVMI_LOG_ERROR, "cannot listen on socket %s: %s", path,
                 rc == PVMI_ESYSTEM ? strerror(errno) : pvmi_error_text(rc));
    address_release(&a);
    return rc;
}

static void unix_close(struct pvmi_transport *base);

static int unix_open(const char *address, const struct pvmi_callbacks *callbacks, void *arg,
                     struct pvmi_transport **out)
{
    struct unix_transport *t = calloc(1, sizeof *t);
    if (!t)
        return PVMI_ENOMEM;
    extern const struct pvmi_transport_ops pvmi_unix_ops;
    t->base = (struct pvmi_transport){.ops = &pvmi_unix_ops, .callbacks = callbacks, .arg = arg};
    t->pid = getpid();
    t->listen_fd = t->spare_fd = -1;
    t->round = 1;
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int rc = t->epoll_fd < 0 ? system_error() : address ? listen_on(t, address) : 0;
    if (rc) {
        unix_close(&t->base);
        return rc;
    }
    *out = &t->base;
    return 0;
}

/*
 * Said, and not left to close(): a child between fork and exec holds a copy of the descriptor, with which epoll would
 * go on reporting an endpoint that is freed.
 */
static void leave_epoll(const struct unix_endpoint *e)
{
    watch((struct unix_transport *)e->base.transport, EPOLL_CTL_DEL, e->fd, 0, NULL);
}

static void drop_descriptor(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Epoll is not told: it ends with the transport, or it is our parent's, if we are a forked child dropping its copies.
 */
static void endpoint_free(struct unix_endpoint *e)
{
    if (e->fd >= 0)
        close(e->fd);
    drop_descriptor(&e->descriptor);
    drop_descriptor(&e->unread_descriptor);
    pvmi_frame_unref(e->tx);
    free(e->unread);
    free(e);
}

static void unix_close(struct pvmi_transport *base)
{
    struct unix_transport *t = (struct unix_transport *)base;
    struct unix_endpoint *e, *next;
    DL_FOREACH_SAFE (t->endpoints, e, next)
        endpoint_free(e);
    DL_FOREACH_SAFE (t->graveyard, e, next)
        endpoint_free(e);
    if (t->path && t->pid == getpid())
        unlink(t->path);
    free(t->path);
    int fds[] = {t->listen_fd, t->spare_fd, t->epoll_fd};
    for (unsigned i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(t);
}

static void unix_query(const struct pvmi_transport *t, struct pvmi_attributes *out)
{
    (void)t;
    *out = (struct pvmi_attributes){
        .frame_max = 65536, .copy_max = 65536, .latency_ns = 4000, .bandwidth_mbs = 7000, .local_only = true};
}

static int unix_address(const struct pvmi_transport *base, uint8_t *blob, size_t size)
{
    const struct unix_transport *t = (const struct unix_transport *)base;
    size_t length = t->path ? strlen(t->path) : 0;
    if (!length || length > size)
        return PVMI_ELIMIT;
    memcpy(blob, t->path, length);
    return (int)length;
}

static char *path_of_blob(const uint8_t *blob, size_t length)
{
    return length && length < 4096 && !memchr(blob, 0, length) ? strndup((const char *)blob, length) : NULL;
}

static int unix_reach(const struct pvmi_transport *t, const uint8_t *blob, size_t length)
{
    (void)t;
    struct stat st;
    char *path = path_of_blob(blob, length);
    int score = path && !stat(path, &st) && S_ISSOCK(st.st_mode) ? 1 : 0;
    free(path);
    return score;
}

/* ---- endpoints ---- */

static int endpoint_new(struct unix_transport *t, int fd, struct unix_endpoint **out)
{
    struct unix_endpoint *e = calloc(1, sizeof *e);
    if (!e || watch(t, EPOLL_CTL_ADD, fd, EPOLLIN, e)) {
        free(e);
        close(fd);
        return e ? PVMI_ESYSTEM : PVMI_ENOMEM;
    }
    int bytes = SOCKET_BYTES; /* as much as the system allows: fewer wake-ups for large messages */
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    struct ucred who = {.pid = 0};
    socklen_t size = sizeof who;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size);
    e->traffic.pid = who.pid;
    e->base.transport = &t->base;
    e->fd = fd;
    e->descriptor = e->unread_descriptor = -1;
    DL_APPEND(t->endpoints, e);
    t->count++;
    *out = e;
    return 0;
}

static int unix_connect(struct pvmi_transport *base, const uint8_t *blob, size_t length, void *owner,
                        struct pvmi_endpoint **out)
{
    struct unix_transport *t = (struct unix_transport *)base;
    char *path = path_of_blob(blob, length);
    if (!path)
        return PVMI_EPARAM;
    struct unix_address a;
    int rc = address_fill(&a, path), fd = -1;
    free(path);
    if (!rc) {
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
            rc = system_error();
        else if (connect(fd, (struct sockaddr *)&a.sun, sizeof a.sun))
            rc = errno == EAGAIN                            ? PVMI_EAGAIN /* the listener's backlog is full */
                 : errno == ENOENT || errno == ECONNREFUSED ? PVMI_EUNREACHABLE
                 : errno == EACCES                          ? PVMI_EDENIED
                                                            : PVMI_ESYSTEM;
    }
    address_release(&a);
    if (rc) {
        if (fd >= 0)
            close(fd);
        return rc;
    }
    struct unix_endpoint *e;
    rc = endpoint_new(t, fd, &e);
    if (rc)
        return rc;
    e->base.owner = owner;
    *out = &e->base;
    return 0;
}

/* Takes the endpoint out of service; its memory stays until nobody on the stack can be using it. */
static void endpoint_bury(struct unix_endpoint *e)
{
    struct unix_transport *t = (struct unix_transport *)e->base.transport;
    if (e->dead)
        return;
    e->dead = true;
    leave_epoll(e);
    close(e->fd);
    e->fd = -1;
    drop_descriptor(&e->descriptor);
    pvmi_frame_unref(e->tx);
    e->tx = NULL;
    t->unread -= e->unread != NULL;
    DL_DELETE(t->endpoints, e);
    DL_APPEND(t->graveyard, e);
    t->count--;
}

static void unix_disconnect(struct pvmi_endpoint *base)
{
    struct unix_endpoint *e = (struct unix_endpoint *)base;
    struct unix_transport *t = (struct unix_transport *)base->transport;
    endpoint_bury(e);
    e->told = true; /* the owner is done with it: free it as soon as possible */
    if (!t->in_progress) {
        DL_DELETE(t->graveyard, e);
        endpoint_free(e);
    }
}

/* The connection is lost. The owner hears it once and then calls disconnect. */
static void endpoint_down(struct unix_endpoint *e, int reason)
{
    if (e->dead)
        return;
    endpoint_bury(e);
    e->base.transport->callbacks->down(e->base.transport->arg, &e->base, reason);
}

/* ---- sending ---- */

/* The iovecs of what is left of a frame after `done` bytes; returns their number. */
static unsigned frame_rest(const struct pvmi_frame *f, size_t done, uint8_t wire[PVMI_FRAME_HEADER_BYTES],
                           struct iovec rest[PVMI_FRAME_PIECES_MAX + 1])
{
    unsigned n = 0;
    if (done < PVMI_FRAME_HEADER_BYTES) {
        pvmi_frame_encode(&f->h, wire);
        rest[n++] = (struct iovec){wire + done, PVMI_FRAME_HEADER_BYTES - done};
        done = 0;
    } else {
        done -= PVMI_FRAME_HEADER_BYTES;
    }
    for (unsigned i = 0; i < f->piece_count; i++) {
        if (done >= f->pieces[i].iov_len) {
            done -= f->pieces[i].iov_len;
            continue;
        }
        rest[n++] = (struct iovec){(uint8_t *)f->pieces[i].iov_base + done, f->pieces[i].iov_len - done};
        done = 0;
    }
    return n;
}

/* With too many descriptors under way the frame goes without its own: the receiver hears that it was lost. */
static ssize_t write_message(int fd, struct msghdr *msg)
{
    for (;;) {
        ssize_t n = sendmsg(fd, msg, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == ETOOMANYREFS && msg->msg_control) {
            msg->msg_control = NULL;
            msg->msg_controllen = 0;
        } else if (n >= 0 || errno != EINTR) {
            return n;
        }
    }
}

/* Writes on: bytes written, 0 when the socket is full, or PVMI_EDOWN. */
static ssize_t write_rest(struct unix_endpoint *e, const struct pvmi_frame *f, size_t done)
{
    uint8_t wire[PVMI_FRAME_HEADER_BYTES];
    struct iovec rest[PVMI_FRAME_PIECES_MAX + 1];
    struct msghdr msg = {.msg_iov = rest, .msg_iovlen = frame_rest(f, done, wire, rest)};
    union pvmi_rights_room control;
    if (!done && f->h.flags & PVMI_FRAME_FD && f->fd >= 0)
        pvmi_rights_attach(&msg, &control, f->fd);
    ssize_t n = write_message(e->fd, &msg);
    if (n >= 0)
        return n;
    return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? 0 : PVMI_EDOWN;
}

static void poll_anew(struct unix_endpoint *e)
{
    uint32_t events = (e->paused ? 0 : EPOLLIN) | (e->polls_out ? EPOLLOUT : 0);
    watch((struct unix_transport *)e->base.transport, EPOLL_CTL_MOD, e->fd, events, e);
}

static void poll_out(struct unix_endpoint *e, bool on)
{
    if (e->polls_out == on)
        return;
    e->polls_out = on;
    poll_anew(e);
}

static int unix_send(struct pvmi_endpoint *base, struct pvmi_frame *f)
{
    struct unix_endpoint *e = (struct unix_endpoint *)base;
    if (e->dead)
        return PVMI_EDOWN;
    ssize_t n = e->tx ? 0 : write_rest(e, f, 0);
    if (n < 0)
        return PVMI_EDOWN; /* down follows from progress(), when what the peer sent before has been read */
    if (n == 0) {
        e->want_ready = true;
        poll_out(e, true);
        return PVMI_EAGAIN;
    }
    if ((size_t)n < PVMI_FRAME_HEADER_BYTES + (size_t)f->h.length) {
        e->tx = pvmi_frame_ref(f);
        e->tx_done = n;
        poll_out(e, true);
    }
    e->traffic.given += PVMI_FRAME_HEADER_BYTES + (uint64_t)f->h.length;
    return 0;
}

static void unix_traffic(const struct pvmi_endpoint *base, struct pvmi_aside *out)
{
    *out = ((const struct unix_endpoint *)base)->traffic;
}

static size_t unix_pending(const struct pvmi_endpoint *base)
{
    return ((const struct unix_endpoint *)base)->tx ? 1 : 0;
}

/* There is room again: finishes the frame under way, then says so. */
static void endpoint_writable(struct unix_endpoint *e)
{
    if (e->tx) {
        ssize_t n = write_rest(e, e->tx, e->tx_done);
        if (n <= 0)
            return; /* full still; an error shows when reading */
        e->tx_done += n;
        if (e->tx_done < PVMI_FRAME_HEADER_BYTES + (size_t)e->tx->h.length)
            return;
        pvmi_frame_unref(e->tx);
        e->tx = NULL;
    }
    poll_out(e, false);
    if (e->want_ready) {
        e->want_ready = false;
        e->base.transport->callbacks->tx_ready(e->base.transport->arg, &e->base);
    }
}

/* ---- pausing ---- */

static void unix_pause(struct pvmi_endpoint *base, bool on)
{
    struct unix_endpoint *e = (struct unix_endpoint *)base;
    if (e->dead || e->paused == on || (on && e->hung_up))
        return;
    e->paused = on;
    poll_anew(e);
}

static void unix_yield(struct pvmi_endpoint *base)
{
    struct unix_endpoint *e = (struct unix_endpoint *)base;
    e->yielded = ((struct unix_transport *)base->transport)->round;
}

static bool may_read(const struct unix_endpoint *e)
{
    return !e->dead && !e->paused && e->yielded != ((struct unix_transport *)e->base.transport)->round;
}

/* Bytes that were read already, and the descriptor that came with them, wait until reading goes on. 0 or PVMI_ENOMEM.
 */
static int keep_unread(struct unix_endpoint *e, const uint8_t *bytes, size_t count, int *arrived)
{
    uint8_t *copy = malloc(count);
    if (!copy)
        return PVMI_ENOMEM;
    memcpy(copy, bytes, count);
    e->unread = copy;
    e->unread_bytes = count;
    e->unread_descriptor = *arrived;
    *arrived = -1;
    ((struct unix_transport *)e->base.transport)->unread++;
    return 0;
}

/* ---- receiving ---- */

/* Hands the frame's descriptor over, or closes it when nobody wants it; -1: it was lost. */
static void deliver_descriptor(struct unix_endpoint *e, int fd)
{
    struct pvmi_transport *t = e->base.transport;
    bool wanted = !e->dead && e->place && e->rx.flags & PVMI_FRAME_FD && t->callbacks->rx_descriptor;
    if (wanted)
        t->callbacks->rx_descriptor(t->arg, &e->base, &e->rx, fd);
    else
        drop_descriptor(&fd);
}

static void frame_begin(struct unix_endpoint *e, int descriptor)
{
    struct pvmi_transport *t = e->base.transport;
    e->header_have = 0;
    e->in_payload = true;
    e->placed = 0;
    e->last_large = e->rx.length > LARGE_BYTES;
    e->place = t->callbacks->rx_place(t->arg, &e->base, &e->rx);
    deliver_descriptor(e, descriptor);
}

static void frame_end_if_whole(struct unix_endpoint *e)
{
    struct pvmi_transport *t = e->base.transport;
    if (e->dead || !e->in_payload || e->placed < e->rx.length)
        return;
    e->in_payload = false;
    if (e->place)
        t->callbacks->rx_done(t->arg, &e->base, &e->rx);
}

/* The descriptor of the header that is complete now, with `behind` more bytes from this read; see the top. */
static int take_descriptor(struct unix_endpoint *e, int *arrived, size_t behind)
{
    int fd = e->descriptor;
    e->descriptor = -1;
    if (fd < 0 && behind <= e->rx.length) {
        fd = *arrived;
        *arrived = -1;
    }
    return fd;
}

/*
 * Takes in bytes that were read to the scratch buffer, and *arrived, the descriptor that came with this read. Returns 0
 * or the reason to give the connection up.
 */
static int consume(struct unix_endpoint *e, const uint8_t *bytes, size_t count, int *arrived)
{
    while (count && may_read(e)) {
        if (e->in_payload) {
            size_t n = e->rx.length - e->placed < count ? e->rx.length - e->placed : count;
            if (e->place)
                memcpy(e->place + e->placed, bytes, n);
            e->placed += n;
            bytes += n;
            count -= n;
        } else {
            size_t n = PVMI_FRAME_HEADER_BYTES - e->header_have;
            if (n > count)
                n = count;
            memcpy(e->header_bytes + e->header_have, bytes, n);
            e->header_have += n;
            bytes += n;
            count -= n;
            if (e->header_have < PVMI_FRAME_HEADER_BYTES)
                return 0;
            int rc = pvmi_frame_decode(e->header_bytes, &e->rx);
            if (rc)
                return rc;
            frame_begin(e, take_descriptor(e, arrived, count));
        }
        frame_end_if_whole(e);
    }
    return count && !e->dead ? keep_unread(e, bytes, count, arrived) : 0;
}

/* What no header has taken is the one's that has begun, or nobody's. */
static void keep_descriptor(struct unix_endpoint *e, int *arrived)
{
    if (!e->dead && e->header_have && e->descriptor < 0) {
        e->descriptor = *arrived;
        *arrived = -1;
    }
    drop_descriptor(arrived);
}

/* What the peer has sent is no frame. 0: the owner decides what becomes of it; else the connection is over. */
static int refuse(struct unix_endpoint *e, int rc)
{
    const struct pvmi_transport *t = e->base.transport;
    if (t->callbacks->rx_foreign) {
        e->foreign = true;
        t->callbacks->rx_foreign(t->arg, &e->base, e->header_bytes, rc);
        return e->dead ? rc : 0;
    }
    pvmi_log(PVMI_LOG_WARNING, "connection closed: received %s", pvmi_error_text(rc));
    endpoint_down(e, rc);
    return rc;
}

/* Takes in what was read. 0, or the connection is over. */
static int take_in(struct unix_endpoint *e, const uint8_t *bytes, size_t count, int arrived)
{
    if (e->foreign) {
        drop_descriptor(&arrived);
        return 0;
    }
    int rc = consume(e, bytes, count, &arrived);
    keep_descriptor(e, &arrived);
    return rc ? refuse(e, rc) : 0;
}

/*
 * One read: the rest of the payload to its place, and what comes behind it to the scratch buffer. In a row of large
 * frames only the next header is read there, so that no payload byte is copied twice. Returns bytes read, 0 when there
 * is nothing, negative when the connection is over; *drained tells that the socket is empty now.
 */
static ssize_t endpoint_read(struct unix_endpoint *e, bool *drained)
{
    struct unix_transport *t = (struct unix_transport *)e->base.transport;
    struct iovec iov[2];
    union pvmi_rights_room control;
    struct msghdr msg = {.msg_iov = iov, .msg_control = &control, .msg_controllen = sizeof control};
    size_t direct = e->in_payload && e->place ? e->rx.length - e->placed : 0;
    size_t behind =
        e->last_large && (direct || !e->in_payload) ? PVMI_FRAME_HEADER_BYTES - e->header_have : SCRATCH_BYTES;
    if (direct)
        iov[msg.msg_iovlen++] = (struct iovec){e->place + e->placed, direct};
    iov[msg.msg_iovlen++] = (struct iovec){t->scratch, behind};
    ssize_t n;
    do
        n = recvmsg(e->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    *drained = n < (ssize_t)(direct + behind) && !msg.msg_controllen;
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0) {
        bool torn = n < 0 || e->in_payload || e->header_have;
        endpoint_down(e, torn ? PVMI_EDOWN : 0);
        return -1;
    }
    e->traffic.taken += (uint64_t)n;
    int arrived = pvmi_rights_take(&msg);
    size_t straight = (size_t)n < direct ? (size_t)n : direct;
    e->placed += straight;
    if (direct)
        frame_end_if_whole(e);
    return take_in(e, t->scratch, n - straight, arrived) ? -1 : n;
}

/* What was read before a pause. True when there was something. */
static bool take_unread(struct unix_endpoint *e)
{
    uint8_t *bytes = e->unread;
    if (!bytes || !may_read(e))
        return false;
    int arrived = e->unread_descriptor;
    e->unread = NULL;
    e->unread_descriptor = -1;
    ((struct unix_transport *)e->base.transport)->unread--;
    take_in(e, bytes, e->unread_bytes, arrived);
    free(bytes);
    return true;
}

static int endpoint_readable(struct unix_endpoint *e)
{
    int reads = take_unread(e);
    bool drained = false;
    while (reads < READS_MAX && !drained && may_read(e) && endpoint_read(e, &drained) > 0)
        reads++;
    return reads;
}

/* ---- accepting ---- */

/* Out of descriptors: take the connection with the spare one and close it, or it would wake us for ever. */
static void refuse_one(struct unix_transport *t)
{
    pvmi_log_once(PVMI_LOG_ERROR, "out of descriptors: refusing connections; raise the limit (ulimit -n)");
    close(t->spare_fd);
    int fd = accept4(t->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    t->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_all(struct unix_transport *t)
{
    for (int i = 0; i < EVENTS_MAX; i++) {
        int fd = accept4(t->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE)
                refuse_one(t);
            return;
        }
        struct ucred cred = {.pid = -1, .uid = -1};
        socklen_t size = sizeof cred;
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size);
        struct pvmi_credentials who = {.pid = cred.pid, .uid = cred.uid};
        struct unix_endpoint *e;
        if (!endpoint_new(t, fd, &e) && t->base.callbacks->accepted(t->base.arg, &e->base, &who) && !e->dead) {
            endpoint_bury(e);
            e->told = true;
        }
    }
}

/* ---- progress ---- */

static void bury_finished(struct unix_transport *t)
{
    struct unix_endpoint *e, *next;
    DL_FOREACH_SAFE (t->graveyard, e, next)
        if (e->told) {
            DL_DELETE(t->graveyard, e);
            endpoint_free(e);
        }
}

static int go_on_after_pauses(struct unix_transport *t)
{
    int n = 0;
    struct unix_endpoint *e, *next;
    DL_FOREACH_SAFE (t->endpoints, e, next)
        n += take_unread(e);
    return n;
}

/* It is read on, or epoll would report it for ever. */
static void note_hang_up(struct unix_endpoint *e)
{
    unix_pause(&e->base, false);
    e->hung_up = true;
}

static int handle_events(struct unix_transport *t)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(t->epoll_fd, events, EVENTS_MAX, 0);
    for (int i = 0; i < n; i++) {
        struct unix_endpoint *e = events[i].data.ptr;
        if (!e) {
            accept_all(t);
            continue;
        }
        if (!e->dead && events[i].events & EPOLLOUT)
            endpoint_writable(e);
        if (!e->dead && events[i].events & (EPOLLHUP | EPOLLERR))
            note_hang_up(e);
        if (!e->dead && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            endpoint_readable(e);
    }
    return n < 0 && errno != EINTR ? PVMI_ESYSTEM : n < 0 ? 0 : n;
}

/* With one or two quiet connections asking epoll first only costs time: read them at once. */
static int handle_directly(struct unix_transport *t)
{
    int n = 0;
    struct unix_endpoint *e, *next;
    DL_FOREACH_SAFE (t->endpoints, e, next) {
        n += endpoint_readable(e);
        if (e->dead)
            return n + 1;
    }
    return n;
}

static bool any_waits_for_room(const struct unix_transport *t)
{
    for (const struct unix_endpoint *e = t->endpoints; e; e = e->next)
        if (e->polls_out)
            return true;
    return false;
}

static int unix_progress(struct pvmi_transport *base)
{
    struct unix_transport *t = (struct unix_transport *)base;
    bool direct = t->listen_fd < 0 && t->count <= DIRECT_MAX && !any_waits_for_room(t);
    t->in_progress = true;
    t->round++;
    int taken = t->unread ? go_on_after_pauses(t) : 0;
    int n = direct ? handle_directly(t) : handle_events(t);
    t->in_progress = false;
    if (t->graveyard)
        bury_finished(t);
    return n < 0 ? n : n + taken;
}

static int unix_fd(struct pvmi_transport *base)
{
    return ((struct unix_transport *)base)->epoll_fd;
}

static int unix_arm(struct pvmi_transport *base)
{
    const struct unix_transport *t = (const struct unix_transport *)base;
    const struct unix_endpoint *e = t->unread ? t->endpoints : NULL;
    for (; e; e = e->next)
        if (e->unread && !e->paused)
            return 1;
    return 0; /* epoll is level-triggered: what is there stays readable */
}

const struct pvmi_transport_ops pvmi_unix_ops = {
    .name = "unix",
    .summary = "Unix stream socket between a task and its daemon",
    .available = unix_available,
    .open = unix_open,
    .close = unix_close,
    .query = unix_query,
    .address = unix_address,
    .reach = unix_reach,
    .connect = unix_connect,
    .disconnect = unix_disconnect,
    .send = unix_send,
    .pending = unix_pending,
    .traffic = unix_traffic,
    .pause = unix_pause,
    .yield = unix_yield,
    .progress = unix_progress,
    .fd = unix_fd,
    .arm = unix_arm,
};
