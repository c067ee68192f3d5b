/*
 * transport - compares one transport, without the library above it, with a raw TCP socket that waits in the same way.
 *
 *   transport NAME lat|rate BYTES [sleep] [NETNS ADDRESS]
 *
 * lat: ping-pong, half the round-trip time in us. rate: messages one way, in millions per second. Both ends spin; with
 * `sleep` they call poll(). With NETNS (a file in /run/netns) the other process runs in that namespace and finds the
 * raw socket of this one at ADDRESS. Blocks of both are interleaved; prints the medians and the best values.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/error.h"
#include "transports/transport.h"

enum { BLOCKS = 15, BLOCK_US = 20000, CONTROL_BYTES = PVMT_OFFER_MAX + 1 };

static const struct pvmt_transport_ops *ops;
static struct pvmt_transport *transport;
static struct pvmt_endpoint *ep;
static uint32_t frame_max;
static size_t message_bytes;
static uint8_t *place;

static unsigned messages, ready;
static int control, raw = -1;
static bool sleeps, one_way, is_parent;

/* ---- the transport ---- */

static uint8_t *on_place(void *arg, struct pvmt_endpoint *e, const struct pvmc_frame_header *h)
{
    (void)arg, (void)e;
    return place + h->offset;
}

static void on_done(void *arg, struct pvmt_endpoint *e, const struct pvmc_frame_header *h)
{
    (void)arg, (void)e;
    messages += pvmc_frame_is_last(h);
}

static int on_whole(void *arg, struct pvmt_endpoint *e, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                    const uint8_t *data)
{
    (void)arg, (void)e, (void)h, (void)data;
    pvmc_mem_unref(mem);
    messages++;
    return 0;
}

static void on_ready(void *arg, struct pvmt_endpoint *e)
{
    (void)arg, (void)e;
    ready++;
}

static void on_down(void *arg, struct pvmt_endpoint *e, int reason)
{
    (void)arg, (void)e;
    errx(1, "connection lost: %s", pvmc_error_text(reason));
}

static const struct pvmt_callbacks callbacks = {
    .rx_place = on_place, .rx_done = on_done, .rx_whole = on_whole, .tx_ready = on_ready, .down = on_down};

static void progress(void)
{
    int n = ops->progress(transport);
    if (n < 0)
        errx(1, "progress: %s", pvmc_error_text(n));
    struct pollfd p = {.fd = ops->fd(transport), .events = POLLIN};
    if (sleeps && !n && !ops->arm(transport))
        poll(&p, 1, 1000);
}

static void transport_send(struct pvmc_mem *mem, size_t bytes)
{
    size_t at = 0;
    do {
        uint32_t length = bytes - at < frame_max ? (uint32_t)(bytes - at) : frame_max;
        struct pvmc_frame_header h = {.dst = 0x40001, .length = length, .body_length = bytes, .offset = at};
        struct pvmc_frame *f = pvmc_frame_new(&h, pvmc_mem_ref(mem));
        if (length)
            pvmc_frame_add_piece(f, mem->data + at, length);
        int rc;
        while ((rc = ops->send(ep, f)) == PVMC_EAGAIN)
            progress();
        if (rc)
            errx(1, "send: %s", pvmc_error_text(rc));
        pvmc_frame_unref(f);
        at += length;
    } while (at < bytes);
}

static void transport_wait(unsigned count)
{
    while (messages < count)
        progress();
    messages -= count;
}

/* ---- the raw socket ---- */

static void raw_wait(short events)
{
    struct pollfd p = {.fd = raw, .events = events};
    if (sleeps)
        poll(&p, 1, 1000);
}

static void raw_move(ssize_t (*move)(int, void *, size_t, int), void *data, size_t bytes, short events)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t n = move(raw, (uint8_t *)data + at, bytes - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            raw_wait(events);
        else
            errx(1, "raw connection lost");
    }
}

static ssize_t raw_send(int fd, void *data, size_t bytes, int flags)
{
    return send(fd, data, bytes, flags);
}

/* ---- measuring: both processes run the same blocks; the parent measures the time ---- */

static struct pvmc_mem *body;

static void say(bool on_raw, size_t bytes)
{
    if (on_raw)
        raw_move(raw_send, body->data, bytes, POLLOUT);
    else
        transport_send(body, bytes);
}

static void hear(bool on_raw, size_t bytes, unsigned count)
{
    if (on_raw)
        for (unsigned i = 0; i < count; i++)
            raw_move(recv, place, bytes, POLLIN);
    else
        transport_wait(count);
}

