/* tell.c - dp_mode(), dp_spin(), dp_address(), dp_stats(): properties of an endpoint. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include "net/endpoint.h"

static int invalid(int number)
{
    errno = number;
    return -1;
}

int dp_mode(int fd, int mode)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    if (mode < DP_RAW || mode > DP_GO_BACK_N)
        return invalid(EINVAL);
    if (e->in_use && mode != e->mode)
        return invalid(EBUSY);
    int rc = mode == DP_RAW ? 0 : dpi_endpoint_make_inbox(e);
    if (rc)
        return dpi_endpoint_fail(rc);
    e->mode = mode;
    return 0;
}

/* A spinning endpoint is not in the epoll set, since waking the set costs time for each frame. */
int dp_spin(int fd, int on)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    if (!e)
        return -1;
    if (e->spins == !!on)
        return 0;
    if (epoll_ctl(e->fd, on ? EPOLL_CTL_DEL : EPOLL_CTL_ADD, e->port.fd, &event))
        return -1;
    e->spins = on;
    return 0;
}

int dp_address(int fd, dpaddress_t *address)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    if (!address)
        return invalid(EINVAL);
    *address = (dpaddress_t){.nid = e->port.point.node,
                             .dpid = e->port.point.point,
                             .message_bytes = e->mode == DP_RAW ? dpi_port_room(&e->port) : dpi_session_room(e),
                             .target_nid = e->target ? e->target->point.node : 0,
                             .target_dpid = e->target ? e->target->point.point : 0,
                             .mode = e->mode,
                             .ethertype = e->port.ethertype};
    memcpy(address->interface, e->port.interface.name, sizeof address->interface);
    memcpy(address->hardware, e->port.interface.hardware, sizeof address->hardware);
    return 0;
}

int dp_stats(int fd, dpstats_t *statistics)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    if (!statistics)
        return invalid(EINVAL);
    e->counts.dropped += dpi_port_dropped(&e->port);
    e->counts.peers = HASH_COUNT(e->peers);
    *statistics = e->counts;
    for (const struct dpi_session *s = e->sessions.active; s; s = s->after)
        if (s->r)
            dpi_session_count(s, statistics);
    const struct dpi_session *s = e->target ? e->target->session : NULL;
    if (s && s->r)
        statistics->round_trip_us = (uint64_t)pvmw_reliable_round_trip_us(s->r);
    return 0;
}
