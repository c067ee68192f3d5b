/* move.c - packets from the rings, interfaces that go down, and waiting. Receiving makes no system call. */
#include <errno.h>
#include <sys/epoll.h>
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "dp_transport.h"

#define FRAMES_MAX    128     /* packets of one port before the next port's turn */
#define DOWN_AGAIN_US 1000000 /* pause before an interface that was down is retried */

/* ---- ports ---- */

bool pvmt_dp_port_is_usable(const struct dp_transport *t, const struct dp_port *p)
{
    return t->base.now_us >= p->down_until_us;
}

/* Logs once until the interface is seen up again. */
static void note_down(const struct dp_transport *t, struct dp_port *p)
{
    if (!p->down_until_us)
        pvmc_log(PVMC_LOG_WARNING,
                 "interface %s is down or gone: dp uses other interfaces, or messages take the next route",
                 p->port.interface.name);
    p->down_until_us = t->base.now_us + DOWN_AGAIN_US;
}

bool pvmt_dp_ports_look_again(struct dp_transport *t)
{
    bool usable = false;
    for (unsigned i = 0; i < t->port_count; i++) {
        struct dp_port *p = &t->ports[i];
        struct dpi_interface found;
        if (p->down_until_us && !dpi_interface_find(p->port.interface.name, &found) &&
            found.index == p->port.interface.index)
            p->down_until_us = 0;
        usable = usable || !p->down_until_us;
    }
    return usable;
}

void pvmt_dp_flush(struct pvmt_datagram *base)
{
    struct dp_transport *t = (struct dp_transport *)base;
    if (t->batch.count && dpi_batch_flush(&t->batch) == PVMC_EDOWN)
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
 * A socket whose interface went down polls as failed until its error is read. Reading it ends links that have nothing
 * to send; their peers, which only notice silence, can be told by another route.
 */
static void hear_errors(struct dp_transport *t)
{
    struct epoll_event events[PVMT_DP_PLACES_MAX + 1];
    int heard = 0, n = epoll_wait(t->base.epoll_fd, events, PVMT_DP_PLACES_MAX + 1, 0);
    for (int i = 0; i < n; i++) {
        struct dp_port *p = events[i].events & EPOLLERR ? port_of(t, events[i].data.fd) : NULL;
        int error = 0;
        socklen_t length = sizeof error;
        if (!p || getsockopt(p->port.fd, SOL_SOCKET, SO_ERROR, &error, &length) || error != ENETDOWN)
            continue;
        if (!heard++)
            t->base.now_us = pvmc_clock_us();
        note_down(t, p);
    }
    if (!heard)
        return;
    pvmt_dp_ports_look_again(t); /* the interface may be up again */
    pvmt_dp_links_check(t);
}

/* ---- incoming packets ---- */

static void refuse(struct dp_transport *t, struct dpi_port *p, const uint8_t *frame, const struct dpi_message *m)
{
    uint8_t answer[PVMW_RELIABLE_HEADER_BYTES];
    size_t length = pvmw_reliable_refuse(frame + DPI_HEADERS_BYTES, m->length, t->base.now_us, answer);
    struct dpi_message back = {.kind = DPI_RELIABLE, .to = m->from, .from = p->point, .length = (uint16_t)length};
    struct iovec piece = {answer, length};
    if (length)
        dpi_port_send(p, &back, frame + 6, &piece, 1);
}

static void take_frame(struct dp_transport *t, unsigned port, const uint8_t *frame, size_t length)
{
    struct dpi_port *p = &t->ports[port].port;
    struct dpi_message m;
    if (dpi_message_decode(frame, length, &m) || m.kind != DPI_RELIABLE || m.to.point != p->point.point)
        return;
    const uint8_t *packet = frame + DPI_HEADERS_BYTES;
    uint32_t own = pvmw_reliable_addressee(packet, m.length);
    struct dp_link *l = own ? (struct dp_link *)pvmt_datagram_find(&t->base, own) : NULL;
    if (own && (!l || pvmt_dp_link_take(l, port, frame + 6, &m, packet) == PVMC_EDENIED))
        refuse(t, p, frame, &m);
}

int pvmt_dp_hear(struct pvmt_datagram *base)
{
    struct dp_transport *t = (struct dp_transport *)base;
    int n = 0;
    for (unsigned i = 0; i < t->port_count; i++) {
        struct dpi_port *p = &t->ports[i].port;
        const uint8_t *frame;
        size_t length;
        for (int from_here = 0; from_here < FRAMES_MAX && (frame = dpi_port_next(p, &length)); from_here++, n++) {
            if (!n)
                t->base.now_us = pvmc_clock_us();
            take_frame(t, i, frame, length);
            dpi_port_give_back(p, 1);
        }
    }
    return n;
}

/* ---- progress and waiting ---- */

int pvmt_dp_progress(struct pvmt_transport *base)
{
    struct dp_transport *t = (struct dp_transport *)base;
    int n = pvmt_datagram_progress(base);
    if (t->slept && !n)
        hear_errors(t);
    t->slept = false;
    return n;
}

bool pvmt_dp_has_packets(struct pvmt_datagram *base)
{
    struct dp_transport *t = (struct dp_transport *)base;
    for (unsigned i = 0; i < t->port_count; i++)
        if (dpi_port_has_next(&t->ports[i].port))
            return true;
    return false;
}

int pvmt_dp_sleep_until(struct pvmt_datagram *base, int64_t due_us)
{
    pvmt_datagram_wake_at(base, due_us);
    ((struct dp_transport *)base)->slept = true;
    return 0;
}
