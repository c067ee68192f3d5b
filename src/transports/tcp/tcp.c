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
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "tcp.h"

#define EVENTS_MAX 64
#define DIRECT_MAX PVMT_SLEEP_FDS /* with up to this many links, they are read without epoll */
#define EPOLL_TURN 16             /* reads between two calls of epoll for other events */

/* ---- settings ---- */

/* "4000" or "4000-4100" or "": 0, or PVMC_EPARAM with the reason in why[size]. */
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
    snprintf(why, size, "PVM_TCP_PORTS=%s is not a range of ports such as 4000-4100", text);
    return PVMC_EPARAM;
}

static int read_congestion(struct tcp_settings *s, char *why, size_t size)
{
    const char *choice = pvmc_config_text(PVMC_SETTING_TCP_CONGESTION);
    int error = strlen(choice) < sizeof s->congestion ? pvmw_congestion_check(choice) : ENOENT;
    if (error) {
        snprintf(why, size, "PVM_TCP_CONGESTION=%s: %s; it is auto, system, or a name in %s", choice, strerror(error),
                 "/proc/sys/net/ipv4/tcp_allowed_congestion_control");
        return PVMC_EPARAM;
    }
    snprintf(s->congestion, sizeof s->congestion, "%s", choice);
    return 0;
}

static int read_settings(struct tcp_settings *s, char *why, size_t size)
{
    s->nodelay = pvmc_config_bool(PVMC_SETTING_TCP_NODELAY);
    s->buffers.send_bytes = (int)pvmc_config_integer(PVMC_SETTING_TCP_SNDBUF);
    s->buffers.receive_bytes = (int)pvmc_config_integer(PVMC_SETTING_TCP_RCVBUF);
    int64_t silence_ms = pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) / 1000;
    s->silence_ms = silence_ms < INT_MAX ? (unsigned)silence_ms : INT_MAX;
    int rc = read_congestion(s, why, size);
    if (!rc)
        rc = parse_ports(pvmc_config_text(PVMC_SETTING_TCP_PORTS), s, why, size);
    return rc ? rc : pvmt_tcp_secrecy_read(&s->secrecy, why, size);
}

static int check_addresses(const char *choice, char *why, size_t size)
{
    struct pvmw_interface locals[PVMW_INTERFACES_MAX];
    int count = pvmw_interfaces(choice, locals);
    if (count > 0)
        return 0;
    size_t at = (size_t)snprintf(why, size,
                                 *choice ? "PVM_TCP_IF=%s names none of this host's interfaces and addresses"
                                         : "no interface with an address is up%s",
                                 choice);
    count = *choice ? pvmw_interfaces("", locals) : 0;
    for (int i = 0; i < count && at < size; i++) {
        char text[PVMW_ADDRESS_TEXT];
        at += (size_t)snprintf(why + at, size - at, "%s%s %s", i ? ", " : ": ", locals[i].name,
                               pvmw_address_text(&locals[i].address, text));
    }
    return PVMC_ENOTFOUND;
}

static int tcp_available(char *why, size_t size)
{
    struct tcp_settings s;
    char reason[1024] = "";
    int v4 = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), failed = errno;
    int v6 = v4 < 0 ? socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1, rc = 0;
    if (v4 < 0 && v6 < 0) {
        snprintf(reason, sizeof reason, "no TCP sockets can be made: %s", strerror(failed));
        rc = pvmt_tcp_error(failed);
    }
    if (v4 >= 0)
        close(v4);
    if (v6 >= 0)
        close(v6);
    if (!rc)
        rc = read_settings(&s, reason, sizeof reason);
    if (!rc)
        rc = check_addresses(pvmc_config_text(PVMC_SETTING_TCP_IF), reason, sizeof reason);
    if (!rc && s.secrecy.mode == PVMT_TCP_TLS_ALWAYS && !pvmt_tcp_tls_load(reason, sizeof reason))
        rc = PVMC_EUNSUPPORTED;
    if (size)
        snprintf(why, size, "%s", reason);
    return rc;
}

