/* read.c - dp_read() and its kin: messages out of the ring, in place. */
#include <errno.h>
#include "../core/clock.h"
#include "discovery.h"
#include "endpoint.h"
#include "local.h"
#include "wait.h"

enum {
    BURST = 16,        /* frames of a session that are taken before what follows from them is done */
    LOOK_EVERY = 4096, /* of dp_try() that finds nothing: who never sleeps looks at the door sometimes */
};

/* ---- frames that are no raw message ---- */

bool pvmi_endpoint_peruse(void *arg, const uint8_t *frame, size_t length)
{
    struct pvmi_dp_message m;
    if (pvmi_dp_message_decode(frame, length, &m) || m.kind != PVMI_DP_HERE)
        return false;
    struct pvmi_endpoint *e = arg;
    e->counts.refused += !pvmi_discovery_take(e, frame, &m);
    return true;
}

static bool is_for_user(const struct pvmi_endpoint *e, const struct pvmi_dp_message *m)
{
    return m->kind == PVMI_DP_DATA && e->mode == DP_RAW && m->to.point == e->port.point.point && m->from.node &&
           m->from.point;
}

static bool take_control(struct pvmi_endpoint *e, const uint8_t *frame, const struct pvmi_dp_message *m)
{
    if (m->kind == PVMI_DP_WHO || m->kind == PVMI_DP_HERE)
        return pvmi_discovery_take(e, frame, m);
    bool of_session = m->kind == PVMI_DP_RELIABLE || m->kind == PVMI_DP_HELLO;
    return of_session && e->mode != DP_RAW && m->to.point == e->port.point.point &&
           pvmi_session_take(e, frame, m, e->now_us);
}

/* A frame that is not to be read from the ring by the user goes back at once, unless it has become a message. */
static void take_other(struct pvmi_endpoint *e, const uint8_t *frame, size_t length)
{
    struct pvmi_dp_message m;
    e->sessions.kept = false;
    bool fine = !pvmi_dp_message_decode(frame, length, &m) && take_control(e, frame, &m);
    e->counts.refused += !fine;
    if (!e->sessions.kept)
        pvmi_dp_port_skip(&e->port);
}

static bool keep(struct pvmi_endpoint *e, const uint8_t *frame, const struct pvmi_dp_message *m)
{
    struct pvmi_arrival a = {(uint8_t *)frame + PVMI_DP_HEADERS_BYTES, m->length, m->from, PVMI_IN_RING, NULL};
    return pvmi_inbox_add(&e->inbox, &a);
}

void pvmi_endpoint_drain(struct pvmi_endpoint *e)
{
    struct pvmi_dp_message m;
    size_t length;
    const uint8_t *frame = pvmi_dp_port_next(&e->port, &length);
    if (!frame)
        return;
    e->now_us = pvmi_clock_us();
    for (unsigned i = 0; frame; frame = ++i < BURST ? pvmi_dp_port_next(&e->port, &length) : NULL)
        if (pvmi_dp_message_decode(frame, length, &m) || !is_for_user(e, &m) || !keep(e, frame, &m))
            take_other(e, frame, length);
    pvmi_session_settle(e, e->now_us);
}

/* ---- reading ---- */

static int give(struct pvmi_endpoint *e, const struct pvmi_arrival *a, char **address, struct pvmi_dp_point *from)
{
    e->in_use = true;
    e->counts.messages_read++;
    e->counts.bytes_read += a->length;
    *address = (char *)a->data;
    *from = a->from;
    return (int)a->length;
}

static int none(const struct pvmi_endpoint *e)
{
    errno = e->port.held == e->port.frames ? ENOBUFS : EAGAIN;
    return -1;
}

static int read_inbox(struct pvmi_endpoint *e, char **address, struct pvmi_dp_point *from)
{
    const struct pvmi_arrival *a = pvmi_inbox_read(&e->inbox);
    if (!a) {
        pvmi_endpoint_drain(e);
        if (e->channels)
            pvmi_channel_take(e);
        if (e->sessions.due_us != INT64_MAX)
            pvmi_session_tick(e, pvmi_clock_us());
        a = pvmi_inbox_read(&e->inbox);
    }
    return a ? give(e, a, address, from) : none(e);
}

static int read_ring(struct pvmi_endpoint *e, char **address, struct pvmi_dp_point *from)
{
    struct pvmi_dp_message m;
    size_t length;
    const uint8_t *frame;
    while ((frame = pvmi_dp_port_next(&e->port, &length))) {
        if (pvmi_dp_message_decode(frame, length, &m) || !is_for_user(e, &m)) {
            take_other(e, frame, length);
            continue;
        }
        e->held++;
        struct pvmi_arrival a = {(uint8_t *)frame + PVMI_DP_HEADERS_BYTES, m.length, m.from, PVMI_IN_RING, NULL};
        return give(e, &a, address, from);
    }
    return none(e);
}

static int read_one(struct pvmi_endpoint *e, char **address, struct pvmi_dp_point *from)
{
    return e->has_inbox ? read_inbox(e, address, from) : read_ring(e, address, from);
}

static int wait_and_read(struct pvmi_endpoint *e, char **address, struct pvmi_dp_point *from)
{
    bool sleeps = !pvmi_wait_is_forbidden(e);
    int length;
    if (!sleeps && e->has_inbox)
        pvmi_session_acknowledge(e, pvmi_clock_us());
    do {
        pvmi_channel_accept(e);
        bool came = e->channels && !e->spins && pvmi_channel_sleep(e);
        if (pvmi_wait_sleep(e, sleeps && !came ? INT64_MAX : 0)) {
            length = -1;
            break;
        }
        length = read_one(e, address, from);
    } while (length < 0 && errno == EAGAIN && sleeps);
    return length;
}

static int read_waiting(int fd, char **address, struct pvmi_dp_point *from)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return -1;
    int length = read_one(e, address, from);
    if (length < 0 && errno == EAGAIN)
        length = wait_and_read(e, address, from);
    if (e->has_inbox || e->looked)
        pvmi_wait_leave(e);
    return length;
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
    if (!e)
        return -1;
    int length = read_one(e, address, &from);
    if (length < 0 && !(++e->tries % LOOK_EVERY))
        pvmi_channel_accept(e);
    if (e->has_inbox)
        pvmi_wait_leave(e);
    return length;
}
