/*
 * test_unix.c - descriptors on frames of the Unix socket: each arrives with its own frame, wherever reads split the
 * stream; losses are reported; nothing leaks. conform tests the rest of transport.h.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "transports/transport.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FRAMES_MAX = 512, NONE = -2 };

static const struct pvmt_transport_ops *ops;
static struct pvmt_transport *server, *client;
static struct pvmt_endpoint *server_ep, *client_ep;
static char folder[64], path[128];
static uint8_t payload[PVMC_FRAME_PAYLOAD_MAX];

/*
 * What the server received: for each frame the descriptor's mark (see marked()), -1 for a lost one, NONE without
 * callback.
 */
static int seen[FRAMES_MAX];
static unsigned done, downs;
static bool refuse;
static int pause_at = NONE, yield_at = NONE; /* frames after which reading stops */

/* ---- distinguishable descriptors ---- */

static int marked(int mark)
{
    int fd = memfd_create("mark", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, mark + 1), 0);
    return fd;
}

static int mark_of(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    ck_assert_int_ge(size, 1);
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    return (int)size - 1;
}

/* ---- the receiving side ---- */

static int on_accepted(void *arg, struct pvmt_endpoint *ep, const struct pvmt_credentials *who)
{
    (void)arg;
    (void)who;
    server_ep = ep;
    return 0;
}

static uint8_t *on_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    (void)ep;
    ck_assert_uint_lt(h->seq, FRAMES_MAX);
    seen[h->seq] = NONE;
    return refuse ? NULL : payload;
}

static void on_descriptor(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, int fd)
{
    (void)arg;
    (void)ep;
    ck_assert_int_eq(seen[h->seq], NONE);
    seen[h->seq] = fd < 0 ? -1 : mark_of(fd);
    if (fd >= 0)
        close(fd);
}

static void on_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    ck_assert_uint_eq(h->seq, done);
    done++;
    if ((int)h->seq == pause_at)
        ops->pause(ep, true);
    if ((int)h->seq == yield_at)
        ops->yield(ep);
}

static void on_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg;
    (void)ep;
}

static void on_down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    (void)arg;
    (void)reason;
    downs++;
    ops->disconnect(ep);
}

static struct pvmt_callbacks callbacks = {.accepted = on_accepted,
                                          .rx_place = on_place,
                                          .rx_done = on_done,
                                          .rx_descriptor = on_descriptor,
                                          .tx_ready = on_ready,
                                          .down = on_down};

static void drive(void)
{
    for (int idle = 0; idle < 3;) {
        int n = ops->progress(client) + ops->progress(server);
        idle = n ? 0 : idle + 1;
    }
}

static void start(void)
{
    ops = pvmt_transport_find("unix");
    strcpy(folder, "/tmp/test_unix.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    ck_assert_int_eq(ops->open(path, &callbacks, NULL, &server), 0);
    ck_assert_int_eq(ops->open(NULL, &callbacks, NULL, &client), 0);
    ck_assert_int_eq(ops->connect(client, (const uint8_t *)path, strlen(path), NULL, &client_ep), 0);
    drive();
    ck_assert_ptr_nonnull(server_ep);
}

static void stop(void)
{
    ops->close(client);
    ops->close(server);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* ---- the sending side ---- */

static struct pvmc_frame *frame(uint32_t seq, uint32_t length, int fd)
{
    struct pvmc_frame_header h = {.seq = seq, .dst = 0x40001, .length = length, .body_length = length};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    ck_assert_ptr_nonnull(f);
    if (length)
        memset(f->pieces[0].iov_base, 1, length);
    f->fd = fd;
    f->h.flags = fd >= 0 ? PVMC_FRAME_FD : 0;
    return f;
}

static void send_frame(uint32_t seq, uint32_t length, int fd)
{
    struct pvmc_frame *f = frame(seq, length, fd);
    int rc = PVMC_EAGAIN;
    for (int64_t end_us = pvmc_clock_us() + 5000000; rc == PVMC_EAGAIN && pvmc_clock_us() < end_us;) {
        rc = ops->send(client_ep, f);
        if (rc == PVMC_EAGAIN)
            drive();
    }
    ck_assert_int_eq(rc, 0);
    pvmc_frame_unref(f);
}

/* A peer that may break any rule. */
static int raw_connect(void)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    strcpy(sun.sun_path, path);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(s, (struct sockaddr *)&sun, sizeof sun), 0);
    drive();
    return s;
}

