/* write.c - dp_target(), dp_write(), dp_flush(), dp_work(): sending. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/error.h"
#include "net/endpoint.h"
#include "net/local.h"
#include "wait.h"

enum {
    STREAM_WRITES = 16, /* consecutive writes after which a reliable endpoint gathers frames */
    STREAM_GAP_US = 50, /* longest pause between two consecutive writes */
    CHECK_EVERY = 256,  /* messages between checks of the target's address */
    COPY_MAX =
        2048,      /* a message up to this size is copied behind its headers, a longer one is gathered by the kernel */
    PAUSE_US = 20, /* when the interface has no room: nothing reports that it has room again */
    SPIN_US = 20,  /* how long the writer polls for acknowledgements before it sleeps */
};

int dp_target(int fd, int nid, int dpid)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    if (nid < 1 || nid > DP_NID_MAX || dpid < 1 || dpid > DP_DPID_MAX) {
        errno = EINVAL;
        return -1;
    }
    struct dpi_peer *p = dpi_peer_get(e, (struct dpi_point){(uint16_t)nid, (uint16_t)dpid});
    if (!p)
        return dpi_endpoint_fail(PVMC_ENOMEM);
    e->in_use = true;
    p->strange = false;
    e->target = p;
    e->until = 0;
    memcpy(e->frame, p->headers, sizeof p->headers);
    if (!p->resolved && !p->local)
        dpi_peer_resolve(e, p, pvmc_clock_us());
    return 0;
}

/* ---- raw ---- */

/* While an address is unknown, messages are broadcast until the answer to our request is in the ring. */
static void look_after_address(struct dpi_endpoint *e)
{
    if (!e->target->resolved)
        dpi_port_scan(&e->port, dpi_endpoint_scan, e);
    dpi_peer_resolve(e, e->target, pvmc_clock_us());
    e->until = e->target->resolved ? CHECK_EVERY : 0;
    e->counts.broadcasts += !e->target->resolved;
}

/* Returns 0, PVMC_EAGAIN, PVMC_EDOWN or PVMC_ESYSTEM. */
static int put(struct dpi_endpoint *e, const void *msg, size_t length)
{
    e->frame[DPI_ETHERNET_BYTES + 2] = (uint8_t)(length >> 8);
    e->frame[DPI_ETHERNET_BYTES + 3] = (uint8_t)length;
    if (length <= COPY_MAX) {
        memcpy(e->frame + DPI_HEADERS_BYTES, msg, length);
        return dpi_port_put(&e->port, e->frame, DPI_HEADERS_BYTES + length);
    }
    struct iovec pieces[2] = {{e->frame, DPI_HEADERS_BYTES}, {(void *)msg, length}};
    return dpi_port_gather(&e->port, pieces, 2);
}

static int wait_for_room(struct dpi_endpoint *e)
{
    struct pollfd socket = {.fd = e->port.fd, .events = POLLOUT};
    if (dpi_wait_is_forbidden(e)) {
        errno = EAGAIN;
        return -1;
    }
    int n = poll(&socket, 1, -1);
    return n < 0 ? -1 : usleep(PAUSE_US);
}

static int write_raw(struct dpi_endpoint *e, const void *msg, size_t length)
{
    if (!e->until--)
        look_after_address(e);
    int rc;
    while ((rc = put(e, msg, length)) == PVMC_EAGAIN)
        if (wait_for_room(e))
            return -1;
    return rc ? dpi_endpoint_fail(rc) : 0;
}

/* ---- reliable ---- */

/* One round of the sessions' work: takes frames, and runs what is due. Returns the time. */
static int64_t serve(struct dpi_endpoint *e)
{
    dpi_endpoint_drain(e);
    int64_t now_us = pvmc_clock_us();
    dpi_session_tick(e, now_us);
    return now_us;
}

static int wait_for_peers(struct dpi_endpoint *e, int64_t began_us, int64_t now_us, int64_t until_us)
{
    dpi_outbox_flush(e);
    if (now_us - began_us < SPIN_US)
        return 0;
    dpi_session_acknowledge(e, now_us);
    return dpi_wait_sleep(e, until_us);
}

