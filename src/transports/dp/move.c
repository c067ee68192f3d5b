/* move.c - frames from the rings to the links, what is due, and waiting. No system call while nothing goes out. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "../../core/clock.h"
#include "../../core/error.h"
#include "../../core/log.h"
#include "dp_transport.h"

#define FRAMES_MAX    128     /* from one port before the others get their turn */
#define DOWN_AGAIN_US 1000000 /* after which an interface that was down is tried again */

/* ---- ports ---- */

bool pvmi_dp_port_is_usable(const struct dp_transport *t, const struct dp_port *p)
{
    return t->now_us >= p->down_until_us;
}

/* Said once, until the interface has been seen to be up again. */
static void note_down(const struct dp_transport *t, struct dp_port *p)
{
    if (!p->down_until_us)
        pvmi_log(PVMI_LOG_WARNING,
                 "interface %s is down or gone: dp goes by other interfaces, or messages by the next route",
                 p->port.interface.name);
    p->down_until_us = t->now_us + DOWN_AGAIN_US;
}

bool pvmi_dp_ports_look_again(struct dp_transport *t)
{
    bool usable = false;
    for (unsigned i = 0; i < t->port_count; i++) {
        struct dp_port *p = &t->ports[i];
        struct pvmi_dp_interface found;
        if (p->down_until_us && !pvmi_dp_interface_find(p->port.interface.name, &found) &&
            found.index == p->port.interface.index)
            p->down_until_us = 0;
        usable = usable || !p->down_until_us;
    }
    return usable;
}

void pvmi_dp_flush(struct dp_transport *t)
{
    if (t->batch.count && pvmi_dp_batch_flush(&t->batch) == PVMI_EDOWN)
        note_down(t, (struct dp_port *)t->batch.port);
}

static struct dp_port *port_of(struct dp_transport *t, int fd)
{
    for (unsigned i = 0; i < t->port_count; i++)
        if (t->ports[i].port.fd == fd)
            return &t->ports[i];
    return NULL;
}

/*
 * A socket whose interface went down polls as failed until it has been asked. So we hear of it also where we have
 * nothing to send, and our peers, who see no more than that we are silent, can be told by another route.
 */
static void hear_errors(struct dp_transport *t)
{
    struct epoll_event events[PVMI_DP_PLACES_MAX + 1];
    int heard = 0, n = epoll_wait(t->epoll_fd, events, PVMI_DP_PLACES_MAX + 1, 0);
    for (int i = 0; i < n; i++) {
        struct dp_port *p = events[i].events & EPOLLERR ? port_of(t, events[i].data.fd) : NULL;
        int error = 0;
        socklen_t length = sizeof error;
        if (!p || getsockopt(p->port.fd, SOL_SOCKET, SO_ERROR, &error, &length) || error != ENETDOWN)
            continue;
        if (!heard++)
            t->now_us = pvmi_clock_us();
        note_down(t, p);
    }
    if (!heard)
        return;
    pvmi_dp_ports_look_again(t); /* it may have been for a moment only */
    pvmi_dp_links_check(t);
}

/* ---- in ---- */

static void refuse(struct dp_transport *t, struct pvmi_dp_port *p, const uint8_t *frame,
                   const struct pvmi_dp_message *m)
{
    uint8_t answer[PVMI_RELIABLE_HEADER_BYTES];
    size_t length = pvmi_reliable_refuse(frame + PVMI_DP_HEADERS_BYTES, m->length, t->now_us, answer);
    struct pvmi_dp_message back = {
        .kind = PVMI_DP_RELIABLE, .to = m->from, .from = p->point, .length = (uint16_t)length};
    struct iovec piece = {answer, length};
    if (length)
        pvmi_dp_port_send(p, &back, frame + 6, &piece, 1);
}

static struct dp_link *link_of(struct dp_transport *t, uint32_t own)
{
    struct dp_link *l = t->last;
    if (l && l->own == own)
        return l;
    HASH_FIND(hh, t->links, &own, sizeof own, l);
    t->last = l;
    return l;
}

