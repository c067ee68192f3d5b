/*
 * door.c - the offering side. Sockets listen only while an offer waits. A connection is a stranger until it has sent a
 * valid hello: until then it receives no byte, and it has TCP_STRANGER_US to send one. When there are too many
 * strangers, the oldest is closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "tcp.h"

#define BACKLOG     16
#define ACCEPTS_MAX 16 /* per event */

/* ---- listening ---- */

/* Listens at any port, or a free one of the user's range, searched from a random place. A descriptor or -errno. */
static int listen_at_some_port(const struct tcp_transport *t, union pvmw_address *a)
{
    unsigned low = t->settings.port_low, count = t->settings.port_high - low + 1;
    uint32_t start = 0;
    if (count > 1 && getrandom(&start, sizeof start, GRND_NONBLOCK) < 0)
        start = 0;
    struct pvmw_socket_listen how = {
        .buffers = &t->settings.buffers, .backlog = BACKLOG, .low = low, .count = count, .first = start % count};
    return pvmw_socket_listen(a, &how);
}

/* 0 or an errno. */
static int add_listener(struct tcp_transport *t, const union pvmw_address *at)
{
    struct tcp_listener *l = &t->door.listener[t->door.listeners];
    *l = (struct tcp_listener){.watch = {.kind = TCP_LISTENER}, .address = *at};
    l->watch.fd = listen_at_some_port(t, &l->address);
    if (l->watch.fd < 0)
        return -l->watch.fd;
    if (pvmt_tcp_watch(t, EPOLL_CTL_ADD, &l->watch, EPOLLIN)) {
        int failed = errno;
        close(l->watch.fd);
        return failed;
    }
    t->door.listeners++;
    return 0;
}

/* Listens on all addresses of a family at once. */
static int listen_everywhere(struct tcp_transport *t)
{
    union pvmw_address v4 = {.v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)}};
    union pvmw_address v6 = {.v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT}};
    int rc4 = add_listener(t, &v4), rc6 = add_listener(t, &v6);
    return rc4 && rc4 != EAFNOSUPPORT ? rc4 : rc6;
}

static int listen_on(struct tcp_transport *t, const struct pvmw_interface *locals, int count)
{
    int rc = EADDRNOTAVAIL;
    for (int i = 0; i < count && t->door.listeners < PVMT_TCP_OFFERED_MAX; i++) {
        int failed = add_listener(t, &locals[i].address);
        if (failed)
            rc = failed;
    }
    return rc;
}

static void send_away(struct tcp_transport *t, struct tcp_stranger *s)
{
    if (s->watch.fd < 0)
        return;
    if (t->tls)
        t->tls->end(s->tls, false);
    pvmt_tcp_unwatch(t, &s->watch);
    explicit_bzero(s->hello, sizeof s->hello);
    *s = (struct tcp_stranger){.watch = {.kind = TCP_STRANGER, .fd = -1}};
    t->door.strangers--;
}

static void door_close(struct tcp_transport *t)
{
    for (unsigned i = 0; i < TCP_STRANGERS_MAX; i++)
        send_away(t, &t->door.stranger[i]);
    for (unsigned i = 0; i < t->door.listeners; i++)
        pvmt_tcp_unwatch(t, &t->door.listener[i].watch);
    t->door.listeners = 0;
}

static int door_open(struct tcp_transport *t, const struct pvmw_interface *locals, int count)
{
    int why = *t->settings.interfaces ? listen_on(t, locals, count) : listen_everywhere(t);
    if (t->door.listeners)
        return 0;
    if (why == EADDRINUSE && t->settings.port_low)
        pvmc_log(PVMC_LOG_ERROR, "all ports of PVM_TCP_PORTS=%u-%u are in use: no direct TCP link; widen the range",
                 t->settings.port_low, t->settings.port_high);
    else
        pvmc_log(PVMC_LOG_WARNING, "cannot listen for direct TCP links: %s", strerror(why));
    return pvmt_tcp_error(why);
}

