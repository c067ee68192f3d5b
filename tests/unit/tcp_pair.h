/*
 * tcp_pair.h - both sides of a direct TCP link in one process, for its tests: offers, joining, progress, frames whose
 * bytes are checked, and strangers that connect.
 */
#ifndef TCP_PAIR_H
#define TCP_PAIR_H

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "transports/tcp/tcp.h"
#include "unit.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#define LIMIT_US 10000000

struct side {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    int ready, down, reason, done;
    uint32_t next_seq;
    bool wrong;
    uint8_t *place;
};

static const struct pvmt_transport_ops *ops;
static struct side offering, joining;
static uint8_t blob[PVMT_OFFER_MAX];
static int blob_bytes;
static bool frozen; /* the offering side makes no progress */

/* ---- sides ---- */

static inline uint8_t *on_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct side *s = arg;
    (void)ep;
    ck_assert_uint_le(h->length, PVMC_FRAME_PAYLOAD_MAX);
    return s->place;
}

static inline uint8_t byte_of(uint32_t seq, uint32_t i)
{
    return (uint8_t)(seq * 13 + i + i / 251);
}

static inline void on_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct side *s = arg;
    (void)ep;
    s->done++;
    s->wrong |= h->seq != s->next_seq++;
    for (uint32_t i = 0; i < h->length; i++)
        s->wrong |= s->place[i] != byte_of(h->seq, i);
}

static inline void on_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)ep;
    ((struct side *)arg)->ready++;
}

static inline void on_down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    struct side *s = arg;
    ck_assert_ptr_eq(ep, s->ep);
    s->down++;
    s->reason = reason;
}

static const struct pvmt_callbacks callbacks = {
    .rx_place = on_place, .rx_done = on_done, .tx_ready = on_ready, .down = on_down};

static inline void open_side(struct side *s)
{
    *s = (struct side){.place = malloc(PVMC_FRAME_PAYLOAD_MAX)};
    ck_assert_int_eq(ops->open(NULL, &callbacks, s, &s->transport), 0);
}

static inline void close_side(struct side *s)
{
    if (s->transport)
        ops->close(s->transport);
    free(s->place);
    *s = (struct side){0};
}

static inline void setup(void)
{
    ops = pvmt_transport_find("tcp");
    ck_assert_ptr_nonnull(ops);
    unit_log_start();
    open_side(&offering);
    open_side(&joining);
}

static inline void teardown(void)
{
    close_side(&offering);
    close_side(&joining);
}

static inline void drop(struct side *s)
{
    if (s->ep)
        ops->disconnect(s->ep);
    s->ep = NULL;
    s->ready = s->down = s->reason = s->done = 0;
    s->next_seq = 0;
}

static inline void progress_both(void)
{
    if (offering.transport && !frozen)
        ck_assert_int_ge(ops->progress(offering.transport), 0);
    if (joining.transport)
        ck_assert_int_ge(ops->progress(joining.transport), 0);
}