static void take_frame(struct dp_transport *t, unsigned port, const uint8_t *frame, size_t length)
{
    struct pvmi_dp_port *p = &t->ports[port].port;
    struct pvmi_dp_message m;
    if (pvmi_dp_message_decode(frame, length, &m) || m.kind != PVMI_DP_RELIABLE || m.to.point != p->point.point)
        return;
    const uint8_t *packet = frame + PVMI_DP_HEADERS_BYTES;
    uint32_t own = pvmi_reliable_addressee(packet, m.length);
    struct dp_link *l = own ? link_of(t, own) : NULL;
    if (own && (!l || pvmi_dp_link_take(l, port, frame + 6, &m, packet) == PVMI_EDENIED))
        refuse(t, p, frame, &m);
}

static int take_frames(struct dp_transport *t)
{
    int n = 0;
    for (unsigned i = 0; i < t->port_count; i++) {
        struct pvmi_dp_port *p = &t->ports[i].port;
        const uint8_t *frame;
        size_t length;
        for (int from_here = 0; from_here < FRAMES_MAX && (frame = pvmi_dp_port_next(p, &length)); from_here++, n++) {
            if (!n)
                t->now_us = pvmi_clock_us();
            take_frame(t, i, frame, length);
            pvmi_dp_port_give_back(p, 1);
        }
    }
    return n;
}

/* ---- progress ---- */

#define LINK_OF(entry) ((struct dp_link *)((char *)(entry)-offsetof(struct dp_link, agenda)))

static int settle_touched(struct dp_transport *t)
{
    int n = 0;
    struct dp_link *l = t->touched, *next;
    for (t->touched = NULL; l; l = next) { /* those that are touched from now on have their turn next time */
        next = l->next_touched;
        l->touched = false;
        n += pvmi_dp_link_settle(l);
    }
    return n;
}

static int settle_due(struct dp_transport *t)
{
    int n = 0;
    struct pvmi_agenda_entry *e = pvmi_agenda_first(&t->agenda);
    for (; e && e->due_us <= t->now_us; e = pvmi_agenda_first(&t->agenda)) {
        struct dp_link *l = LINK_OF(e);
        pvmi_agenda_set(&t->agenda, e, INT64_MAX); /* settling enters it again */
        n += pvmi_dp_link_settle(l);
    }
    return n;
}

int pvmi_dp_progress(struct pvmi_transport *base)
{
    struct dp_transport *t = (struct dp_transport *)base;
    t->in_progress = true;
    int n = take_frames(t);
    if (!n && (t->touched || pvmi_agenda_first(&t->agenda)))
        t->now_us = pvmi_clock_us();
    if (t->touched)
        n += settle_touched(t);
    n += settle_due(t);
    pvmi_dp_flush(t);
    t->in_progress = false;
    if (t->graveyard)
        pvmi_dp_links_bury(t);
    if (t->slept && !n)
        hear_errors(t);
    t->slept = false;
    return n;
}

/* ---- waiting ---- */

/* A timer that goes off too early does no harm: it is left as it is while something is due at all. */
static void set_timer(struct dp_transport *t, int64_t due_us)
{
    bool set = t->timer_us > t->now_us;
    if (due_us == INT64_MAX ? !t->timer_us : set && t->timer_us <= due_us)
        return;
    t->timer_us = due_us == INT64_MAX ? 0 : due_us;
    struct itimerspec when = {.it_value = {.tv_sec = t->timer_us / 1000000, .tv_nsec = t->timer_us % 1000000 * 1000}};
    timerfd_settime(t->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void acknowledge(struct dp_transport *t)
{
    struct dp_link *l = t->owing, *next;
    for (t->owing = NULL; l; l = next) {
        next = l->next_owing;
        l->owing = false;
        pvmi_dp_link_acknowledge(l);
    }
    pvmi_dp_flush(t);
}

static bool has_frames(struct dp_transport *t)
{
    for (unsigned i = 0; i < t->port_count; i++)
        if (pvmi_dp_port_has_next(&t->ports[i].port))
            return true;
    return false;
}

int pvmi_dp_arm(struct pvmi_transport *base)
{
    struct dp_transport *t = (struct dp_transport *)base;
    if (t->touched || has_frames(t))
        return 1;
    if (t->owing || pvmi_agenda_first(&t->agenda) || t->timer_us)
        t->now_us = pvmi_clock_us();
    if (t->owing)
        acknowledge(t);
    if (t->touched) /* a link has broken by that */
        return 1;
    const struct pvmi_agenda_entry *e = pvmi_agenda_first(&t->agenda);
    if (e && e->due_us <= t->now_us)
        return 1;
    set_timer(t, e ? e->due_us : INT64_MAX);
    t->slept = true;
    return 0;
}