/* The listener that serves this address of ours, or NULL. */
static const struct tcp_listener *listener_of(const struct tcp_door *d, const union pvmw_address *own)
{
    for (unsigned i = 0; i < d->listeners; i++) {
        const union pvmw_address *a = &d->listener[i].address;
        const uint8_t *bytes;
        static const uint8_t any[16];
        size_t n = pvmw_address_number(a, &bytes);
        if (a->any.sa_family == own->any.sa_family && (!memcmp(bytes, any, n) || pvmw_address_same(a, own)))
            return &d->listener[i];
    }
    return NULL;
}

/* Link-local addresses go last, so that others are not crowded out. */
static void list_addresses(const struct tcp_transport *t, const struct pvmw_interface *locals, int count,
                           struct pvmt_tcp_offer *o)
{
    o->count = 0;
    for (int link_local = 0; link_local < 2; link_local++)
        for (int i = 0; i < count && o->count < PVMT_TCP_OFFERED_MAX; i++) {
            const union pvmw_address *own = &locals[i].address;
            const struct tcp_listener *l = listener_of(&t->door, own);
            if (!l || pvmw_address_needs_scope(own) != link_local)
                continue;
            o->addresses[o->count] = *own;
            o->trusted[o->count] = pvmt_tcp_secrecy_trusts(&t->settings.secrecy, own);
            pvmw_address_set_port(&o->addresses[o->count++], pvmw_address_port(&l->address));
        }
}

int pvmt_tcp_door_enter(struct tcp_transport *t, struct pvmt_tcp_offer *offer)
{
    struct pvmw_interface locals[PVMW_INTERFACES_MAX];
    int count = pvmw_interfaces(t->settings.interfaces, locals);
    if (count <= 0)
        return pvmt_tcp_say_no_address(t, count);
    int rc = t->door.listeners ? 0 : door_open(t, locals, count);
    if (rc)
        return rc;
    list_addresses(t, locals, count, offer);
    t->door.offers++;
    return 0;
}

void pvmt_tcp_door_leave(struct tcp_transport *t, struct tcp_link *e)
{
    for (unsigned i = 0; i < TCP_STRANGERS_MAX; i++)
        if (t->door.stranger[i].link == e)
            send_away(t, &t->door.stranger[i]);
    if (!--t->door.offers)
        door_close(t);
}

/* ---- strangers ---- */

static struct tcp_stranger *free_place(struct tcp_transport *t)
{
    struct tcp_stranger *oldest = t->door.stranger;
    for (unsigned i = 0; i < TCP_STRANGERS_MAX; i++) {
        struct tcp_stranger *s = &t->door.stranger[i];
        if (s->watch.fd < 0)
            return s;
        if (s->expires_us < oldest->expires_us)
            oldest = s;
    }
    send_away(t, oldest);
    return oldest;
}

/*
 * Out of descriptors: closes the listening sockets, which would wake us continuously. The offers stay but cannot be
 * joined; their owners give up after the time limit.
 */
static void cannot_accept(struct tcp_transport *t)
{
    pvmc_log_once(PVMC_LOG_WARNING,
                  "out of descriptors: direct TCP links are not accepted; raise the limit (ulimit -n)");
    door_close(t);
}

void pvmt_tcp_door_accept(struct tcp_transport *t, struct tcp_listener *l)
{
    for (int i = 0; i < ACCEPTS_MAX && l->watch.fd >= 0; i++) {
        int fd = accept4(l->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE)
                cannot_accept(t);
            if (errno == ECONNABORTED || errno == EINTR)
                continue;
            return;
        }
        struct tcp_stranger *s = free_place(t);
        *s = (struct tcp_stranger){.watch = {.kind = TCP_STRANGER, .fd = fd}};
        s->expires_us = pvmc_clock_us() + TCP_STRANGER_US;
        t->door.strangers++;
        if (pvmt_tcp_watch(t, EPOLL_CTL_ADD, &s->watch, EPOLLIN))
            send_away(t, s);
        else
            pvmt_tcp_door_hear(t, s); /* usually the hello is already there */
    }
}

static struct tcp_link *offer_of(struct tcp_transport *t, const uint8_t id[PVMT_TCP_ID_BYTES])
{
    struct tcp_link *e;
    DL_FOREACH (t->links, e)
        if (e->state == TCP_OFFERED && !memcmp(e->ticket.id, id, PVMT_TCP_ID_BYTES))
            return e;
    return NULL;
}