static void raw_header(uint8_t wire[PVMC_FRAME_HEADER_BYTES], uint32_t seq, uint8_t flags)
{
    struct pvmc_frame_header h = {.seq = seq, .dst = 0x40001, .flags = flags};
    pvmc_frame_encode(&h, wire);
}

/* ---- tests ---- */

START_TEST(each_comes_with_its_frame)
{
    static const uint32_t sizes[] = {0, 1, 100, 4096, 4097, 16384, 60000, 65536};
    start();
    unsigned before = open_descriptors();
    for (uint32_t i = 0; i < 400; i++) {
        bool with = i * 7 % 5 < 2;
        send_frame(i, sizes[i * 5 % 8], with ? marked((int)i) : -1);
        if (i % 37 == 0)
            drive(); /* otherwise as many as the socket holds are read together */
    }
    drive();
    ck_assert_uint_eq(done, 400);
    for (int i = 0; i < 400; i++)
        ck_assert_int_eq(seen[i], i * 7 % 5 < 2 ? i : NONE);
    ck_assert_uint_eq(open_descriptors(), before);
    stop();
}
END_TEST

START_TEST(in_any_cut_of_the_header)
{
    start();
    int s = raw_connect();
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    for (uint32_t i = 0; i < PVMC_FRAME_HEADER_BYTES - 1; i++) {
        int fd = marked((int)i);
        raw_header(wire, i, PVMC_FRAME_FD);
        send_descriptors(s, wire, i + 1, &fd, 1);
        if (i % 2)
            drive();
        send_descriptors(s, wire + i + 1, PVMC_FRAME_HEADER_BYTES - i - 1, NULL, 0);
        close(fd);
        if (i % 3)
            drive();
    }
    drive();
    ck_assert_uint_eq(done, PVMC_FRAME_HEADER_BYTES - 1);
    for (int i = 0; i < PVMC_FRAME_HEADER_BYTES - 1; i++)
        ck_assert_int_eq(seen[i], i);
    close(s);
    stop();
}
END_TEST

START_TEST(a_missing_one_is_not_taken_from_the_next)
{
    start();
    struct pvmc_frame *lost = frame(0, 10, -1);
    lost->h.flags = PVMC_FRAME_FD;
    ck_assert_int_eq(ops->send(client_ep, lost), 0);
    pvmc_frame_unref(lost);
    send_frame(1, 10, marked(1));
    send_frame(2, 0, -1);
    drive();
    ck_assert_uint_eq(done, 3);
    ck_assert_int_eq(seen[0], -1);
    ck_assert_int_eq(seen[1], 1);
    ck_assert_int_eq(seen[2], NONE);
    stop();
}
END_TEST

START_TEST(unwanted_ones_are_closed)
{
    start();
    int s = raw_connect();
    unsigned before = open_descriptors();
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    int fds[3] = {marked(0), marked(7), marked(8)};
    raw_header(wire, 0, 0); /* a descriptor without its flag */
    send_descriptors(s, wire, sizeof wire, fds, 1);
    raw_header(wire, 1, PVMC_FRAME_FD); /* three for one frame */
    send_descriptors(s, wire, sizeof wire, fds, 3);
    drive();
    refuse = true;
    raw_header(wire, 2, PVMC_FRAME_FD);
    send_descriptors(s, wire, sizeof wire, fds, 1);
    drive();
    refuse = false;
    callbacks.rx_descriptor = NULL;
    raw_header(wire, 2, PVMC_FRAME_FD);
    send_descriptors(s, wire, sizeof wire, fds, 1);
    drive();
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    ck_assert_uint_eq(done, 3);
    ck_assert_int_eq(seen[0], NONE);
    ck_assert_int_eq(seen[1], 0);
    ck_assert_uint_eq(open_descriptors(), before);
    close(s);
    stop();
}
END_TEST