static void tcp_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    (void)t;
    struct tcp_settings s;
    char why[256];
    bool readable = !read_settings(&s, why, sizeof why);
    *out = (struct pvmt_attributes){.frame_max = PVMC_FRAME_PAYLOAD_MAX,
                                    .secrecy = readable ? pvmt_tcp_secrecy_text(&s.secrecy) : NULL,
                                    .copy_max = PVMC_FRAME_PAYLOAD_MAX,
                                    .latency_ns = 6000,
                                    .bandwidth_mbs = 5000};
}

/* ---- descriptors ---- */

int pvmt_tcp_error(int number)
{
    switch (number) {
    case EMFILE:
    case ENFILE:
    case EADDRINUSE:
    case EAGAIN:
        return PVMC_ELIMIT;
    case ENOMEM:
    case ENOBUFS:
        return PVMC_ENOMEM;
    case EACCES:
    case EPERM:
        return PVMC_EDENIED;
    case EAFNOSUPPORT:
        return PVMC_EUNSUPPORTED;
    default:
        return PVMC_EUNREACHABLE;
    }
}

int pvmt_tcp_say_no_address(struct tcp_transport *t, int rc)
{
    bool chosen = *t->settings.interfaces && rc == PVMC_ENOTFOUND;
    pvmc_log(t->complained ? PVMC_LOG_INFO : PVMC_LOG_WARNING, "no direct TCP link: %s%s",
             chosen                       ? "none of this host's addresses is in PVM_TCP_IF="
             : rc && rc != PVMC_ENOTFOUND ? "cannot ask for this host's addresses: "
                                          : "this host has no address",
             chosen              ? t->settings.interfaces
             : rc == PVMC_ELIMIT ? "out of descriptors (ulimit -n)"
                                 : "");
    t->complained = true;
    return rc ? rc : PVMC_ENOTFOUND;
}

int pvmt_tcp_watch(struct tcp_transport *t, int op, struct tcp_watch *w, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = w};
    return epoll_ctl(t->epoll_fd, op, w->fd, &event) ? PVMC_ESYSTEM : 0;
}

/* Tells epoll explicitly, because close() does not end the watch while a child between fork and exec holds a copy. */
void pvmt_tcp_unwatch(struct tcp_transport *t, struct tcp_watch *w)
{
    if (w->fd < 0)
        return;
    epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
    close(w->fd);
    w->fd = -1;
}

/* ---- opening and closing ---- */

static void tcp_close(struct pvmt_transport *base);

bool pvmt_tcp_need_tls(struct tcp_transport *t)
{
    char why[1024];
    if (!t->tls && !(t->tls = pvmt_tcp_tls_load(why, sizeof why)))
        pvmc_log_once(PVMC_LOG_ERROR, "no direct TCP link can be encrypted, the daemons carry the messages: %s", why);
    return t->tls;
}

static int set_up(struct tcp_transport *t)
{
    char why[256];
    int rc = read_settings(&t->settings, why, sizeof why);
    if (rc) {
        pvmc_log(PVMC_LOG_ERROR, "no direct TCP links: %s", why);
        return rc;
    }
    t->settings.interfaces = strdup(pvmc_config_text(PVMC_SETTING_TCP_IF));
    if (!t->settings.interfaces)
        return PVMC_ENOMEM;
    pvmw_host_identity(t->host);
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (t->epoll_fd < 0) {
        pvmc_log(PVMC_LOG_ERROR, "no direct TCP links: epoll: %s", strerror(errno));
        return pvmt_tcp_error(errno);
    }
    return t->settings.secrecy.mode == PVMT_TCP_TLS_ALWAYS && !pvmt_tcp_need_tls(t) ? PVMC_EUNSUPPORTED : 0;
}

static int tcp_open(const char *address, const struct pvmt_callbacks *callbacks, void *arg, struct pvmt_transport **out)
{
    extern const struct pvmt_transport_ops pvmt_tcp_ops;
    if (address)
        return PVMC_EUNSUPPORTED; /* this transport connects by offer */
    struct tcp_transport *t = calloc(1, sizeof *t);
    if (!t)
        return PVMC_ENOMEM;
    t->base = (struct pvmt_transport){.ops = &pvmt_tcp_ops, .callbacks = callbacks, .arg = arg};
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

/* A forked child drops its copies silently: messages to epoll or the peers would seem to come from its parent. */
static void tcp_close(struct pvmt_transport *base)
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
            pvmt_tcp_door_leave(t, e);
        else if (e->state == TCP_DIALING)
            pvmt_tcp_dial_drop(e);
        pvmt_tcp_link_free(e);
    }
    DL_FOREACH_SAFE (t->graveyard, e, next)
        pvmt_tcp_link_free(e);
    pvmt_tcp_unwatch(t, &t->timer);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
    free(t->settings.interfaces);
    free(t);
}