/* The stranger has proven that it holds the ticket: sends the welcome and hands the connection to the link. */
static void welcome(struct tcp_transport *t, struct tcp_stranger *s, struct tcp_link *e)
{
    uint8_t wire[PVMT_TCP_WELCOME_BYTES];
    pvmt_tcp_welcome_encode(&e->ticket, s->tls, wire);
    ssize_t n =
        s->tls ? (ssize_t)t->tls->put(s->tls, wire, sizeof wire) : send(s->watch.fd, wire, sizeof wire, MSG_NOSIGNAL);
    if (s->tls)
        t->tls->flush(s->tls);
    explicit_bzero(wire, sizeof wire);
    if (n != sizeof wire) {
        send_away(t, s);
        return;
    }
    struct tcp_watch watch = s->watch;
    struct pvmw_tls *tls = s->tls;
    s->watch.fd = -1;
    *s = (struct tcp_stranger){.watch = {.kind = TCP_STRANGER, .fd = -1}};
    t->door.strangers--;
    pvmt_tcp_door_leave(t, e);
    pvmt_tcp_link_up(e, &watch, tls);
}

static void go_on_with_tls(struct tcp_transport *t, struct tcp_stranger *s)
{
    int rc = t->tls->handshake(s->tls);
    if (rc > 0) {
        welcome(t, s, s->link);
    } else if (rc < 0) {
        pvmc_log(PVMC_LOG_INFO, "direct TCP link refused: %s", t->tls->error(s->tls));
        send_away(t, s);
    }
}

static void start_tls(struct tcp_transport *t, struct tcp_stranger *s, struct tcp_link *e)
{
    s->link = e;
    s->tls = pvmt_tcp_need_tls(t) ? t->tls->open(s->watch.fd, PVMW_TLS_CALLED, &e->ticket) : NULL;
    if (s->tls)
        go_on_with_tls(t, s);
    else
        send_away(t, s);
}

/* The hello is complete. */
static void judge(struct tcp_transport *t, struct tcp_stranger *s)
{
    uint8_t id[PVMT_TCP_ID_BYTES];
    bool tls = false;
    int rc = pvmt_tcp_hello_decode(s->hello, id, &tls);
    struct tcp_link *e = rc ? NULL : offer_of(t, id);
    bool as_set = t->settings.secrecy.mode != (tls ? PVMT_TCP_TLS_OFF : PVMT_TCP_TLS_ALWAYS);
    if (!e || !as_set || (!tls && !pvmt_tcp_hello_proves(s->hello, &e->ticket))) {
        pvmc_log(PVMC_LOG_INFO, "direct TCP link refused: %s",
                 rc        ? pvmc_error_text(rc)
                 : !e      ? "no such offer"
                 : !as_set ? "PVM_TCP_TLS differs"
                           : "wrong ticket");
        send_away(t, s);
    } else if (tls) {
        start_tls(t, s, e);
    } else {
        welcome(t, s, e);
    }
}

void pvmt_tcp_door_hear(struct tcp_transport *t, struct tcp_stranger *s)
{
    if (s->tls) {
        go_on_with_tls(t, s);
        return;
    }
    ssize_t n = recv(s->watch.fd, s->hello + s->have, sizeof s->hello - s->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        send_away(t, s);
        return;
    }
    s->have += (size_t)n;
    if (s->have == sizeof s->hello)
        judge(t, s);
}

void pvmt_tcp_door_expire(struct tcp_transport *t, int64_t now_us)
{
    for (unsigned i = 0; i < TCP_STRANGERS_MAX && t->door.strangers; i++)
        if (t->door.stranger[i].watch.fd >= 0 && t->door.stranger[i].expires_us <= now_us)
            send_away(t, &t->door.stranger[i]);
}

int64_t pvmt_tcp_door_due(const struct tcp_transport *t)
{
    int64_t due_us = INT64_MAX;
    for (unsigned i = 0; i < TCP_STRANGERS_MAX && t->door.strangers; i++) {
        const struct tcp_stranger *s = &t->door.stranger[i];
        if (s->watch.fd >= 0 && s->expires_us < due_us)
            due_us = s->expires_us;
    }
    return due_us;
}
