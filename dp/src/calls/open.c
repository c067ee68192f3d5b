/* open.c - dp_open(), dp_open_on(), dp_close(): creating and closing endpoints. */
#include "open.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/error.h"
#include "frames/helper.h"
#include "net/endpoint.h"
#include "net/local.h"
#include "frames/node.h"
#include "pool.h"
#include "table.h"
#include "wait.h"

enum {
    PART_US = 200000, /* how long to wait for the peers' byes */
    PART_PAUSE_US = 10000,
};

int dpi_endpoint_fail(int code)
{
    static const struct {
        int code, number;
    } table[] = {{PVMC_EDENIED, EACCES},   {PVMC_ENOMEM, ENOMEM},          {PVMC_ELIMIT, EMFILE},
                 {PVMC_ENOTFOUND, ENODEV}, {PVMC_EUNSUPPORTED, ENODEV},    {PVMC_EPARAM, ENODEV},
                 {PVMC_EFORMAT, EPROTO},   {PVMC_EEXISTS, EADDRINUSE},     {PVMC_EDOWN, ENETDOWN},
                 {PVMC_EAGAIN, EAGAIN},    {PVMC_EUNREACHABLE, EHOSTDOWN}, {PVMC_ESHORT, ECONNRESET}};
    errno = EIO;
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code)
            errno = table[i].number;
    return -1;
}

static int open_port(struct dpi_endpoint *e, const struct dpi_node *n)
{
    int fd = dpi_helper_open(&n->interface, n->ethertype, &e->port.point);
    if (fd < 0)
        return fd;
    e->port.fd = fd;
    return dpi_pool_open(e, &n->interface, 0);
}

static int open_descriptor(struct dpi_endpoint *e)
{
    e->fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET}, listener = {.events = EPOLLIN};
    if (e->fd < 0 || epoll_ctl(e->fd, EPOLL_CTL_ADD, e->port.fd, &event) ||
        epoll_ctl(e->fd, EPOLL_CTL_ADD, e->listener, &listener))
        return PVMC_ELIMIT;
    return 0;
}

int dpi_endpoint_make_inbox(struct dpi_endpoint *e)
{
    static const struct dpi_arrival in_ring = {.place = DPI_IN_RING};
    if (e->has_inbox)
        return 0;
    int rc = dpi_wait_open(e);
    for (unsigned i = 0; !rc && i < e->held; i++) { /* messages that the program holds already */
        rc = dpi_inbox_add(&e->inbox, &in_ring) ? 0 : PVMC_ENOMEM;
        dpi_inbox_read(&e->inbox);
    }
    e->has_inbox = !rc;
    return rc;
}

static int start(struct dpi_endpoint *e, const struct dpi_node *n)
{
    int rc = dpi_channel_listen(e);
    if (!rc)
        rc = open_port(e, n);
    if (!rc)
        rc = open_descriptor(e);
    return rc ? rc : dpi_table_put(e);
}

static struct dpi_endpoint *new_endpoint(const struct dpi_node *n, int dpid)
{
    struct dpi_endpoint *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->fd = e->listener = e->port.fd = e->timer = e->bell = -1;
    e->sessions.due_us = INT64_MAX;
    e->nart = n->nart;
    e->port.ethertype = n->ethertype;
    e->port.point = (struct dpi_point){n->id, (uint16_t)dpid};
    return e;
}

int dp_open_on(const char *ifname, int dpid)
{
    struct dpi_node n;
    if (dpid < 1 || dpid > DP_DPID_MAX) {
        errno = EINVAL;
        return -1;
    }
    int rc = dpi_node_find(ifname, &n);
    if (rc)
        return dpi_endpoint_fail(rc);
    struct dpi_endpoint *e = new_endpoint(&n, dpid);
    if (!e) {
        dpi_nart_close(n.nart);
        return dpi_endpoint_fail(PVMC_ENOMEM);
    }
    rc = start(e, &n);
    if (!rc)
        return e->fd;
    dpi_open_undo(e);
    return dpi_endpoint_fail(rc);
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

void dpi_open_undo(struct dpi_endpoint *e)
{
    close_if_open(e->fd);
    dpi_peer_free_all(e);
    dpi_session_free_spares(e);
    dpi_inbox_close(&e->inbox);
    dpi_channel_close_all(e);
    close_if_open(e->timer);
    close_if_open(e->bell);
    dpi_pool_close(e);
    close_if_open(e->listener);
    dpi_nart_close(e->nart);
    free(e);
}

void dpi_open_abandon(const struct dpi_endpoint *e)
{
    munmap(e->port.ring, e->port.ring_bytes);
    close_if_open(e->fd);
    close_if_open(e->port.fd);
    close_if_open(e->listener);
    close_if_open(e->timer);
    close_if_open(e->bell);
    for (const struct dpi_channel *c = e->channels; c; c = c->next)
        close(c->fd);
}

/* A peer that lost our last acknowledgement asks for it again, so we stay until all peers have answered our bye. */
static void part(struct dpi_endpoint *e)
{
    int64_t until_us = pvmc_clock_us() + PART_US, now_us;
    while ((now_us = pvmc_clock_us()) < until_us && dpi_session_say_bye(e, now_us)) {
        dpi_wait_sleep(e, now_us + PART_PAUSE_US);
        dpi_endpoint_drain(e);
        dpi_session_tick(e, pvmc_clock_us());
    }
}

int dp_close(int fd)
{
    struct dpi_endpoint *e = dpi_table_take(fd);
    if (!e)
        return -1;
    int rc = 0, number = 0;
    if (e->has_inbox) {
        while ((rc = dpi_endpoint_flush(e, pvmc_clock_us() + DP_LINGER_MS * INT64_C(1000))) && errno == EINTR)
            ;
        number = rc ? ETIMEDOUT : 0;
        part(e);
    }
    dpi_open_undo(e);
    errno = number;
    return rc;
}