/* ---- the timer: for strangers and for silent addresses ---- */

/* Without a timer descriptor, progress() still handles what is due whenever it is called. */
static void set_timer(struct tcp_transport *t)
{
    int64_t stranger_us = pvmt_tcp_door_due(t), dial_us = pvmt_tcp_dial_due(t);
    int64_t due_us = stranger_us < dial_us ? stranger_us : dial_us;
    if (due_us == INT64_MAX)
        due_us = 0;
    if (due_us == t->timer_us)
        return;
    t->timer_us = due_us;
    if (!due_us) {
        pvmt_tcp_unwatch(t, &t->timer);
        return;
    }
    if (t->timer.fd < 0) {
        t->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (t->timer.fd >= 0 && pvmt_tcp_watch(t, EPOLL_CTL_ADD, &t->timer, EPOLLIN))
            pvmt_tcp_unwatch(t, &t->timer);
    }
    struct itimerspec when = {.it_value = {.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000}};
    if (t->timer.fd >= 0)
        timerfd_settime(t->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void do_what_is_due(struct tcp_transport *t)
{
    int64_t now_us = pvmc_clock_us();
    if (now_us < t->timer_us)
        return;
    pvmt_tcp_door_expire(t, now_us);
    pvmt_tcp_dial_expire(t, now_us);
}

/* ---- offering and joining ---- */

static int tcp_offer(struct pvmt_transport *base, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                     struct pvmt_endpoint **out)
{
    struct tcp_transport *t = (struct tcp_transport *)base;
    struct pvmt_tcp_offer offer = {.mode = t->settings.secrecy.mode};
    struct tcp_link *e;
    *fd = -1;
    memcpy(offer.host, t->host, sizeof offer.host);
    int rc = pvmt_tcp_ticket_draw(&offer.ticket);
    if (!rc)
        rc = pvmt_tcp_door_enter(t, &offer);
    if (rc)
        return rc;
    rc = pvmt_tcp_offer_encode(&offer, blob);
    int made = rc < 0 ? rc : pvmt_tcp_link_new(t, owner, TCP_OFFERED, &e);
    if (made) {
        pvmt_tcp_door_leave(t, NULL);
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
            pvmt_tcp_link_free(e);
        }
    pvmt_tcp_dial_free_spent(t);
}

static void tcp_disconnect(struct pvmt_endpoint *base)
{
    struct tcp_link *e = (struct tcp_link *)base;
    struct tcp_transport *t = (struct tcp_transport *)base->transport;
    if (e->state == TCP_DIALING && !e->stream.ended && !e->told)
        pvmt_tcp_dial_cancel(e);
    pvmt_tcp_link_bury(e);
    e->told = true; /* the owner no longer needs it: free it as soon as possible */
    if (!t->in_progress) {
        bury_finished(t);
        set_timer(t);
    }
}

static int tcp_join(struct pvmt_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                    uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out)
{
    struct tcp_transport *t = (struct tcp_transport *)base;
    struct pvmt_tcp_offer offer;
    struct tcp_link *e;
    (void)reply;
    if (fd >= 0)
        close(fd);
    int rc = pvmt_tcp_offer_decode(blob, length, &offer);
    if (!rc)
        rc = pvmt_tcp_link_new(t, owner, TCP_DIALING, &e);
    if (rc)
        return rc;
    rc = pvmt_tcp_dial_start(e, &offer);
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

static bool tcp_encrypts(const struct pvmt_endpoint *base)
{
    return ((const struct tcp_link *)base)->stream.tls;
}

static size_t tcp_pending(const struct pvmt_endpoint *base)
{
    return ((const struct tcp_link *)base)->stream.queued;
}

/* ---- progress ---- */

#define PART_OF(type, watch_) ((type *)((char *)(watch_)-offsetof(type, watch)))

static void handle(struct tcp_transport *t, struct tcp_watch *w, uint32_t events)
{
    struct tcp_link *e;
    uint64_t ticks;
    switch (w->kind) {
    case TCP_LISTENER:
        pvmt_tcp_door_accept(t, PART_OF(struct tcp_listener, w));
        break;
    case TCP_STRANGER:
        pvmt_tcp_door_hear(t, PART_OF(struct tcp_stranger, w));
        break;
    case TCP_ATTEMPT:
        pvmt_tcp_dial_continue(w);
        break;
    case TCP_LINK:
        e = PART_OF(struct tcp_link, w);
        if (events & EPOLLOUT)
            pvmt_tcp_link_writable(e);
        if (!e->stream.ended && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            pvmt_tcp_link_readable(e);
        break;
    case TCP_TIMER:
        if (read(w->fd, &ticks, sizeof ticks) < 0 && errno != EAGAIN)
            pvmc_log_once(PVMC_LOG_WARNING, "timer: %s", strerror(errno));
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
    return n < 0 ? errno == EINTR ? 0 : PVMC_ESYSTEM : n;
}

/* With one or two quiet links, epoll only costs time: read them at once. */
static int read_all(struct tcp_transport *t)
{
    int n = 0;
    struct tcp_link *e, *next;
    t->unread = false;
    DL_FOREACH_SAFE (t->links, e, next) {
        if (e->state != TCP_UP)
            continue;
        int reads = pvmt_tcp_link_readable(e);
        n += reads;
        if (reads && !e->stream.ended && !e->aside)
            pvmt_tcp_link_set_aside(e);
        if (e->stream.ended || (next && next->stream.ended)) { /* the list has changed: the others come next time */
            t->unread |= t->tls != NULL;
            return n + 1;
        }
    }
    return n;
}

/* Whether the links that are up are few, and only reading is due. */
static bool is_direct(const struct tcp_transport *t)
{
    return t->up <= DIRECT_MAX && !t->waiting;
}

/* Whether epoll may report anything else. */
static bool has_others(const struct tcp_transport *t)
{
    return t->door.listeners || t->dialing || !t->up;
}

static int tcp_progress(struct pvmt_transport *base)
{
    struct tcp_transport *t = (struct tcp_transport *)base;
    bool few = is_direct(t), others = has_others(t);
    int n = 0, events = 0;
    t->in_progress = true;
    if (few || t->unread)
        n = read_all(t);
    if (!few && t->aside)
        pvmt_tcp_links_watch_all(t);
    if (!few || (others && t->turn++ % EPOLL_TURN == 0))
        events = handle_events(t);
    t->in_progress = false;
    if (t->graveyard || t->spent)
        bury_finished(t);
    if (t->timer_us || t->door.strangers || t->dialing)
        set_timer(t);
    return events < 0 ? events : n + events;
}

static int tcp_fd(struct pvmt_transport *base)
{
    return ((struct tcp_transport *)base)->epoll_fd;
}

/* Epoll is level-triggered: unread data stays readable. */
static int tcp_arm(struct pvmt_transport *base)
{
    struct tcp_transport *t = (struct tcp_transport *)base;
    t->turn = 0;
    if (t->aside)
        pvmt_tcp_links_watch_all(t);
    return t->unread;
}

static unsigned tcp_sleep_on(struct pvmt_transport *base, struct pollfd fds[PVMT_SLEEP_FDS])
{
    const struct tcp_transport *t = (const struct tcp_transport *)base;
    unsigned n = 0;
    if (!is_direct(t) || has_others(t) || t->timer_us || t->unread)
        return 0;
    for (const struct tcp_link *e = t->links; e; e = e->next)
        if (e->state == TCP_UP)
            fds[n++] = (struct pollfd){.fd = e->watch.fd, .events = POLLIN};
    return n;
}

const struct pvmt_transport_ops pvmt_tcp_ops = {
    .name = "tcp",
    .summary = "TCP connections between tasks, over IPv4 and IPv6",
    .available = tcp_available,
    .open = tcp_open,
    .close = tcp_close,
    .query = tcp_query,
    .offer = tcp_offer,
    .join = tcp_join,
    .disconnect = tcp_disconnect,
    .send = pvmt_tcp_link_send,
    .pending = tcp_pending,
    .encrypts = tcp_encrypts,
    .progress = tcp_progress,
    .fd = tcp_fd,
    .arm = tcp_arm,
    .sleep_on = tcp_sleep_on,
};
