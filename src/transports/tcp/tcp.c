/*
 * tcp.c - frames over TCP connections between tasks. The joining side connects to an address of the offer and shows
 * the ticket that came with it (doc/protocol.md section 4).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utlist.h>
#include "../../core/clock.h"
#include "../../core/config.h"
#include "../../core/error.h"
#include "../../core/log.h"
#include "tcp.h"

#define EVENTS_MAX 64
#define DIRECT_MAX 2  /* up to this many links are read without asking epoll first */
#define EPOLL_TURN 16 /* while they are, epoll is asked for other things only every so often */

/* ---- settings ---- */

/* "4000" or "4000-4100" or "": 0, or PVMI_EPARAM with the reason in why[size]. */
static int parse_ports(const char *text, struct tcp_settings *s, char *why, size_t size)
{
    int used = 0;
    s->port_low = s->port_high = 0;
    if (!*text)
        return 0;
    int n = sscanf(text, "%u%n-%u%n", &s->port_low, &used, &s->port_high, &used);
    if (n == 1)
        s->port_high = s->port_low;
    if (n >= 1 && !text[used] && s->port_low && s->port_low <= s->port_high && s->port_high <= 65535)
        return 0;
    snprintf(why, size, "PVM_TCP_PORTS=%s is no range of ports such as 4000-4100", text);
    return PVMI_EPARAM;
}

static int read_settings(struct tcp_settings *s, char *why, size_t size)
{
    s->nodelay = pvmi_config_bool(PVMI_SETTING_TCP_NODELAY);
    s->send_bytes = (int)pvmi_config_integer(PVMI_SETTING_TCP_SNDBUF);
    s->receive_bytes = (int)pvmi_config_integer(PVMI_SETTING_TCP_RCVBUF);
    int64_t silence_ms = pvmi_config_us(PVMI_SETTING_HOST_TIMEOUT) / 1000;
    s->silence_ms = silence_ms < INT_MAX ? (unsigned)silence_ms : INT_MAX;
    int rc = parse_ports(pvmi_config_text(PVMI_SETTING_TCP_PORTS), s, why, size);
    return rc ? rc : pvmi_tcp_secrecy_read(&s->secrecy, why, size);
}

static int check_addresses(const char *choice, char *why, size_t size)
{
    struct pvmi_tcp_local locals[PVMI_TCP_LOCAL_MAX];
    int count = pvmi_tcp_locals(choice, locals);
    if (count > 0)
        return 0;
    size_t at = (size_t)snprintf(why, size,
                                 *choice ? "PVM_TCP_IF=%s names none of this host's interfaces and addresses"
                                         : "no interface with an address is up%s",
                                 choice);
    count = *choice ? pvmi_tcp_locals("", locals) : 0;
    for (int i = 0; i < count && at < size; i++) {
        char text[PVMI_TCP_TEXT_BYTES];
        at += (size_t)snprintf(why + at, size - at, "%s%s %s", i ? ", " : ": ", locals[i].interface,
                               pvmi_tcp_address_text(&locals[i].address, text));
    }
    return PVMI_ENOTFOUND;
}

static int tcp_available(char *why, size_t size)
{
    struct tcp_settings s;
    char reason[1024] = "";
    int v4 = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), failed = errno;
    int v6 = v4 < 0 ? socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1, rc = 0;
    if (v4 < 0 && v6 < 0) {
        snprintf(reason, sizeof reason, "no TCP sockets can be made: %s", strerror(failed));
        rc = pvmi_tcp_error(failed);
    }
    if (v4 >= 0)
        close(v4);
    if (v6 >= 0)
        close(v6);
    if (!rc)
        rc = read_settings(&s, reason, sizeof reason);
    if (!rc)
        rc = check_addresses(pvmi_config_text(PVMI_SETTING_TCP_IF), reason, sizeof reason);
    if (!rc && s.secrecy.mode == PVMI_TCP_TLS_ALWAYS && !pvmi_tcp_tls_load(reason, sizeof reason))
        rc = PVMI_EUNSUPPORTED;
    if (size)
        snprintf(why, size, "%s", reason);
    return rc;
}

static void tcp_query(const struct pvmi_transport *t, struct pvmi_attributes *out)
{
    (void)t;
    struct tcp_settings s;
    char why[256];
    bool readable = !read_settings(&s, why, sizeof why);
    *out = (struct pvmi_attributes){.frame_max = PVMI_FRAME_PAYLOAD_MAX,
                                    .secrecy = readable ? pvmi_tcp_secrecy_text(&s.secrecy) : NULL,
                                    .copy_max = PVMI_FRAME_PAYLOAD_MAX,
                                    .latency_ns = 6000,
                                    .bandwidth_mbs = 5000};
}

