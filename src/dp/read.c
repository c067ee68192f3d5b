/* read.c - dp_read() and its kin: messages out of the ring, in place. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include "discovery.h"
#include "endpoint.h"

/* Everything but a message for the user. */
static void take_other(struct pvmi_endpoint *e, const uint8_t *frame, size_t length)
{
    struct pvmi_dp_message m;
    bool fine = !pvmi_dp_message_decode(frame, length, &m);
    if (fine && (m.kind == PVMI_DP_WHO || m.kind == PVMI_DP_HERE))
        fine = pvmi_discovery_take(e, frame, &m);
    else
        fine = false;
    e->counts.refused += !fine;
    pvmi_dp_port_skip(&e->port);
}

bool pvmi_endpoint_peruse(void *arg, const uint8_t *frame, size_t length)
{
    struct pvmi_dp_message m;
    if (pvmi_dp_message_decode(frame, length, &m) || m.kind != PVMI_DP_HERE)
        return false;
    struct pvmi_endpoint *e = arg;
    e->counts.refused += !pvmi_discovery_take(e, frame, &m);
    return true;
}

static bool is_message(const struct pvmi_endpoint *e, const struct pvmi_dp_message *m)
{
    return m->kind == PVMI_DP_DATA && m->to.point == e->port.point.point && m->from.node && m->from.point;
}

const uint8_t *pvmi_endpoint_take(struct pvmi_endpoint *e, struct pvmi_dp_message *m)
{
    size_t length;
    const uint8_t *frame;
    while ((frame = pvmi_dp_port_next(&e->port, &length))) {
        if (!pvmi_dp_message_decode(frame, length, m) && is_message(e, m))
            return frame;
        take_other(e, frame, length);
    }
    return NULL;
}

static int read_one(struct pvmi_endpoint *e, char **address, struct pvmi_dp_point *from)
{
    struct pvmi_dp_message m;
    const uint8_t *frame = pvmi_endpoint_take(e, &m);
    if (!frame) {
        errno = e->held == e->port.frames ? ENOBUFS : EAGAIN;
        return -1;
    }
    e->held++;
    e->in_use = true;
    e->counts.messages_read++;
    e->counts.bytes_read += m.length;
    *address = (char *)frame + PVMI_DP_HEADERS_BYTES;
    *from = m.from;
    return m.length;
}

bool pvmi_endpoint_is_nonblocking(const struct pvmi_endpoint *e)
{
    return fcntl(e->fd, F_GETFL) & O_NONBLOCK;
}

/* Also takes the edge that made the descriptor readable. */
int pvmi_endpoint_sleep(struct pvmi_endpoint *e, int timeout_ms)
{
    struct epoll_event event;
    return epoll_wait(e->fd, &event, 1, timeout_ms) < 0 ? -1 : 0;
}

static int wait_and_read(struct pvmi_endpoint *e, char **address, struct pvmi_dp_point *from)
{
    bool waits = !pvmi_endpoint_is_nonblocking(e);
    int length, timeout_ms = 0;
    do {
        if (!e->spins && pvmi_endpoint_sleep(e, timeout_ms))
            return -1;
        length = read_one(e, address, from);
        timeout_ms = -1;
    } while (length < 0 && errno == EAGAIN && waits);
    return length;
}

static int read_waiting(int fd, char **address, struct pvmi_dp_point *from)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return -1;
    int length = read_one(e, address, from);
    return length < 0 && errno == EAGAIN ? wait_and_read(e, address, from) : length;
}

int dp_read(int fd, char **address)
{
    struct pvmi_dp_point from;
    return read_waiting(fd, address, &from);
}

int dp_read_from(int fd, char **address, int *nid, int *dpid)
{
    struct pvmi_dp_point from;
    int length = read_waiting(fd, address, &from);
    if (length < 0)
        return length;
    if (nid)
        *nid = from.node;
    if (dpid)
        *dpid = from.point;
    return length;
}

int dp_try(int fd, char **address)
{
    struct pvmi_dp_point from;
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    return e ? read_one(e, address, &from) : -1;
}
