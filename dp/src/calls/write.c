/* write.c - dp_target(), dp_write(), dp_flush(), dp_work(): messages on their way. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "../core/clock.h"
#include "../core/error.h"
#include "endpoint.h"
#include "local.h"
#include "wait.h"

enum {
    STREAM_WRITES = 16, /* in a row, after which frames of a reliable endpoint leave together */
    STREAM_GAP_US = 50, /* between two writes, with which a row ends */
    CHECK_EVERY = 256,  /* messages between looks whether the target's address is still good */
    COPY_MAX = 2048,    /* up to here a message is copied behind its headers rather than gathered by the kernel */
    PAUSE_US = 20,      /* when the interface has no room, which nothing tells the end of */
    SPIN_US = 20,       /* how long acknowledgements are looked for before the writer sleeps */
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
    p->strange = false;
    e->target = p;
    e->until = 0;
    memcpy(e->frame, p->headers, sizeof p->headers);
    if (!p->resolved && !p->local)
        pvmi_peer_resolve(e, p, pvmi_clock_us());
    return 0;
}

/* ---- raw ---- */

/* An address that is not known: messages go to all nodes until an answer to our question is in the ring. */
static void look_after_address(struct pvmi_endpoint *e)
{
    if (!e->target->resolved)
        pvmi_dp_port_peruse(&e->port, pvmi_endpoint_peruse, e);
    pvmi_peer_resolve(e, e->target, pvmi_clock_us());
    e->until = e->target->resolved ? CHECK_EVERY : 0;
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
    if (pvmi_wait_is_forbidden(e)) {
        errno = EAGAIN;
        return -1;
    }
    int n = poll(&socket, 1, -1);
    return n < 0 ? -1 : usleep(PAUSE_US);
}

static int write_raw(struct pvmi_endpoint *e, const void *msg, size_t length)
{
    if (!e->until--)
        look_after_address(e);
    int rc;
    while ((rc = put(e, msg, length)) == PVMI_EAGAIN)
        if (wait_for_room(e))
            return -1;
    return rc ? pvmi_endpoint_fail(rc) : 0;
}

/* ---- reliable ---- */

/* One round of what a session needs: frames in, time, and the word for who waits. */
static int64_t serve(struct pvmi_endpoint *e)
{
    pvmi_endpoint_drain(e);
    int64_t now_us = pvmi_clock_us();
    pvmi_session_tick(e, now_us);
    return now_us;
}

static int wait_for_peers(struct pvmi_endpoint *e, int64_t began_us, int64_t now_us, int64_t until_us)
{
    pvmi_outbox_flush(e);
    if (now_us - began_us < SPIN_US)
        return 0;
    pvmi_session_acknowledge(e, now_us);
    return pvmi_wait_sleep(e, until_us);
}

static void count_write(struct pvmi_endpoint *e, int64_t now_us)
{
    if (now_us - e->written_us > STREAM_GAP_US)
        e->writes = 0;
    e->writes++;
    e->written_us = now_us;
}

/*
 * Of who only writes, one message right after the other, frames may leave together. Others have no reason to come back
 * soon, so theirs leave at once.
 */
static bool is_stream(const struct pvmi_endpoint *e)
{
    return e->writes > STREAM_WRITES;
}

static int write_reliable(struct pvmi_endpoint *e, const void *msg, uint32_t length)
{
    int64_t began_us = 0;
    bool waits = true;
    for (;;) {
        int64_t now_us = serve(e);
        if (!began_us)
            count_write(e, now_us);
        int rc = pvmi_session_write(e, e->target, msg, length, now_us);
        if (rc == PVMI_EAGAIN && e->down)
            rc = PVMI_EDOWN;
        if (rc == PVMI_EAGAIN && !began_us) {
            began_us = now_us;
            waits = !pvmi_wait_is_forbidden(e);
        }
        if (rc != PVMI_EAGAIN || !waits)
            return rc ? pvmi_endpoint_fail(rc) : 0;
        if (wait_for_peers(e, began_us, now_us, INT64_MAX))
            return -1;
    }
}

/* ---- on this host ---- */

/* The reader makes room without a word, so we look. */
static int write_local(struct pvmi_endpoint *e, const void *msg, uint32_t length)
{
    int64_t began_us = 0;
    int rc;
    if (e->writes)
        e->writes = 0;
    while ((rc = pvmi_outlet_write(e, e->target, msg, length)) == PVMI_EAGAIN) {
        int64_t now_us = e->has_inbox ? serve(e) : pvmi_clock_us();
        if (!began_us && pvmi_wait_is_forbidden(e))
            break;
        if (!began_us)
            began_us = now_us;
        if (now_us - began_us > SPIN_US && usleep(PAUSE_US))
            return -1;
    }
    return rc ? pvmi_endpoint_fail(rc) : 0;
}

static int write_any(struct pvmi_endpoint *e, const void *msg, uint32_t length)
{
    if (e->target->local)
        return write_local(e, msg, length);
    return e->mode == DP_RAW ? write_raw(e, msg, length) : write_reliable(e, msg, length);
}

static void leave(struct pvmi_endpoint *e, bool fine)
{
    int number = errno;
    if (!fine || !is_stream(e))
        pvmi_outbox_flush(e);
    errno = number;
    pvmi_wait_leave_outbox(e);
}

static int room(const struct pvmi_endpoint *e)
{
    return e->mode == DP_RAW ? pvmi_dp_port_room(&e->port) : pvmi_session_room(e);
}

int dp_write(int fd, const void *msg, int len)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return -1;
    if (!e->target || len < 0 || len > room(e)) {
        errno = !e->target ? EDESTADDRREQ : len < 0 ? EINVAL : EMSGSIZE;
        return -1;
    }
    int rc = write_any(e, msg, (uint32_t)len);
    if (e->has_inbox)
        leave(e, !rc);
    if (rc)
        return -1;
    e->counts.messages_sent++;
    e->counts.bytes_sent += (unsigned)len;
    return len;
}

/* ---- what is left to do ---- */

static int milliseconds_until(int64_t due_us, int64_t now_us)
{
    if (due_us == INT64_MAX)
        return -1;
    return due_us <= now_us ? 0 : (int)((due_us - now_us + 999) / 1000);
}

int dp_work(int fd)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return -1;
    errno = 0;
    if (!e->has_inbox)
        return -1;
    int64_t now_us = serve(e);
    pvmi_session_acknowledge(e, now_us);
    pvmi_wait_leave(e);
    return milliseconds_until(e->sessions.due_us, now_us);
}

/* 0, or -1 with errno ETIMEDOUT, EHOSTDOWN or EINTR. */
int pvmi_endpoint_flush(struct pvmi_endpoint *e, int64_t until_us)
{
    int64_t began_us = pvmi_clock_us();
    for (;;) {
        int64_t now_us = serve(e);
        if (e->sessions.died) {
            e->sessions.died = false;
            errno = EHOSTDOWN;
            return -1;
        }
        if (!pvmi_session_pending(e))
            return 0;
        if (now_us >= until_us) {
            errno = ETIMEDOUT;
            return -1;
        }
        if (wait_for_peers(e, began_us, now_us, until_us))
            return -1;
    }
}

int dp_flush(int fd, int ms)
{
    struct pvmi_endpoint *e = pvmi_endpoint_of(fd);
    if (!e)
        return -1;
    if (e->mode == DP_RAW)
        return 0;
    int rc = pvmi_endpoint_flush(e, ms < 0 ? INT64_MAX : pvmi_clock_us() + ms * INT64_C(1000));
    pvmi_wait_leave(e);
    return rc;
}