/* Half the round-trip time, or the time of one message in a stream, in us. */
static double block(bool on_raw, unsigned count)
{
    int64_t start_us = pvmc_clock_us();
    if (one_way) {
        for (unsigned i = 0; is_parent && i < count; i++)
            say(on_raw, message_bytes);
        if (!is_parent)
            hear(on_raw, message_bytes, count);
        if (is_parent)
            hear(on_raw, 1, 1);
        else
            say(on_raw, 1);
        return (double)(pvmc_clock_us() - start_us) / count;
    }
    for (unsigned i = 0; i < count; i++) {
        if (is_parent)
            say(on_raw, message_bytes);
        hear(on_raw, message_bytes, 1);
        if (!is_parent)
            say(on_raw, message_bytes);
    }
    return (double)(pvmc_clock_us() - start_us) / count / 2;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The parent sends the number of messages in each block. */
static void measure(void)
{
    double of_raw[BLOCKS], of_transport[BLOCKS];
    unsigned count = 50;
    block(true, count);
    block(false, count);
    double first = block(true, count);
    if (is_parent)
        count = 1 + (unsigned)(BLOCK_US / (first * 2 + 0.1));
    if (is_parent ? send(control, &count, sizeof count, 0) < 0 : recv(control, &count, sizeof count, 0) < 0)
        err(1, "control");
    for (int i = 0; i < BLOCKS; i++) {
        of_raw[i] = block(true, count);
        of_transport[i] = block(false, count);
    }
    if (!is_parent)
        return;
    qsort(of_raw, BLOCKS, sizeof *of_raw, compare_doubles);
    qsort(of_transport, BLOCKS, sizeof *of_transport, compare_doubles);
    double r = of_raw[BLOCKS / 2], t = of_transport[BLOCKS / 2];
    printf("%-6s %s %8zu B %s: raw %9.3f (best %9.3f)  %s %9.3f (best %9.3f) us   ratio %.3f (best %.3f)", ops->name,
           one_way ? "rate" : "lat ", message_bytes, sleeps ? "sleeping" : "spinning", r, of_raw[0], ops->name, t,
           of_transport[0], t / r, of_transport[0] / of_raw[0]);
    printf("   %.0f against %.0f MB/s\n", message_bytes / t, message_bytes / r);
}

/* ---- connecting ---- */

static void control_send(const void *data, size_t bytes, int fd)
{
    struct iovec iov = {(void *)data, bytes};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof fd)];
    } c = {.align = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        memcpy(CMSG_DATA(&c.align), &fd, sizeof fd);
        msg.msg_control = &c;
        msg.msg_controllen = sizeof c;
    }
    if (sendmsg(control, &msg, 0) < 0)
        err(1, "control");
}

static size_t control_receive(void *data, int *fd)
{
    struct iovec iov = {data, CONTROL_BYTES};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof *fd)];
    } c;
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    ssize_t n = recvmsg(control, &msg, MSG_CMSG_CLOEXEC);
    if (n <= 0)
        errx(1, "the other process has gone");
    *fd = -1;
    if (CMSG_FIRSTHDR(&msg))
        memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof *fd);
    return (size_t)n;
}

static void meet(void)
{
    uint8_t blob[CONTROL_BYTES] = "", reply[CONTROL_BYTES] = "";
    int fd;
    int rc = ops->open(NULL, &callbacks, NULL, &transport);
    struct pvmt_attributes a;
    if (rc)
        errx(1, "open: %s", pvmc_error_text(rc));
    ops->query(transport, &a);
    frame_max = a.frame_max;
    if (is_parent) {
        int n = ops->offer(transport, NULL, blob + 1, &fd, &ep);
        if (n < 0)
            errx(1, "offer: %s", pvmc_error_text(n));
        control_send(blob, (size_t)n + 1, fd);
        if (fd >= 0)
            close(fd);
        size_t answer = control_receive(reply, &fd) - 1;
        if (answer && ops->joined && (rc = ops->joined(ep, reply + 1, answer)))
            errx(1, "joined: %s", pvmc_error_text(rc));
        while (!ready)
            ops->progress(transport);
        control_send("g", 1, -1);
    } else {
        size_t n = control_receive(blob, &fd) - 1;
        int answer = ops->join(transport, blob + 1, n, fd, NULL, reply + 1, &ep);
        if (answer < 0)
            errx(1, "join: %s", pvmc_error_text(answer));
        control_send(reply, (size_t)answer + 1, -1);
        while (recv(control, reply, 1, MSG_DONTWAIT) != 1)
            ops->progress(transport);
    }
}

static void meet_raw(int listener, const char *address, in_port_t port)
{
    int on = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = port};
    if (is_parent) {
        raw = accept(listener, NULL, NULL);
    } else {
        raw = socket(AF_INET, SOCK_STREAM, 0);
        if (inet_pton(AF_INET, address, &at.sin_addr) != 1 || connect(raw, (struct sockaddr *)&at, sizeof at))
            err(1, "connect to %s", address);
    }
    if (raw < 0 || setsockopt(raw, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
        err(1, "raw socket");
}

static void enter(const char *netns)
{
    char path[256];
    snprintf(path, sizeof path, "/run/netns/%s", netns);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET))
        err(1, "%s", path);
    close(fd);
}

int main(int argc, char **argv)
{
    sleeps = argc > 4 && !strcmp(argv[4], "sleep");
    const char *netns = argc > 5 + sleeps ? argv[4 + sleeps] : NULL;
    const char *address = netns ? argv[5 + sleeps] : "127.0.0.1";
    ops = argc > 3 ? pvmt_transport_find(argv[1]) : NULL;
    message_bytes = argc > 3 ? (size_t)atol(argv[3]) : 0;
    one_way = argc > 3 && !strcmp(argv[2], "rate");
    if (!ops || !ops->offer || !message_bytes || (!one_way && strcmp(argv[2], "lat")))
        errx(2, "usage: transport NAME lat|rate BYTES [sleep] [NETNS ADDRESS]");
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    int pair[2], listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &size) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
        err(1, "sockets");
    pid_t pid = fork();
    is_parent = pid != 0;
    control = pair[!is_parent];
    close(pair[is_parent]);
    if (!is_parent && netns)
        enter(netns);
    if (ops->query && pvmc_mem_use_arenas())
        warnx("no arenas");
    body = pvmc_mem_new(message_bytes);
    place = malloc(message_bytes);
    if (!body || !place)
        errx(1, "out of memory");
    memset(body->data, 1, message_bytes);
    meet_raw(listener, address, at.sin_port);
    meet();
    measure();
    if (!is_parent)
        _exit(0);
    waitpid(pid, NULL, 0);
    ops->close(transport);
    return 0;
}