START_TEST(more_than_there_is_room_for_is_truncated)
{
    start();
    int s = raw_connect();
    unsigned before = open_descriptors();
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    int fds[16];
    for (int i = 0; i < 16; i++)
        fds[i] = marked(i);
    raw_header(wire, 0, PVMC_FRAME_FD);
    send_descriptors(s, wire, sizeof wire, fds, 16);
    for (int i = 0; i < 16; i++)
        close(fds[i]);
    drive();
    ck_assert_uint_eq(done, 1);
    ck_assert_int_eq(seen[0], 0);
    ck_assert_uint_eq(open_descriptors(), before);
    close(s);
    stop();
}
END_TEST

START_TEST(without_descriptors_left_it_is_lost)
{
    start();
    send_frame(0, 10, marked(0));
    send_frame(1, 10, marked(1));
    struct rlimit limit, tight;
    getrlimit(RLIMIT_NOFILE, &limit);
    tight = limit;
    tight.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &tight);
    drive();
    setrlimit(RLIMIT_NOFILE, &limit);
    send_frame(2, 10, marked(2));
    drive();
    ck_assert_uint_eq(done, 3);
    ck_assert_int_eq(seen[0], -1);
    ck_assert_int_eq(seen[1], -1);
    ck_assert_int_eq(seen[2], 2);
    stop();
}
END_TEST

START_TEST(nothing_leaks_when_the_peer_goes)
{
    start();
    unsigned before = open_descriptors();
    int s = raw_connect();
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    int fd = marked(0);
    raw_header(wire, 0, PVMC_FRAME_FD);
    send_descriptors(s, wire, 1, &fd, 1); /* the header stays incomplete */
    drive();
    send_descriptors(s, "garbage garbage garbage garbage garbage garbage garbage garbage ", 63, &fd, 1);
    drive();
    close(s);
    s = raw_connect();
    send_descriptors(s, wire, 30, &fd, 1);
    drive();
    close(s);
    s = raw_connect();
    send_descriptors(s, "garbage garbage garbage garbage garbage garbage garbage garbage ", 64, &fd, 1);
    drive();
    close(s);
    close(fd);
    drive();
    ck_assert_uint_eq(downs, 3);
    ck_assert_uint_eq(open_descriptors(), before);
    stop();
}
END_TEST

START_TEST(nothing_leaks_on_close)
{
    unsigned before = open_descriptors();
    start();
    int s = raw_connect();
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    int fd = marked(0);
    raw_header(wire, 0, PVMC_FRAME_FD);
    send_descriptors(s, wire, 1, &fd, 1);
    drive();
    while (1) { /* until one stays in the sender, half sent */
        struct pvmc_frame *f = frame(0, 60000, marked(5));
        int rc = ops->send(client_ep, f);
        pvmc_frame_unref(f);
        if (rc)
            break;
    }
    close(fd);
    close(s);
    stop();
    ck_assert_uint_eq(open_descriptors(), before);
}
END_TEST

/* Frames of all sizes, each with a descriptor, so that a frame split between reads has one, too. */
static void send_marked(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        int fd = marked((int)i);
        struct pvmc_frame *f = frame(i, i % 3 * 40, fd);
        while (ops->send(client_ep, f) == PVMC_EAGAIN)
            ops->progress(server);
        pvmc_frame_unref(f);
    }
}

static void check_marked(unsigned count)
{
    ck_assert_uint_eq(done, count);
    for (unsigned i = 0; i < count; i++)
        ck_assert_int_eq(seen[i], (int)i);
}

START_TEST(a_pause_stops_behind_the_frame)
{
    start();
    pause_at = 3;
    send_marked(0, 8);
    drive();
    check_marked(4);
    ck_assert_int_eq(ops->arm(server), 0);
    ops->pause(server_ep, true);
    drive();
    check_marked(4);
    ops->pause(server_ep, false);
    drive();
    check_marked(8);
    stop();
}
END_TEST

