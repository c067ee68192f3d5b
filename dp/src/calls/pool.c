/* pool.c - dp_mmap(), dp_fsync(): the pool. */
#include "pool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../core/error.h"
#include "local.h"
#include "wait.h"

#define POOL_BYTES (8u << 20) /* of a usual pool, about */

static unsigned usual(const struct pvmi_dp_interface *interface)
{
    unsigned frames = POOL_BYTES / (unsigned)(interface->mtu + 100);
    return frames < PVMI_ENDPOINT_FRAMES ? frames : PVMI_ENDPOINT_FRAMES;
}

int pvmi_pool_open(struct pvmi_endpoint *e, const struct pvmi_dp_interface *interface, unsigned messages)
{
    struct pvmi_dp_port *p = &e->port;
    int rc = pvmi_dp_port_open(p, p->fd, interface, p->ethertype, p->point, messages ? messages : usual(interface));
    if (rc)
        return rc;
    e->frame = calloc(1, PVMI_DP_HEADERS_BYTES + (size_t)pvmi_dp_port_room(p));
    return e->frame ? 0 : PVMI_ENOMEM;
}

void pvmi_pool_close(struct pvmi_endpoint *e)
{
    if (e->port.fd >= 0)
        pvmi_dp_port_close(&e->port);
    free(e->frame);
}

int dp_mmap(int fd, dpmmap_t *tbp)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return -1;
    if (!tbp || tbp->messages > PVMI_DP_FRAMES_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (tbp->messages && tbp->messages != e->port.frames) {
        int rc = e->held || e->inbox.end != e->inbox.oldest || e->sessions.active
                     ? PVMI_EAGAIN
                     : pvmi_dp_port_resize(&e->port, tbp->messages);
        if (rc == PVMI_EAGAIN) {
            errno = EBUSY;
            return -1;
        }
        if (rc)
            return pvmi_endpoint_fail(rc);
    }
    tbp->messages = e->port.frames;
    tbp->message_bytes = (unsigned)pvmi_dp_port_room(&e->port);
    tbp->bytes = e->port.ring_bytes;
    tbp->address = e->port.ring;
    return 0;
}

static void release(struct pvmi_endpoint *e, const struct pvmi_arrival *a)
{
    if (a->place == PVMI_IN_RING)
        pvmi_dp_port_give_back(&e->port, 1);
    else if (a->place == PVMI_IN_HEAP)
        free(a->owner);
    else
        pvmi_channel_release(a->owner, a->length);
}

static int release_of_inbox(struct pvmi_endpoint *e, unsigned n)
{
    if (n > pvmi_inbox_held(&e->inbox)) {
        errno = EINVAL;
        return -1;
    }
    while (n--) {
        struct pvmi_arrival a = pvmi_inbox_drop(&e->inbox);
        release(e, &a);
    }
    if (e->sessions.starved && e->inbox.end - e->inbox.oldest <= e->port.frames / 4)
        pvmi_session_feed(e);
    if (pvmi_inbox_waiting(&e->inbox))
        pvmi_wait_leave(e);
    return 0;
}

int dp_fsync(int fd, int n)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return -1;
    if (e->has_inbox && n >= 0)
        return release_of_inbox(e, (unsigned)n);
    if (n < 0 || (unsigned)n > e->held) {
        errno = EINVAL;
        return -1;
    }
    pvmi_dp_port_give_back(&e->port, (unsigned)n);
    e->held -= (unsigned)n;
    return 0;
}