/* A flush of many frames takes longer than the pause that ends a stream, but is not one. */
static void count_write(struct dpi_endpoint *e, int64_t now_us)
{
    int64_t last_us = e->written_us > e->outbox.flushed_us ? e->written_us : e->outbox.flushed_us;
    if (now_us - last_us > STREAM_GAP_US)
        e->writes = 0;
    e->writes++;
    e->written_us = now_us;
}

/*
 * Whether the program writes in immediate succession, so that frames may be gathered. Any other program may not call
 * again for a long time, so its frames are sent at once.
 */
static bool is_stream(const struct dpi_endpoint *e)
{
    return e->writes > STREAM_WRITES;
}

static int write_reliable(struct dpi_endpoint *e, const void *msg, uint32_t length)
{
    int64_t began_us = 0;
    bool waits = true;
    for (;;) {
        int64_t now_us = serve(e);
        if (!began_us)
            count_write(e, now_us);
        int rc = dpi_session_write(e, e->target, msg, length, now_us);
        if (rc == PVMC_EAGAIN && e->down)
            rc = PVMC_EDOWN;
        if (rc == PVMC_EAGAIN && !began_us) {
            began_us = now_us;
            waits = !dpi_wait_is_forbidden(e);
        }
        if (rc != PVMC_EAGAIN || !waits)
            return rc ? dpi_endpoint_fail(rc) : 0;
        if (wait_for_peers(e, began_us, now_us, INT64_MAX))
            return -1;
    }
}

/* ---- on this host ---- */

/* The reader does not report that it has made room, so we poll. */
static int write_local(struct dpi_endpoint *e, const void *msg, uint32_t length)
{
    int64_t began_us = 0;
    int rc;
    if (e->writes)
        e->writes = 0;
    while ((rc = dpi_writer_put(e, e->target, msg, length)) == PVMC_EAGAIN) {
        int64_t now_us = e->has_inbox ? serve(e) : pvmc_clock_us();
        if (!began_us && dpi_wait_is_forbidden(e))
            break;
        if (!began_us)
            began_us = now_us;
        if (now_us - began_us > SPIN_US && usleep(PAUSE_US))
            return -1;
    }
    return rc ? dpi_endpoint_fail(rc) : 0;
}

static int write_any(struct dpi_endpoint *e, const void *msg, uint32_t length)
{
    if (e->target->local)
        return write_local(e, msg, length);
    return e->mode == DP_RAW ? write_raw(e, msg, length) : write_reliable(e, msg, length);
}

static void leave(struct dpi_endpoint *e, bool fine)
{
    int number = errno;
    if (!fine || !is_stream(e))
        dpi_outbox_flush(e);
    errno = number;
    dpi_wait_leave_outbox(e);
}

static int room(const struct dpi_endpoint *e)
{
    return e->mode == DP_RAW ? dpi_port_room(&e->port) : dpi_session_room(e);
}

int dp_write(int fd, const void *msg, int len)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
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

/* ---- flushing ---- */

static int milliseconds_until(int64_t due_us, int64_t now_us)
{
    if (due_us == INT64_MAX)
        return -1;
    return due_us <= now_us ? 0 : (int)((due_us - now_us + 999) / 1000);
}

int dp_work(int fd)
{
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    errno = 0;
    if (!e->has_inbox)
        return -1;
    int64_t now_us = serve(e);
    dpi_session_acknowledge(e, now_us);
    dpi_wait_leave(e);
    return milliseconds_until(e->sessions.due_us, now_us);
}

/* Returns 0, or -1 with errno ETIMEDOUT, EHOSTDOWN or EINTR. */
int dpi_endpoint_flush(struct dpi_endpoint *e, int64_t until_us)
{
    int64_t began_us = pvmc_clock_us();
    for (;;) {
        int64_t now_us = serve(e);
        if (e->sessions.died) {
            e->sessions.died = false;
            errno = EHOSTDOWN;
            return -1;
        }
        if (!dpi_session_pending(e))
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
    struct dpi_endpoint *e = dpi_endpoint_of(fd);
    if (!e)
        return -1;
    if (e->mode == DP_RAW)
        return 0;
    int rc = dpi_endpoint_flush(e, ms < 0 ? INT64_MAX : pvmc_clock_us() + ms * INT64_C(1000));
    dpi_wait_leave(e);
    return rc;
}