/* Without descriptors one read delivers many frames. */
START_TEST(what_was_read_before_a_pause_is_not_lost)
{
    start();
    pause_at = yield_at = 3;
    for (unsigned i = 0; i < 8; i++) {
        struct pvmc_frame *f = frame(i, i % 3 * 40, -1);
        f->h.flags = 0;
        ck_assert_int_eq(ops->send(client_ep, f), 0);
        pvmc_frame_unref(f);
    }
    drive();
    ck_assert_uint_eq(done, 4);
    ck_assert_int_eq(ops->arm(server), 0);
    pause_at = NONE;
    ops->pause(server_ep, false);
    ck_assert_int_eq(ops->arm(server), 1);
    drive();
    ck_assert_uint_eq(done, 8);
    stop();
}
END_TEST

START_TEST(a_yield_lasts_for_one_progress)
{
    start();
    yield_at = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct pvmc_frame *f = frame(i, 10, -1);
        f->h.flags = 0;
        ck_assert_int_eq(ops->send(client_ep, f), 0);
        pvmc_frame_unref(f);
    }
    ops->progress(server);
    ck_assert_uint_eq(done, 1);
    ck_assert_int_eq(ops->arm(server), 1);
    yield_at = 1;
    ops->progress(server);
    ck_assert_uint_eq(done, 2);
    ops->progress(server);
    ck_assert_uint_eq(done, 3);
    ck_assert_int_eq(ops->arm(server), 0);
    stop();
}
END_TEST

/* Not where others may connect or input is not read. */
START_TEST(sleepers_poll_the_socket)
{
    struct pollfd fds[PVMT_SLEEP_FDS];
    start();
    ck_assert_uint_eq(ops->sleep_on(server, fds), 0);
    ck_assert_uint_eq(ops->sleep_on(client, fds), 1);
    ck_assert_int_eq(poll(fds, 1, 0), 0);
    struct pvmc_frame *f = frame(0, 10, -1);
    f->h.flags = 0;
    ck_assert_int_eq(ops->send(server_ep, f), 0);
    pvmc_frame_unref(f);
    ck_assert_int_eq(poll(fds, 1, 5000), 1);
    ops->pause(client_ep, true);
    ck_assert_uint_eq(ops->sleep_on(client, fds), 0);
    ops->pause(client_ep, false);
    ck_assert_uint_eq(ops->sleep_on(client, fds), 1);
    stop();
}
END_TEST

START_TEST(a_paused_peer_that_dies_is_read_to_the_end)
{
    start();
    unsigned before = open_descriptors();
    pause_at = 0;
    send_marked(0, 4);
    drive();
    check_marked(1);
    ops->disconnect(client_ep);
    drive();
    check_marked(4);
    ck_assert_uint_eq(downs, 1);
    ck_assert_uint_eq(open_descriptors(), before - 2); /* both ends of the connection */
    stop();
}
END_TEST

START_TEST(sending_to_a_paused_peer_goes_on)
{
    start();
    ops->pause(server_ep, true);
    for (int i = 0; i < 100; i++) {
        struct pvmc_frame *f = frame((uint32_t)i, 60000, -1);
        f->h.flags = 0;
        while (ops->send(server_ep, f) == PVMC_EAGAIN) {
            ops->progress(client);
            ops->progress(server);
        }
        pvmc_frame_unref(f);
    }
    drive();
    ck_assert_uint_eq(done, 100);
    stop();
}
END_TEST

START_TEST(nothing_leaks_when_paused_on_close)
{
    unsigned before = open_descriptors();
    start();
    pause_at = 0;
    send_marked(0, 4);
    drive();
    stop();
    ck_assert_uint_eq(open_descriptors(), before);
}
END_TEST

UNIT_MAIN("unix", a_pause_stops_behind_the_frame, what_was_read_before_a_pause_is_not_lost,
          a_yield_lasts_for_one_progress, sleepers_poll_the_socket, a_paused_peer_that_dies_is_read_to_the_end,
          sending_to_a_paused_peer_goes_on, nothing_leaks_when_paused_on_close, each_comes_with_its_frame,
          in_any_cut_of_the_header, a_missing_one_is_not_taken_from_the_next, unwanted_ones_are_closed,
          more_than_there_is_room_for_is_truncated, without_descriptors_left_it_is_lost,
          nothing_leaks_when_the_peer_goes, nothing_leaks_on_close)
