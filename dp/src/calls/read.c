/* read.c - dp_read() and its variants: messages are read in place, in the ring. */
#include <errno.h>
#include "core/clock.h"
#include "net/discovery.h"
#include "net/endpoint.h"
#include "net/local.h"
#include "wait.h"

enum {
    BURST = 16,        /* frames of a session to take before acting on them */
    LOOK_EVERY = 4096, /* unsuccessful dp_try() calls between two accept(), since a polling program never sleeps */
};

/* ---- frames that are not raw messages ---- */

bool dpi_endpoint_scan(void *arg, const uint8_t *frame, size_t length)
{
    struct dpi_message m;
    if (dpi_message_decode(frame, length, &m) || m.kind != DPI_HERE)
        return false;
    struct dpi_endpoint *e = arg;
    e->counts.refused += !dpi_discovery_take(e, frame, &m);
    return true;
}

static bool is_for_user(const struct dpi_endpoint *e, const struct dpi_message *m)
{
    return m->kind == DPI_DATA && e->mode == DP_RAW && m->to.point == e->port.point.point && m->from.node &&
           m->from.point;
}

static bool take_control(struct dpi_endpoint *e, const uint8_t *frame, const struct dpi_message *m)
{
    if (m->kind == DPI_WHO || m->kind == DPI_HERE)
        return dpi_discovery_take(e, frame, m);
    bool of_session = m->kind == DPI_RELIABLE || m->kind == DPI_HELLO;
    return of_session && e->mode != DP_RAW && m->to.point == e->port.point.point &&
           dpi_session_take(e, frame, m, e->now_us);
}

/* A frame that the user will not read from the ring is released at once, unless it is in the inbox. */
static void take_other(struct dpi_endpoint *e, const uint8_t *frame, size_t length)
{
    struct dpi_message m;
    e->sessions.kept = false;
    bool fine = !dpi_message_decode(frame, length, &m) && take_control(e, frame, &m);
    e->counts.refused += !fine;
    if (!e->sessions.kept)
        dpi_port_skip(&e->port);
}

static bool keep(struct dpi_endpoint *e, const uint8_t *frame, const struct dpi_message *m)
{
    struct dpi_arrival a = {(uint8_t *)frame + DPI_HEADERS_BYTES, m->length, m->from, DPI_IN_RING, NULL};
    return dpi_inbox_add(&e->inbox, &a);
}

void dpi_endpoint_drain(struct dpi_endpoint *e)
{
    struct dpi_message m;
    size_t length;
    const uint8_t *frame = dpi_port_next(&e->port, &length);
    if (!frame)
        return;
    e->now_us = pvmc_clock_us();
    for (unsigned i = 0; frame; frame = ++i < BURST ? dpi_port_next(&e->port, &length) : NULL)
        if (dpi_message_decode(frame, length, &m) || !is_for_user(e, &m) || !keep(e, frame, &m))
            take_other(e, frame, length);
    dpi_session_settle(e, e->now_us);
}

/* ---- reading ---- */

static int give(struct dpi_endpoint *e, const struct dpi_arrival *a, char **address, struct dpi_point *from)
{
    e->in_use = true;
    e->counts.messages_read++;
    e->counts.bytes_read += a->length;
    *address = (char *)a->data;
    *from = a->from;
    return (int)a->length;
}

static int none(const struct dpi_endpoint *e)
{
    errno = e->port.held == e->port.frames ? ENOBUFS : EAGAIN;
    return -1;
}

static int read_inbox(struct dpi_endpoint *e, char **address, struct dpi_point *from)
{
    const struct dpi_arrival *a = dpi_inbox_read(&e->inbox);
    if (!a) {
        dpi_endpoint_drain(e);
        if (e->channels)
            dpi_channel_take(e);
        if (e->sessions.due_us != INT64_MAX)
            dpi_session_tick(e, pvmc_clock_us());
        a = dpi_inbox_read(&e->inbox);
    }
    return a ? give(e, a, address, from) : none(e);
}

static int read_ring(struct dpi_endpoint *e, char **address, struct dpi_point *from)
{
    struct dpi_message m;
    size_t length;
    const uint8_t *frame;
    while ((frame = dpi_port_next(&e->port, &length))) {
        if (dpi_message_decode(frame, length, &m) || !is_for_user(e, &m)) {
            take_other(e, frame, length);
            continue;
        }
        e->held++;
        struct dpi_arrival a = {(uint8_t *)frame + DPI_HEADERS_BYTES, m.length, m.from, DPI_IN_RING, NULL};
        return give(e, &a, address, from);
    }
    return none(e);
}

static int read_one(struct dpi_endpoint *e, char **address, struct dpi_point *from)
{
    return e->has_inbox ? read_inbox(e, address, from) : read_ring(e, address, from);
}

static int wait_and_read(struct dpi_endpoint *e, char **address, struct dpi_point *from)
{
    bool sleeps = !dpi_wait_is_forbidden(e);
    int length;
    if (!sleeps && e->has_inbox)
        dpi_session_acknowledge(e, pvmc_clock_us());
    do {
        dpi_channel_accept(e);
        bool came = e->channels && !e->spins && dpi_channel_sleep(e);
        if (dpi_wait_sleep(e, sleeps && !came ? INT64_MAX : 0)) {
            length = -1;
            break;
        }
        length = read_one(e, address, from);
    } while (length < 0 && errno == EAGAIN && sleeps);
    return length;
}

static int read_waiting(int fd, char **address, struct dpi_point *from)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    int length = read_one(e, address, from);
    if (length < 0 && errno == EAGAIN)
        length = wait_and_read(e, address, from);
    if (e->has_inbox || e->looked)
        dpi_wait_leave(e);
    return length;
}

int dp_read(int fd, char **address)
{
    struct dpi_point from;
    return read_waiting(fd, address, &from);
}

int dp_read_from(int fd, char **address, int *nid, int *dpid)
{
    struct dpi_point from;
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
    struct dpi_point from;
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    int length = read_one(e, address, &from);
    if (length < 0 && !(++e->tries % LOOK_EVERY))
        dpi_channel_accept(e);
    if (e->has_inbox)
        dpi_wait_leave(e);
    return length;
}
