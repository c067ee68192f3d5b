/* write.c - dp_target() and dp_write(): messages on their way. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "../core/clock.h"
#include "../core/error.h"
#include "endpoint.h"

enum {
    CHECK_EVERY = 256, /* messages between looks whether the target's address is still good */
    COPY_MAX = 2048,   /* up to here a message is copied behind its headers rather than gathered by the kernel */
    PAUSE_US = 20,     /* when the interface has no room, which nothing tells the end of */
};

int dp_target(int fd, int nid, int dpid)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return -1;
    if (nid < 1 || nid > DP_NID_MAX || dpid < 1 || dpid > DP_DPID_MAX) {
        errno = EINVAL;
        return -1;
    }
    struct pvmi_peer *p = pvmi_peer_get(e, (struct pvmi_dp_point){(uint16_t)nid, (uint16_t)dpid});
    if (!p)
        return pvmi_endpoint_fail(PVMI_ENOMEM);
    e->in_use = true;
    e->target = p;
    e->until = 0;
    memcpy(e->frame, p->headers, sizeof p->headers);
    if (!p->resolved)
        pvmi_peer_resolve(e, p, pvmi_clock_us());
    return 0;
}

/* An address that is not known: messages go to all nodes until an answer to our question is in the ring. */
static void look_after_address(struct pvmi_endpoint *e)
{
    if (!e->target->resolved)
        pvmi_dp_port_peruse(&e->port, pvmi_endpoint_peruse, e);
    pvmi_peer_resolve(e, e->target, pvmi_clock_us());
    e->until = e->target->resolved ? CHECK_EVERY : 1;
    e->counts.broadcasts += !e->target->resolved;
}

/* 0, PVMI_EAGAIN, PVMI_EDOWN, PVMI_ESYSTEM. */
static int put(struct pvmi_endpoint *e, const void *msg, size_t length)
{
    e->frame[PVMI_DP_ETHERNET_BYTES + 2] = (uint8_t)(length >> 8);
    e->frame[PVMI_DP_ETHERNET_BYTES + 3] = (uint8_t)length;
    if (length <= COPY_MAX) {
        memcpy(e->frame + PVMI_DP_HEADERS_BYTES, msg, length);
        return pvmi_dp_port_put(&e->port, e->frame, PVMI_DP_HEADERS_BYTES + length);
    }
    struct iovec pieces[2] = {{e->frame, PVMI_DP_HEADERS_BYTES}, {(void *)msg, length}};
    return pvmi_dp_port_gather(&e->port, pieces, 2);
}

static int wait_for_room(struct pvmi_endpoint *e)
{
    struct pollfd socket = {.fd = e->port.fd, .events = POLLOUT};
    if (pvmi_endpoint_is_nonblocking(e)) {
        errno = EAGAIN;
        return -1;
    }
    int n = poll(&socket, 1, -1);
    return n < 0 ? -1 : usleep(PAUSE_US);
}

int dp_write(int fd, const void *msg, int len)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return -1;
    if (!e->target || len < 0 || len > pvmi_dp_port_room(&e->port)) {
        errno = !e->target ? EDESTADDRREQ : len < 0 ? EINVAL : EMSGSIZE;
        return -1;
    }
    if (!e->until--)
        look_after_address(e);
    int rc;
    while ((rc = put(e, msg, (size_t)len)) == PVMI_EAGAIN)
        if (wait_for_room(e))
            return -1;
    if (rc)
        return pvmi_endpoint_fail(rc);
    e->counts.messages_sent++;
    e->counts.bytes_sent += (unsigned)len;
    return len;
}
