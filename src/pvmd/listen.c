/* listen.c - the daemon's TCP port. */
#include "listen.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>
#include "../core/error.h"
#include "../core/log.h"
#include "address.h"

#define ACCEPTS_MAX 16   /* in one turn of the loop */
#define PAUSE_S     0.25 /* without accepting, when descriptors have run out */

struct stranger {
    int fd;
    ev_io io;
    ev_timer limit;
    uint8_t nonce[PVMD_NONCE_BYTES];
    uint8_t wire[PVMD_PREFACE_BYTES];
    size_t bytes;
    struct stranger *prev, *next;
};

static struct ev_loop *loop;
static const struct pvmd_listen_events *events;
static int listen_fd = -1;
static uint16_t listen_port;
static ev_io accept_watcher;
static ev_timer pause_timer;
static struct stranger *strangers; /* oldest first */
static unsigned stranger_count;
static struct pvmd_listen_counts counts;

const struct pvmd_listen_counts *pvmd_listen_counts(void)
{
    return &counts;
}

uint16_t pvmd_listen_port(void)
{
    return listen_port;
}

/* ---- strangers ---- */

/* Frees the stranger; its descriptor only if it is still its own. */
static void forget(struct stranger *s)
{
    ev_io_stop(loop, &s->io);
    ev_timer_stop(loop, &s->limit);
    if (s->fd >= 0)
        close(s->fd);
    DL_DELETE(strangers, s);
    stranger_count--;
    OPENSSL_cleanse(s, sizeof *s);
    free(s);
}

static void turn_away(struct stranger *s, int rc)
{
    counts.denied += rc == PVMI_EDENIED;
    counts.malformed += rc != PVMI_EDENIED;
    pvmi_log(PVMI_LOG_DEBUG, "turned a stranger away: %s", pvmi_error_text(rc));
    forget(s);
}

/* Tells the verdict: 0, or why the connection is of no use. */
static int answer(struct stranger *s, enum pvmd_verdict verdict)
{
    uint8_t wire[PVMD_ANSWER_BYTES];
    int rc = pvmd_preface_answer(verdict, s->wire, &pvmd_secrets->door, s->nonce, wire);
    if (rc)
        return rc;
    return send(s->fd, wire, sizeof wire, MSG_NOSIGNAL) == (ssize_t)sizeof wire ? 0 : PVMI_EDOWN;
}

static void judge(struct stranger *s)
{
    struct pvmd_preface p;
    uint8_t key[PVMD_KEY_BYTES];
    int rc = pvmd_preface_decode(s->wire, &pvmd_secrets->door, s->nonce, &p);
    rc = rc ? rc : pvmd_preface_key(s->wire, &pvmd_secrets->machine, s->nonce, key);
    if (rc) {
        turn_away(s, rc);
        return;
    }
    enum pvmd_verdict verdict = events->offered(&p);
    if (answer(s, verdict) || verdict != PVMD_VERDICT_GO) {
        forget(s);
    } else {
        int fd = s->fd;
        s->fd = -1;
        forget(s);
        counts.accepted++;
        events->accepted(&p, fd, key);
    }
    OPENSSL_cleanse(key, sizeof key);
}

static void read_event(struct ev_loop *l, ev_io *w, int revents)
{
    struct stranger *s = w->data;
    (void)l, (void)revents;
    ssize_t n = recv(s->fd, s->wire + s->bytes, sizeof s->wire - s->bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        counts.malformed++;
        forget(s);
        return;
    }
    s->bytes += (size_t)n;
    if (s->bytes == sizeof s->wire)
        judge(s);
}

static void limit_event(struct ev_loop *l, ev_timer *w, int revents)
{
    (void)l, (void)revents;
    counts.too_slow++;
    forget(w->data);
}

static void welcome(int fd)
{
    struct stranger *s = calloc(1, sizeof *s);
    int one = 1;
    if (!s || RAND_bytes(s->nonce, sizeof s->nonce) != 1 ||
        send(fd, s->nonce, sizeof s->nonce, MSG_NOSIGNAL) != (ssize_t)sizeof s->nonce) {
        free(s);
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (stranger_count == PVMD_STRANGERS_MAX) {
        counts.too_many++;
        forget(strangers);
    }
    s->fd = fd;
    ev_io_init(&s->io, read_event, fd, EV_READ);
    ev_timer_init(&s->limit, limit_event, PVMD_STRANGER_S, 0.);
    s->io.data = s->limit.data = s;
    ev_io_start(loop, &s->io);
    ev_timer_start(loop, &s->limit);
    DL_APPEND(strangers, s);
    stranger_count++;
}

/* ---- the port ---- */

static void pause_accepting(void)
{
    pvmi_log_once(PVMI_LOG_WARNING, "cannot accept a connection: %s (raise 'ulimit -n')", strerror(errno));
    ev_io_stop(loop, &accept_watcher);
    ev_timer_set(&pause_timer, PAUSE_S, 0.);
    ev_timer_start(loop, &pause_timer);
}

static void pause_event(struct ev_loop *l, ev_timer *w, int revents)
{
    (void)l, (void)w, (void)revents;
    ev_io_start(loop, &accept_watcher);
}

static void accept_event(struct ev_loop *l, ev_io *w, int revents)
{
    (void)l, (void)w, (void)revents;
    for (unsigned i = 0; i < ACCEPTS_MAX; i++) {
        int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            welcome(fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting();
        if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

/* A listening socket at exactly this address: its descriptor, or -1 with errno. */
static int listen_at(const struct pvmd_address *a)
{
    int zero = 0, one = 1;
    int fd = socket(a->u.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (a->u.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (!bind(fd, &a->u.any, pvmd_address_bytes(a)) && !listen(fd, SOMAXCONN))
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* The same at the first free port from `port` on. */
static int listen_from(const char *ip, uint16_t port)
{
    struct pvmd_address a;
    int fd = -1;
    if (pvmd_address_parse(ip, port, &a)) {
        errno = EINVAL;
        return -1;
    }
    do {
        pvmd_address_set_port(&a, port);
        fd = listen_at(&a);
    } while (fd < 0 && errno == EADDRINUSE && port && ++port);
    return fd;
}

int pvmd_listen_start(struct ev_loop *l, const char *ip, uint16_t port, const struct pvmd_listen_events *e)
{
    loop = l;
    events = e;
    listen_fd = listen_from(*ip ? ip : "::", port);
    if (listen_fd < 0 && !*ip)
        listen_fd = listen_from("0.0.0.0", port); /* no IPv6 here */
    if (listen_fd < 0) {
        pvmi_log(PVMI_LOG_ERROR, "cannot listen on %s: %s; PVM_IP must be an address of this host, or not set",
                 *ip ? ip : "any address", strerror(errno));
        return PVMI_ESYSTEM;
    }
    struct pvmd_address a = {0};
    socklen_t size = sizeof a;
    getsockname(listen_fd, &a.u.any, &size);
    listen_port = pvmd_address_port(&a);
    ev_io_init(&accept_watcher, accept_event, listen_fd, EV_READ);
    ev_io_start(loop, &accept_watcher);
    ev_init(&pause_timer, pause_event);
    return 0;
}

void pvmd_listen_stop(void)
{
    if (listen_fd < 0)
        return;
    while (strangers)
        forget(strangers);
    ev_io_stop(loop, &accept_watcher);
    ev_timer_stop(loop, &pause_timer);
    close(listen_fd);
    listen_fd = -1;
}