#define DRIVE_UNTIL(condition)                                                                                         \
    do {                                                                                                               \
        int64_t end_us_ = pvmc_clock_us() + LIMIT_US;                                                                  \
        bool happened_;                                                                                                \
        while (!(happened_ = (condition)) && pvmc_clock_us() < end_us_)                                                \
            progress_both();                                                                                           \
        ck_assert_msg(happened_, "did not happen: %s", #condition);                                                    \
    } while (0)

static inline void drive_for(int64_t us)
{
    for (int64_t end_us = pvmc_clock_us() + us; pvmc_clock_us() < end_us;)
        progress_both();
}

/* ---- offers ---- */

static inline void offer(void)
{
    int fd;
    blob_bytes = ops->offer(offering.transport, &offering, blob, &fd, &offering.ep);
    ck_assert_int_gt(blob_bytes, 0);
    ck_assert_int_eq(fd, -1);
}

static inline int join(void)
{
    uint8_t reply[PVMT_OFFER_MAX];
    joining.ep = NULL;
    return ops->join(joining.transport, blob, (size_t)blob_bytes, -1, &joining, reply, &joining.ep);
}

static inline struct pvmt_tcp_offer read_offer(void)
{
    struct pvmt_tcp_offer o;
    ck_assert_int_eq(pvmt_tcp_offer_decode(blob, (size_t)blob_bytes, &o), 0);
    return o;
}

static inline void write_offer(const struct pvmt_tcp_offer *o)
{
    blob_bytes = pvmt_tcp_offer_encode(o, blob);
    ck_assert_int_gt(blob_bytes, 0);
}

static inline union pvmw_address address(const char *text, uint16_t port)
{
    union pvmw_address a = {.v4 = {.sin_family = AF_INET}};
    if (inet_pton(AF_INET, text, &a.v4.sin_addr) != 1) {
        a = (union pvmw_address){.v6 = {.sin6_family = AF_INET6}};
        ck_assert_int_eq(inet_pton(AF_INET6, text, &a.v6.sin6_addr), 1);
    }
    pvmw_address_set_port(&a, port);
    return a;
}

/* Leaves only this address in the offer; false when the offer does not contain it. */
static inline bool keep_only(const char *text)
{
    struct pvmt_tcp_offer o = read_offer();
    union pvmw_address want = address(text, 0);
    for (unsigned i = 0; i < o.count; i++)
        if (pvmw_address_same(&o.addresses[i], &want)) {
            o.addresses[0] = o.addresses[i];
            o.count = 1;
            write_offer(&o);
            return true;
        }
    return false;
}

/* The first address of the offer that equals 127.0.0.1. */
static inline union pvmw_address door(void)
{
    struct pvmt_tcp_offer o = read_offer();
    union pvmw_address want = address("127.0.0.1", 0);
    for (unsigned i = 0; i < o.count; i++)
        if (pvmw_address_same(&o.addresses[i], &want))
            return o.addresses[i];
    ck_abort_msg("no 127.0.0.1 in the offer");
}

static inline void come_together(void)
{
    offer();
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
}

static inline int send_frame(struct side *s, uint32_t seq, uint32_t length)
{
    struct pvmc_frame_header h = {.dst = 1, .src = 2, .seq = seq, .length = length, .body_length = length};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    ck_assert_ptr_nonnull(f);
    for (uint32_t i = 0; i < length; i++)
        f->mem->data[i] = byte_of(seq, i);
    int rc = ops->send(s->ep, f);
    pvmc_frame_unref(f);
    return rc;
}

static inline void exchange(int count, uint32_t length)
{
    for (int i = 0; i < count; i++) {
        DRIVE_UNTIL(send_frame(&joining, (uint32_t)i, length) == 0);
        DRIVE_UNTIL(send_frame(&offering, (uint32_t)i, length) == 0);
    }
    DRIVE_UNTIL(offering.done == count && joining.done == count);
    ck_assert(!offering.wrong && !joining.wrong);
}

/* ---- strangers: plain sockets ---- */

static inline int stranger(void)
{
    union pvmw_address a = door();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, &a.any, sizeof a.v4), 0);
    return fd;
}

/* Whether the connection was closed without a byte. */
static inline bool sent_away(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
    ck_assert_msg(n <= 0, "a stranger got a byte");
    return n == 0 || (errno != EAGAIN && errno != EINTR);
}

static inline unsigned descriptors(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* A listening socket; *port is filled in. */
static inline int listener(const char *text, uint16_t *port)
{
    union pvmw_address a = address(text, *port);
    socklen_t size = sizeof a;
    int on = 1, fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (a.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (fd < 0 || bind(fd, &a.any, pvmw_address_size(&a)) || listen(fd, 4) || getsockname(fd, &a.any, &size))
        return -1;
    *port = pvmw_address_port(&a);
    return fd;
}

static inline uint16_t closed_port(void)
{
    uint16_t port = 0;
    close(listener("127.0.0.1", &port));
    return port;
}

#endif
