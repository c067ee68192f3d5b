/* pool.c - dp_mmap(), dp_fsync(): the token buffer pool. */
#include "pool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/error.h"
#include "net/local.h"
#include "wait.h"

#define POOL_BYTES (8u << 20) /* of a default pool, about */

static unsigned usual(const struct dpi_interface *interface)
{
    unsigned frames = POOL_BYTES / (unsigned)(interface->mtu + 100);
    return frames < DPI_ENDPOINT_FRAMES ? frames : DPI_ENDPOINT_FRAMES;
}

int dpi_pool_open(struct dpi_endpoint *e, const struct dpi_interface *interface, unsigned messages)
{
    struct dpi_port *p = &e->port;
    int rc = dpi_port_open(p, p->fd, interface, p->ethertype, p->point, messages ? messages : usual(interface));
    if (rc)
        return rc;
    e->frame = calloc(1, DPI_HEADERS_BYTES + (size_t)dpi_port_room(p));
    return e->frame ? 0 : PVMC_ENOMEM;
}

void dpi_pool_close(struct dpi_endpoint *e)
{
    if (e->port.fd >= 0)
        dpi_port_close(&e->port);
    free(e->frame);
}

int dp_mmap(int fd, dpmmap_t *tbp)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    if (!tbp || tbp->messages > DPI_FRAMES_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (tbp->messages && tbp->messages != e->port.frames) {
        int rc = e->held || e->inbox.end != e->inbox.oldest || e->sessions.active
                     ? PVMC_EAGAIN
                     : dpi_port_resize(&e->port, tbp->messages);
        if (rc == PVMC_EAGAIN) {
            errno = EBUSY;
            return -1;
        }
        if (rc)
            return dpi_endpoint_fail(rc);
    }
    tbp->messages = e->port.frames;
    tbp->message_bytes = (unsigned)dpi_port_room(&e->port);
    tbp->bytes = e->port.ring_bytes;
    tbp->address = e->port.ring;
    return 0;
}

static void release(struct dpi_endpoint *e, const struct dpi_arrival *a)
{
    if (a->place == DPI_IN_RING)
        dpi_port_give_back(&e->port, 1);
    else if (a->place == DPI_IN_HEAP)
        free(a->owner);
    else
        dpi_channel_release(a->owner, a->length);
}

static int release_of_inbox(struct dpi_endpoint *e, unsigned n)
{
    if (n > dpi_inbox_held(&e->inbox)) {
        errno = EINVAL;
        return -1;
    }
    while (n--) {
        struct dpi_arrival a = dpi_inbox_drop(&e->inbox);
        release(e, &a);
    }
    if (e->sessions.starved && e->inbox.end - e->inbox.oldest <= e->port.frames / 4)
        dpi_session_feed(e);
    if (dpi_inbox_waiting(&e->inbox))
        dpi_wait_leave(e);
    return 0;
}

int dp_fsync(int fd, int n)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    if (e->has_inbox && n >= 0)
        return release_of_inbox(e, (unsigned)n);
    if (n < 0 || (unsigned)n > e->held) {
        errno = EINVAL;
        return -1;
    }
    dpi_port_give_back(&e->port, (unsigned)n);
    e->held -= (unsigned)n;
    return 0;
}
