/* open.c - dp_open(), dp_open_on(), dp_close(): an endpoint and its descriptor. */
#include "open.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../core/clock.h"
#include "../core/error.h"
#include "../transports/dp/helper.h"
#include "endpoint.h"
#include "local.h"
#include "node.h"
#include "pool.h"
#include "table.h"
#include "wait.h"

enum {
    PART_US = 200000, /* how long to wait for peers to take leave */
    PART_PAUSE_US = 10000,
};

int pvmi_endpoint_fail(int code)
{
    static const struct {
        int code, number;
    } table[] = {{PVMI_EDENIED, EACCES},   {PVMI_ENOMEM, ENOMEM},          {PVMI_ELIMIT, EMFILE},
                 {PVMI_ENOTFOUND, ENODEV}, {PVMI_EUNSUPPORTED, ENODEV},    {PVMI_EPARAM, ENODEV},
                 {PVMI_EFORMAT, EPROTO},   {PVMI_EEXISTS, EADDRINUSE},     {PVMI_EDOWN, ENETDOWN},
                 {PVMI_EAGAIN, EAGAIN},    {PVMI_EUNREACHABLE, EHOSTDOWN}, {PVMI_ESHORT, ECONNRESET}};
    errno = EIO;
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code)
            errno = table[i].number;
    return -1;
}

static int open_port(struct pvmi_endpoint *e, const struct pvmi_node *n)
{
    int fd = pvmi_dp_helper_open(&n->interface, n->ethertype, &e->port.point);
    if (fd < 0)
        return fd;
    e->port.fd = fd;
    return pvmi_pool_open(e, &n->interface, 0);
}

static int open_descriptor(struct pvmi_endpoint *e)
{
    e->fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET}, door = {.events = EPOLLIN};
    if (e->fd < 0 || epoll_ctl(e->fd, EPOLL_CTL_ADD, e->port.fd, &event) ||
        epoll_ctl(e->fd, EPOLL_CTL_ADD, e->door, &door))
        return PVMI_ELIMIT;
    return 0;
}

int pvmi_endpoint_make_inbox(struct pvmi_endpoint *e)
{
    static const struct pvmi_arrival in_ring = {.place = PVMI_IN_RING};
    if (e->has_inbox)
        return 0;
    int rc = pvmi_wait_open(e);
    for (unsigned i = 0; !rc && i < e->held; i++) { /* those that the user has already */
        rc = pvmi_inbox_add(&e->inbox, &in_ring) ? 0 : PVMI_ENOMEM;
        pvmi_inbox_read(&e->inbox);
    }
    e->has_inbox = !rc;
    return rc;
}

static int start(struct pvmi_endpoint *e, const struct pvmi_node *n)
{
    int rc = pvmi_channel_open_door(e);
    if (!rc)
        rc = open_port(e, n);
    if (!rc)
        rc = open_descriptor(e);
    return rc ? rc : pvmi_table_put(e);
}

static struct pvmi_endpoint *new_endpoint(const struct pvmi_node *n, int dpid)
{
    struct pvmi_endpoint *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->fd = e->door = e->port.fd = e->timer = e->bell = -1;
    e->sessions.due_us = INT64_MAX;
    e->nart = n->nart;
    e->port.ethertype = n->ethertype;
    e->port.point = (struct pvmi_dp_point){n->id, (uint16_t)dpid};
    return e;
}

int dp_open_on(const char *ifname, int dpid)
{
    struct pvmi_node n;
    if (dpid < 1 || dpid > DP_DPID_MAX) {
        errno = EINVAL;
        return -1;
    }
    int rc = pvmi_node_find(ifname, &n);
    if (rc)
        return pvmi_endpoint_fail(rc);
    struct pvmi_endpoint *e = new_endpoint(&n, dpid);
    if (!e) {
        pvmi_nart_close(n.nart);
        return pvmi_endpoint_fail(PVMI_ENOMEM);
    }
    rc = start(e, &n);
    if (!rc)
        return e->fd;
    pvmi_open_undo(e);
    return pvmi_endpoint_fail(rc);
}

int dp_open(int dpid)
{
    return dp_open_on(NULL, dpid);
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void pvmi_open_undo(struct pvmi_endpoint *e)
{
    close_if_open(e->fd);
    pvmi_peer_free_all(e);
    pvmi_session_free_spares(e);
    pvmi_inbox_close(&e->inbox);
    pvmi_channel_close_all(e);
    close_if_open(e->timer);
    close_if_open(e->bell);
    pvmi_pool_close(e);
    close_if_open(e->door);
    pvmi_nart_close(e->nart);
    free(e);
}

void pvmi_open_abandon(const struct pvmi_endpoint *e)
{
    munmap(e->port.ring, e->port.ring_bytes);
    close_if_open(e->fd);
    close_if_open(e->port.fd);
    close_if_open(e->door);
    close_if_open(e->timer);
    close_if_open(e->bell);
    for (const struct pvmi_channel *c = e->channels; c; c = c->next)
        close(c->fd);
}

/* Peers whose last acknowledgement from us got lost ask for it again, so we stay until they have taken leave. */
static void part(struct pvmi_endpoint *e)
{
    int64_t until_us = pvmi_clock_us() + PART_US, now_us;
    while ((now_us = pvmi_clock_us()) < until_us && pvmi_session_part(e, now_us)) {
        pvmi_wait_sleep(e, now_us + PART_PAUSE_US);
        pvmi_endpoint_drain(e);
        pvmi_session_tick(e, pvmi_clock_us());
    }
}

int dp_close(int fd)
{
    struct pvmi_endpoint *e = pvmi_table_take(fd);
    if (!e)
        return -1;
    int rc = 0, number = 0;
    if (e->has_inbox) {
        while ((rc = pvmi_endpoint_flush(e, pvmi_clock_us() + DP_LINGER_MS * INT64_C(1000))) && errno == EINTR)
            ;
        number = rc ? ETIMEDOUT : 0;
        part(e);
    }
    pvmi_open_undo(e);
    errno = number;
    return rc;
}