/* ---- descriptors ---- */

int pvmi_tcp_error(int number)
{
    switch (number) {
    case EMFILE:
    case ENFILE:
    case EADDRINUSE:
    case EAGAIN:
        return PVMI_ELIMIT;
    case ENOMEM:
    case ENOBUFS:
        return PVMI_ENOMEM;
    case EACCES:
    case EPERM:
        return PVMI_EDENIED;
    case EAFNOSUPPORT:
        return PVMI_EUNSUPPORTED;
    default:
        return PVMI_EUNREACHABLE;
    }
}

int pvmi_tcp_say_no_address(struct tcp_transport *t, int rc)
{
    bool chosen = *t->settings.interfaces && rc == PVMI_ENOTFOUND;
    pvmi_log(t->complained ? PVMI_LOG_INFO : PVMI_LOG_WARNING, "no direct TCP link: %s%s",
             chosen                       ? "none of this host's addresses is in PVM_TCP_IF="
             : rc && rc != PVMI_ENOTFOUND ? "cannot ask for this host's addresses: "
                                          : "this host has no address",
             chosen              ? t->settings.interfaces
             : rc == PVMI_ELIMIT ? "out of descriptors (ulimit -n)"
                                 : "");
    t->complained = true;
    return rc ? rc : PVMI_ENOTFOUND;
}

int pvmi_tcp_watch(struct tcp_transport *t, int op, struct tcp_watch *w, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = w};
    return epoll_ctl(t->epoll_fd, op, w->fd, &event) ? PVMI_ESYSTEM : 0;
}

/* Said to epoll, and not left to close(): a child between fork and exec holds copies of the descriptors. */
void pvmi_tcp_unwatch(struct tcp_transport *t, struct tcp_watch *w)
{
    if (w->fd < 0)
        return;
    epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
    close(w->fd);
    w->fd = -1;
}

int pvmi_tcp_socket(const struct tcp_transport *t, int family)
{
    const struct tcp_settings *s = &t->settings;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fd;
    if (s->send_bytes)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &s->send_bytes, sizeof s->send_bytes);
    if (s->receive_bytes) /* before connect() and listen(), which agree on the window's scale */
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &s->receive_bytes, sizeof s->receive_bytes);
    return fd;
}

/* ---- opening and closing ---- */

static void tcp_close(struct pvmi_transport *base);

bool pvmi_tcp_need_tls(struct tcp_transport *t)
{
    char why[1024];
    if (!t->tls && !(t->tls = pvmi_tcp_tls_load(why, sizeof why)))
        pvmi_log_once(PVMI_LOG_ERROR, "no direct TCP link can be encrypted, the daemons carry the messages: %s", why);
    return t->tls;
}

static int set_up(struct tcp_transport *t)
{
    char why[256];
    int rc = read_settings(&t->settings, why, sizeof why);
    if (rc) {
        pvmi_log(PVMI_LOG_ERROR, "no direct TCP links: %s", why);
        return rc;
    }
    t->settings.interfaces = strdup(pvmi_config_text(PVMI_SETTING_TCP_IF));
    if (!t->settings.interfaces)
        return PVMI_ENOMEM;
    pvmi_host_identity(t->host);
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (t->epoll_fd < 0) {
        pvmi_log(PVMI_LOG_ERROR, "no direct TCP links: epoll: %s", strerror(errno));
        return pvmi_tcp_error(errno);
    }
    return t->settings.secrecy.mode == PVMI_TCP_TLS_ALWAYS && !pvmi_tcp_need_tls(t) ? PVMI_EUNSUPPORTED : 0;
}

static int tcp_open(const char *address, const struct pvmi_callbacks *callbacks, void *arg, struct pvmi_transport **out)
{
    extern const struct pvmi_transport_ops pvmi_tcp_ops;
    if (address)
        return PVMI_EUNSUPPORTED; /* it connects by offer */
    struct tcp_transport *t = calloc(1, sizeof *t);
    if (!t)
        return PVMI_ENOMEM;
    t->base = (struct pvmi_transport){.ops = &pvmi_tcp_ops, .callbacks = callbacks, .arg = arg};
    t->pid = getpid();
    t->epoll_fd = -1;
    t->timer = (struct tcp_watch){.kind = TCP_TIMER, .fd = -1};
    for (unsigned i = 0; i < TCP_STRANGERS_MAX; i++)
        t->door.stranger[i].watch = (struct tcp_watch){.kind = TCP_STRANGER, .fd = -1};
    int rc = set_up(t);
    if (rc) {
        tcp_close(&t->base);
        return rc;
    }
    *out = &t->base;
    return 0;
}

/* A forked child drops its copies in silence: what it told epoll or a peer, it would tell in its parent's name. */
static void tcp_close(struct pvmi_transport *base)
{
    struct tcp_transport *t = (struct tcp_transport *)base;
    struct tcp_link *e, *next;
    if (t->epoll_fd >= 0 && t->pid != getpid()) {
        close(t->epoll_fd);
        t->epoll_fd = -1;
    }
    DL_FOREACH_SAFE (t->links, e, next) {
        DL_DELETE(t->links, e);
        if (e->state == TCP_OFFERED)
            pvmi_tcp_door_leave(t, e);
        else if (e->state == TCP_DIALING)
            pvmi_tcp_dial_drop(e);
        pvmi_tcp_link_free(e);
    }
    DL_FOREACH_SAFE (t->graveyard, e, next)
        pvmi_tcp_link_free(e);
    pvmi_tcp_unwatch(t, &t->timer);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
    free(t->settings.interfaces);
    free(t);
}

/* ---- the timer: for strangers and for addresses that do not answer ---- */

/* Without a descriptor for it, progress() still does what is due whenever it is called. */
static void set_timer(struct tcp_transport *t)
{
    int64_t stranger_us = pvmi_tcp_door_due(t), dial_us = pvmi_tcp_dial_due(t);
    int64_t due_us = stranger_us < dial_us ? stranger_us : dial_us;
    if (due_us == INT64_MAX)
        due_us = 0;
    if (due_us == t->timer_us)
        return;
    t->timer_us = due_us;
    if (!due_us) {
        pvmi_tcp_unwatch(t, &t->timer);
        return;
    }
    if (t->timer.fd < 0) {
        t->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (t->timer.fd >= 0 && pvmi_tcp_watch(t, EPOLL_CTL_ADD, &t->timer, EPOLLIN))
            pvmi_tcp_unwatch(t, &t->timer);
    }
    struct itimerspec when = {.it_value = {.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000}};
    if (t->timer.fd >= 0)
        timerfd_settime(t->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void do_what_is_due(struct tcp_transport *t)
{
    int64_t now_us = pvmi_clock_us();
    if (now_us < t->timer_us)
        return;
    pvmi_tcp_door_expire(t, now_us);
    pvmi_tcp_dial_expire(t, now_us);
}

/* ---- offering and joining ---- */

static int tcp_offer(struct pvmi_transport *base, void *owner, uint8_t blob[PVMI_OFFER_MAX], int *fd,
                     struct pvmi_endpoint **out)
{
    struct tcp_transport *t = (struct tcp_transport *)base;
    struct pvmi_tcp_offer offer = {.mode = t->settings.secrecy.mode};
    struct tcp_link *e;
    *fd = -1;
    memcpy(offer.host, t->host, sizeof offer.host);
    int rc = pvmi_tcp_ticket_draw(&offer.ticket);
    if (!rc)
        rc = pvmi_tcp_door_enter(t, &offer);
    if (rc)
        return rc;
    rc = pvmi_tcp_offer_encode(&offer, blob);
    int made = rc < 0 ? rc : pvmi_tcp_link_new(t, owner, TCP_OFFERED, &e);
    if (made) {
        pvmi_tcp_door_leave(t, NULL);
        return made;
    }
    e->ticket = offer.ticket;
    explicit_bzero(&offer, sizeof offer);
    *out = &e->base;
    return rc;
}

static void bury_finished(struct tcp_transport *t)
{
    struct tcp_link *e, *next;
    DL_FOREACH_SAFE (t->graveyard, e, next)
        if (e->told) {
            DL_DELETE(t->graveyard, e);
            pvmi_tcp_link_free(e);
        }
    pvmi_tcp_dial_free_spent(t);
}

static void tcp_disconnect(struct pvmi_endpoint *base)
{
    struct tcp_link *e = (struct tcp_link *)base;
    struct tcp_transport *t = (struct tcp_transport *)base->transport;
    if (e->state == TCP_DIALING && !e->dead && !e->told)
        pvmi_tcp_dial_cancel(e);
    pvmi_tcp_link_bury(e);
    e->told = true; /* the owner is done with it: free it as soon as possible */
    if (!t->in_progress) {
        bury_finished(t);
        set_timer(t);
    }
}

static int tcp_join(struct pvmi_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                    uint8_t reply[PVMI_OFFER_MAX], struct pvmi_endpoint **out)
{
    struct tcp_transport *t = (struct tcp_transport *)base;
    struct pvmi_tcp_offer offer;
    struct tcp_link *e;
    (void)reply;
    if (fd >= 0)
        close(fd);
    int rc = pvmi_tcp_offer_decode(blob, length, &offer);
    if (!rc)
        rc = pvmi_tcp_link_new(t, owner, TCP_DIALING, &e);
    if (rc)
        return rc;
    rc = pvmi_tcp_dial_start(e, &offer);
    explicit_bzero(&offer, sizeof offer);
    if (rc) {
        e->told = true;
        tcp_disconnect(&e->base);
        return rc;
    }
    set_timer(t);
    *out = &e->base;
    return 0;
}

static bool tcp_encrypts(const struct pvmi_endpoint *base)
{
    return ((const struct tcp_link *)base)->tls;
}

static size_t tcp_pending(const struct pvmi_endpoint *base)
{
    return ((const struct tcp_link *)base)->queued;
}

/* ---- progress ---- */

#define PART_OF(type, watch_) ((type *)((char *)(watch_)-offsetof(type, watch)))

static void handle(struct tcp_transport *t, struct tcp_watch *w, uint32_t events)
{
    struct tcp_link *e;
    uint64_t ticks;
    switch (w->kind) {
    case TCP_LISTENER:
        pvmi_tcp_door_accept(t, PART_OF(struct tcp_listener, w));
        break;
    case TCP_STRANGER:
        pvmi_tcp_door_hear(t, PART_OF(struct tcp_stranger, w));
        break;
    case TCP_ATTEMPT:
        pvmi_tcp_dial_continue(w);
        break;
    case TCP_LINK:
        e = PART_OF(struct tcp_link, w);
        if (events & EPOLLOUT)
            pvmi_tcp_link_writable(e);
        if (!e->dead && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            pvmi_tcp_link_readable(e);
        break;
    case TCP_TIMER:
        if (read(w->fd, &ticks, sizeof ticks) < 0 && errno != EAGAIN)
            pvmi_log_once(PVMI_LOG_WARNING, "timer: %s", strerror(errno));
        break;
    }
}

static int handle_events(struct tcp_transport *t)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(t->epoll_fd, events, EVENTS_MAX, 0);
    for (int i = 0; i < n; i++) {
        struct tcp_watch *w = events[i].data.ptr;
        if (w->fd >= 0) /* ended by an earlier event */
            handle(t, w, events[i].events);
    }
    if (t->timer_us)
        do_what_is_due(t);
    return n < 0 ? errno == EINTR ? 0 : PVMI_ESYSTEM : n;
}

/* With one or two quiet links asking epoll first only costs time: read them at once. */
static int read_all(struct tcp_transport *t)
{
    int n = 0;
    struct tcp_link *e, *next;
    t->unread = false;
    DL_FOREACH_SAFE (t->links, e, next) {
        if (e->state != TCP_UP)
            continue;
        int reads = pvmi_tcp_link_readable(e);
        n += reads;
        if (reads && !e->dead && !e->aside)
            pvmi_tcp_link_set_aside(e);
        if (e->dead || (next && next->dead)) { /* the list has changed: the others come next time */
            t->unread |= t->tls != NULL;
            return n + 1;
        }
    }
    return n;
}

static int tcp_progress(struct pvmi_transport *base)
{
    struct tcp_transport *t = (struct tcp_transport *)base;
    bool few = t->up <= DIRECT_MAX && !t->waiting, others = t->door.listeners || t->dialing || !t->up;
    int n = 0, events = 0;
    t->in_progress = true;
    if (few || t->unread)
        n = read_all(t);
    if (!few && t->aside)
        pvmi_tcp_links_watch_all(t);
    if (!few || (others && t->turn++ % EPOLL_TURN == 0))
        events = handle_events(t);
    t->in_progress = false;
    if (t->graveyard || t->spent)
        bury_finished(t);
    if (t->timer_us || t->door.strangers || t->dialing)
        set_timer(t);
    return events < 0 ? events : n + events;
}

static int tcp_fd(struct pvmi_transport *base)
{
    return ((struct tcp_transport *)base)->epoll_fd;
}

/* Epoll is level-triggered: what is there stays readable. */
static int tcp_arm(struct pvmi_transport *base)
{
    struct tcp_transport *t = (struct tcp_transport *)base;
    t->turn = 0;
    if (t->aside)
        pvmi_tcp_links_watch_all(t);
    return t->unread;
}

const struct pvmi_transport_ops pvmi_tcp_ops = {
    .name = "tcp",
    .summary = "TCP connections between tasks, over IPv4 and IPv6",
    .available = tcp_available,
    .open = tcp_open,
    .close = tcp_close,
    .query = tcp_query,
    .offer = tcp_offer,
    .join = tcp_join,
    .disconnect = tcp_disconnect,
    .send = pvmi_tcp_link_send,
    .pending = tcp_pending,
    .encrypts = tcp_encrypts,
    .progress = tcp_progress,
    .fd = tcp_fd,
    .arm = tcp_arm,
};
