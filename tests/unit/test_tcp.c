/*
 * test_tcp.c - direct TCP links: who gets in and who does not, addresses that do not answer, what breaks in the middle,
 * TLS. The rest of transport.h is tested by conform.
 */
#include "../../src/core/clock.h"
#include "../../src/core/error.h"
#include "../../src/core/log.h"
#include "../../src/transports/tcp/tcp.h"
#include "unit.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_US 10000000

struct side {
    struct pvmi_transport *transport;
    struct pvmi_endpoint *ep;
    int ready, down, reason, done;
    uint32_t next_seq;
    bool wrong;
    uint8_t *place;
};

static const struct pvmi_transport_ops *ops;
static struct side offering, joining;
static uint8_t blob[PVMI_OFFER_MAX];
static int blob_bytes;
static bool frozen; /* the offering side makes no progress */

/* ---- sides ---- */

static uint8_t *on_place(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h)
{
    struct side *s = arg;
    (void)ep;
    ck_assert_uint_le(h->length, PVMI_FRAME_PAYLOAD_MAX);
    return s->place;
}

static uint8_t byte_of(uint32_t seq, uint32_t i)
{
    return (uint8_t)(seq * 13 + i + i / 251);
}

static void on_done(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h)
{
    struct side *s = arg;
    (void)ep;
    s->done++;
    s->wrong |= h->seq != s->next_seq++;
    for (uint32_t i = 0; i < h->length; i++)
        s->wrong |= s->place[i] != byte_of(h->seq, i);
}

static void on_ready(void *arg, struct pvmi_endpoint *ep)
{
    (void)ep;
    ((struct side *)arg)->ready++;
}

static void on_down(void *arg, struct pvmi_endpoint *ep, int reason)
{
    struct side *s = arg;
    ck_assert_ptr_eq(ep, s->ep);
    s->down++;
    s->reason = reason;
}

static const struct pvmi_callbacks callbacks = {
    .rx_place = on_place, .rx_done = on_done, .tx_ready = on_ready, .down = on_down};

static void open_side(struct side *s)
{
    *s = (struct side){.place = malloc(PVMI_FRAME_PAYLOAD_MAX)};
    ck_assert_int_eq(ops->open(NULL, &callbacks, s, &s->transport), 0);
}

static void close_side(struct side *s)
{
    if (s->transport)
        ops->close(s->transport);
    free(s->place);
    *s = (struct side){0};
}

static void setup(void)
{
    ops = pvmi_transport_find("tcp");
    ck_assert_ptr_nonnull(ops);
    unit_log_start();
    open_side(&offering);
    open_side(&joining);
}

static void teardown(void)
{
    close_side(&offering);
    close_side(&joining);
}

static void drop(struct side *s)
{
    if (s->ep)
        ops->disconnect(s->ep);
    s->ep = NULL;
    s->ready = s->down = s->reason = s->done = 0;
    s->next_seq = 0;
}

static void progress_both(void)
{
    if (offering.transport && !frozen)
        ck_assert_int_ge(ops->progress(offering.transport), 0);
    if (joining.transport)
        ck_assert_int_ge(ops->progress(joining.transport), 0);
}

#define DRIVE_UNTIL(condition)                                                                                         \
    do {                                                                                                               \
        int64_t end_us_ = pvmi_clock_us() + LIMIT_US;                                                                  \
        bool happened_;                                                                                                \
        while (!(happened_ = (condition)) && pvmi_clock_us() < end_us_)                                                \
            progress_both();                                                                                           \
        ck_assert_msg(happened_, "did not happen: %s", #condition);                                                    \
    } while (0)

static void drive_for(int64_t us)
{
    for (int64_t end_us = pvmi_clock_us() + us; pvmi_clock_us() < end_us;)
        progress_both();
}

/* ---- offers ---- */

static void offer(void)
{
    int fd;
    blob_bytes = ops->offer(offering.transport, &offering, blob, &fd, &offering.ep);
    ck_assert_int_gt(blob_bytes, 0);
    ck_assert_int_eq(fd, -1);
}

static int join(void)
{
    uint8_t reply[PVMI_OFFER_MAX];
    joining.ep = NULL;
    return ops->join(joining.transport, blob, (size_t)blob_bytes, -1, &joining, reply, &joining.ep);
}

static struct pvmi_tcp_offer read_offer(void)
{
    struct pvmi_tcp_offer o;
    ck_assert_int_eq(pvmi_tcp_offer_decode(blob, (size_t)blob_bytes, &o), 0);
    return o;
}

static void write_offer(const struct pvmi_tcp_offer *o)
{
    blob_bytes = pvmi_tcp_offer_encode(o, blob);
    ck_assert_int_gt(blob_bytes, 0);
}

static union pvmi_tcp_address address(const char *text, uint16_t port)
{
    union pvmi_tcp_address a = {.v4 = {.sin_family = AF_INET}};
    if (inet_pton(AF_INET, text, &a.v4.sin_addr) != 1) {
        a = (union pvmi_tcp_address){.v6 = {.sin6_family = AF_INET6}};
        ck_assert_int_eq(inet_pton(AF_INET6, text, &a.v6.sin6_addr), 1);
    }
    pvmi_tcp_address_set_port(&a, port);
    return a;
}

/* Leaves only this address in the offer; false when it is not there. */
static bool keep_only(const char *text)
{
    struct pvmi_tcp_offer o = read_offer();
    union pvmi_tcp_address want = address(text, 0);
    for (unsigned i = 0; i < o.count; i++)
        if (pvmi_tcp_address_same(&o.addresses[i], &want)) {
            o.addresses[0] = o.addresses[i];
            o.count = 1;
            write_offer(&o);
            return true;
        }
    return false;
}

/* The first address of the offer that is 127.0.0.1. */
static union pvmi_tcp_address door(void)
{
    struct pvmi_tcp_offer o = read_offer();
    union pvmi_tcp_address want = address("127.0.0.1", 0);
    for (unsigned i = 0; i < o.count; i++)
        if (pvmi_tcp_address_same(&o.addresses[i], &want))
            return o.addresses[i];
    ck_abort_msg("no 127.0.0.1 in the offer");
}

static void come_together(void)
{
    offer();
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
}

static int send_frame(struct side *s, uint32_t seq, uint32_t length)
{
    struct pvmi_frame_header h = {.dst = 1, .src = 2, .seq = seq, .length = length, .body_length = length};
    struct pvmi_frame *f = pvmi_frame_alloc(&h);
    ck_assert_ptr_nonnull(f);
    for (uint32_t i = 0; i < length; i++)
        f->mem->data[i] = byte_of(seq, i);
    int rc = ops->send(s->ep, f);
    pvmi_frame_unref(f);
    return rc;
}

static void exchange(int count, uint32_t length)
{
    for (int i = 0; i < count; i++) {
        DRIVE_UNTIL(send_frame(&joining, (uint32_t)i, length) == 0);
        DRIVE_UNTIL(send_frame(&offering, (uint32_t)i, length) == 0);
    }
    DRIVE_UNTIL(offering.done == count && joining.done == count);
    ck_assert(!offering.wrong && !joining.wrong);
}

/* ---- strangers: plain sockets ---- */

static int stranger(void)
{
    union pvmi_tcp_address a = door();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, &a.any, sizeof a.v4), 0);
    return fd;
}

/* Whether the connection was ended without a byte. */
static bool sent_away(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
    ck_assert_msg(n <= 0, "a stranger got a byte");
    return n == 0 || (errno != EAGAIN && errno != EINTR);
}

static unsigned descriptors(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* A socket that listens; *port is filled in. */
static int listener(const char *text, uint16_t *port)
{
    union pvmi_tcp_address a = address(text, *port);
    socklen_t size = sizeof a;
    int on = 1, fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (a.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (fd < 0 || bind(fd, &a.any, pvmi_tcp_address_size(&a)) || listen(fd, 4) || getsockname(fd, &a.any, &size))
        return -1;
    *port = pvmi_tcp_address_port(&a);
    return fd;
}

static uint16_t closed_port(void)
{
    uint16_t port = 0;
    close(listener("127.0.0.1", &port));
    return port;
}

/* ---- who gets in ---- */

START_TEST(joins_over_each_family)
{
    const char *addresses[] = {"127.0.0.1", "::1"};
    setup();
    offer();
    if (!keep_only(addresses[_i])) { /* no IPv6 here */
        ck_assert_int_eq(_i, 1);
        teardown();
        return;
    }
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    exchange(20, 5000);
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    getpeername(((struct tcp_link *)joining.ep)->watch.fd, (struct sockaddr *)&peer, &size);
    ck_assert_int_eq(peer.ss_family, _i ? AF_INET6 : AF_INET);
    teardown();
}
END_TEST

START_TEST(link_local_addresses_work_on_one_host)
{
    setup();
    offer();
    struct pvmi_tcp_offer o = read_offer();
    for (unsigned i = 0; i < o.count; i++) {
        if (!pvmi_tcp_address_is_link_local(&o.addresses[i]))
            continue;
        o.addresses[0] = o.addresses[i];
        o.count = 1;
        write_offer(&o);
        ck_assert_int_eq(join(), 0);
        DRIVE_UNTIL(offering.ready == 1);
    }
    teardown();
}
END_TEST

START_TEST(wrong_tickets_are_refused)
{
    setup();
    offer();
    struct pvmi_tcp_offer good = read_offer();
    for (unsigned i = 0; i < 3; i++) {
        struct pvmi_tcp_offer bad = good;
        *(uint8_t *[]){bad.ticket.id, bad.ticket.secret, bad.ticket.secret + 15}[i] ^= 1;
        write_offer(&bad);
        ck_assert_int_eq(join(), 0);
        DRIVE_UNTIL(joining.down == 1);
        ck_assert_int_eq(joining.reason, PVMI_EDENIED);
        ck_assert_int_eq(offering.ready, 0);
        drop(&joining);
    }
    write_offer(&good); /* the offer still stands */
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    exchange(3, 100);
    teardown();
}
END_TEST

/* Who has half a ticket only is no peer either: the joining side checks the welcome. */
START_TEST(impostors_are_not_believed)
{
    setup();
    offer();
    struct pvmi_tcp_offer o = read_offer();
    o.ticket.secret[PVMI_TCP_TICKET_BYTES - 1] ^= 1;
    write_offer(&o);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_int_eq(joining.reason, PVMI_EDENIED);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "not the task that offered"));
    teardown();
}
END_TEST

START_TEST(tickets_work_once)
{
    struct side other = {0};
    struct pvmi_endpoint *second;
    uint8_t second_blob[PVMI_OFFER_MAX];
    int fd;
    setup(); /* the other offer keeps the door open */
    ck_assert_int_gt(ops->offer(offering.transport, &other, second_blob, &fd, &second), 0);
    come_together();
    struct pvmi_endpoint *first = joining.ep;
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_msg(joining.reason == PVMI_EDENIED, "%s", unit_log.line);
    ops->disconnect(joining.ep);
    joining.ep = first;
    joining.down = 0;
    exchange(3, 100);
    teardown();
}
END_TEST

START_TEST(door_closes_behind_the_last)
{
    setup();
    unsigned before = descriptors();
    offer();
    ck_assert_uint_gt(descriptors(), before);
    drop(&offering);
    ck_assert_uint_eq(descriptors(), before);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_int_eq(joining.reason, PVMI_EUNREACHABLE);
    drop(&joining);
    come_together();
    ck_assert_uint_eq(descriptors(), before + 2);
    drop(&offering);
    drop(&joining);
    ck_assert_uint_eq(descriptors(), before);
    teardown();
}
END_TEST

/* ---- strangers ---- */

START_TEST(silent_strangers_have_five_seconds)
{
    setup();
    offer();
    int fd = stranger();
    int64_t start_us = pvmi_clock_us();
    struct pollfd p = {.fd = ops->fd(offering.transport), .events = POLLIN};
    unsigned wakes = 0;
    while (!sent_away(fd)) { /* as a task does that sleeps */
        ck_assert_int_lt(pvmi_clock_us() - start_us, 8000000);
        if (!ops->progress(offering.transport) && !ops->arm(offering.transport))
            wakes += poll(&p, 1, 7000) > 0;
    }
    int64_t took_us = pvmi_clock_us() - start_us;
    ck_assert_int_ge(took_us, 4900000);
    ck_assert_int_le(took_us, 6000000);
    ck_assert_uint_le(wakes, 4);
    close(fd);
    teardown();
}
END_TEST

START_TEST(garbage_gets_no_answer)
{
    static const char *const said[] = {"GET / HTTP/1.0\r\nHost: somewhere.example.org\r\n\r\n",
                                       "\x16\x03\x01\x02\x01\x01\x01\x01\xfc\x03\x03 this would be a TLS client hello"};
    setup();
    offer();
    for (unsigned i = 0; i < 2; i++) {
        int fd = stranger();
        ck_assert_uint_ge(strlen(said[i]), PVMI_TCP_HELLO_BYTES);
        ck_assert_int_gt(send(fd, said[i], strlen(said[i]), MSG_NOSIGNAL), 0);
        DRIVE_UNTIL(sent_away(fd));
        close(fd);
    }
    int fd = stranger(); /* less than a hello, and gone */
    ck_assert_int_eq(send(fd, "DVTH", 4, 0), 4);
    drive_for(10000);
    close(fd);
    drive_for(10000);
    ck_assert_uint_eq(((struct tcp_transport *)offering.transport)->door.strangers, 0);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    teardown();
}
END_TEST

START_TEST(a_flood_does_not_keep_the_peer_out)
{
    enum { FLOOD = 200 };
    int fds[FLOOD];
    setup();
    offer();
    unsigned before = descriptors();
    for (unsigned i = 0; i < FLOOD; i++) {
        fds[i] = stranger();
        progress_both();
        drive_for(200);
    }
    ck_assert_uint_le(descriptors(), before + FLOOD + TCP_STRANGERS_MAX + 1); /* one for the timer */
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    exchange(5, 100);
    for (unsigned i = 0; i < FLOOD; i++) {
        DRIVE_UNTIL(sent_away(fds[i]));
        close(fds[i]);
    }
    teardown();
}
END_TEST

/* The hello may come byte by byte, and frames right behind it. */
static int by_hand(void)
{
    struct pvmi_tcp_offer o = read_offer();
    uint8_t hello[PVMI_TCP_HELLO_BYTES], welcome[PVMI_TCP_WELCOME_BYTES];
    pvmi_tcp_hello_encode(&o.ticket, false, hello);
    int fd = stranger(), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (unsigned i = 0; i < sizeof hello; i++) {
        ck_assert_int_eq(send(fd, hello + i, 1, 0), 1);
        drive_for(100);
    }
    DRIVE_UNTIL(recv(fd, welcome, sizeof welcome, MSG_DONTWAIT) == sizeof welcome);
    ck_assert_int_eq(pvmi_tcp_welcome_check(welcome, &o.ticket, false), 0);
    ck_assert_int_eq(offering.ready, 1);
    return fd;
}

/* ---- what breaks ---- */

static size_t frame_on_wire(uint8_t *wire, uint32_t seq, uint32_t length)
{
    struct pvmi_frame_header h = {.dst = 1, .src = 2, .seq = seq, .length = length, .body_length = length};
    pvmi_frame_encode(&h, wire);
    for (uint32_t i = 0; i < length; i++)
        wire[PVMI_FRAME_HEADER_BYTES + i] = byte_of(seq, i);
    return PVMI_FRAME_HEADER_BYTES + length;
}

START_TEST(cuts_inside_frames_are_told)
{
    const size_t lengths[] = {10, PVMI_FRAME_HEADER_BYTES, PVMI_FRAME_HEADER_BYTES + 500};
    uint8_t wire[2 * (PVMI_FRAME_HEADER_BYTES + 1000)];
    setup();
    offer();
    int fd = by_hand();
    size_t n = frame_on_wire(wire, 0, 1000);
    frame_on_wire(wire + n, 1, 1000);
    ck_assert_int_eq(send(fd, wire, n + lengths[_i], 0), (ssize_t)(n + lengths[_i]));
    close(fd);
    DRIVE_UNTIL(offering.down == 1);
    ck_assert_int_eq(offering.reason, PVMI_EDOWN);
    ck_assert_int_eq(offering.done, 1);
    ck_assert(!offering.wrong);
    ck_assert_int_eq(send_frame(&offering, 0, 10), PVMI_EDOWN);
    drive_for(1000);
    ck_assert_int_eq(offering.down, 1);
    teardown();
}
END_TEST

/* The peer that only stops sending has ended the connection as well; one that is reset has not done it cleanly. */
START_TEST(half_open_connections_go_down)
{
    struct linger reset = {.l_onoff = 1};
    setup();
    offer();
    int fd = by_hand();
    if (_i) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(fd);
    } else {
        shutdown(fd, SHUT_WR);
    }
    DRIVE_UNTIL(offering.down == 1);
    ck_assert_int_eq(offering.reason, _i ? PVMI_EDOWN : 0);
    if (!_i)
        close(fd);
    teardown();
}
END_TEST

START_TEST(garbage_from_a_peer_ends_the_link)
{
    uint8_t wire[PVMI_FRAME_HEADER_BYTES];
    setup();
    offer();
    int fd = by_hand();
    memset(wire, 0xa5, sizeof wire);
    ck_assert_int_eq(send(fd, wire, sizeof wire, 0), sizeof wire);
    DRIVE_UNTIL(offering.down == 1);
    ck_assert_int_eq(offering.reason, PVMI_EFORMAT);
    close(fd);
    teardown();
}
END_TEST

START_TEST(forked_children_close_in_silence)
{
    setup();
    come_together();
    pid_t child = fork();
    if (!child) {
        ops->close(offering.transport);
        ops->close(joining.transport);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    exchange(10, 1000);
    ck_assert_int_eq(offering.down + joining.down, 0);
    teardown();
}
END_TEST

/* ---- addresses that do not answer ---- */

/* Puts an address before those of the offer. */
static void put_first(const char *text, uint16_t port)
{
    struct pvmi_tcp_offer o = read_offer();
    ck_assert_uint_lt(o.count, PVMI_TCP_OFFERED_MAX);
    memmove(o.addresses + 1, o.addresses, o.count * sizeof *o.addresses);
    o.addresses[0] = address(text, port);
    o.count++;
    write_offer(&o);
}

START_TEST(refused_addresses_are_passed_over)
{
    setup();
    offer();
    put_first("127.0.0.1", closed_port());
    int64_t start_us = pvmi_clock_us();
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    ck_assert_int_lt(pvmi_clock_us() - start_us, 90000); /* at once, not when it is time for the next */
    exchange(3, 100);
    teardown();
}
END_TEST

/* Somebody else listens there and says nothing: as slow as a firewall that drops. */
START_TEST(silent_addresses_delay_little)
{
    uint16_t port = 0;
    int silent = listener("127.0.0.1", &port);
    setup();
    offer();
    put_first("127.0.0.1", port);
    int64_t start_us = pvmi_clock_us();
    ck_assert_int_eq(join(), 0);
    struct pollfd p = {.fd = ops->fd(joining.transport), .events = POLLIN};
    while (!offering.ready) { /* the joining side sleeps: the timer must wake it */
        ck_assert_int_ge(ops->progress(offering.transport), 0);
        if (!ops->progress(joining.transport) && !ops->arm(joining.transport))
            poll(&p, 1, 5);
        ck_assert_int_lt(pvmi_clock_us() - start_us, 5000000);
    }
    ck_assert_int_ge(pvmi_clock_us() - start_us, 90000);
    exchange(3, 100);
    close(silent);
    teardown();
}
END_TEST

START_TEST(giving_up_names_what_was_tried)
{
    uint16_t port = 0;
    char text[32];
    int silent = listener("127.0.0.1", &port);
    setup();
    offer();
    keep_only("127.0.0.1");
    struct pvmi_tcp_offer o = read_offer();
    pvmi_tcp_address_set_port(&o.addresses[0], port);
    write_offer(&o);
    ck_assert_int_eq(join(), 0);
    drive_for(20000);
    drop(&joining); /* the layer above has waited long enough */
    snprintf(text, sizeof text, "127.0.0.1:%u (no welcome)", port);
    ck_assert_ptr_nonnull(strstr(unit_log.line, text));
    ck_assert_int_eq(unit_log.level, PVMI_LOG_INFO);
    ck_assert_int_eq(join(), 0);
    drop(&joining);
    ck_assert_int_eq(unit_log.level, PVMI_LOG_INFO); /* said once */
    close(silent);
    teardown();
}
END_TEST

START_TEST(other_hosts_never_try_loopback)
{
    setup();
    offer();
    struct pvmi_tcp_offer o = read_offer();
    o.host[0] ^= 1;
    write_offer(&o);
    ck_assert_int_eq(join(), PVMI_EUNREACHABLE); /* nor this host's other addresses, which are ours as well */
    ck_assert_ptr_null(joining.ep);
    teardown();
}
END_TEST

START_TEST(candidates_are_in_order)
{
    uint8_t here[PVMI_TCP_HOST_BYTES];
    struct pvmi_tcp_local locals[PVMI_TCP_LOCAL_MAX];
    struct pvmi_tcp_candidates c;
    unit_log_start();
    int count = pvmi_tcp_locals("", locals);
    ck_assert_int_gt(count, 0);
    pvmi_host_identity(here);
    struct pvmi_tcp_offer o = {.count = 4};
    memcpy(o.host, here, sizeof here);
    o.addresses[0] = address("198.51.100.7", 1);
    o.addresses[1] = address("127.0.0.9", 2);
    o.addresses[2] = address("203.0.113.4", 3);
    o.addresses[3] = address("127.0.0.1", 4);
    union pvmi_tcp_address remembered = address("203.0.113.4", 99);
    ck_assert_int_eq(pvmi_tcp_candidates_of(&o, here, "", &remembered, &c), 0);
    const uint16_t ports[] = {3, 2, 4, 1};
    ck_assert_uint_eq(c.count, 4);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(pvmi_tcp_address_port(&c.list[i].address), ports[i]);
    ck_assert_int_eq(pvmi_tcp_candidates_of(&o, here, "127.0.0.1", NULL, &c), 0);
    ck_assert_uint_eq(c.count, 2); /* those that can be reached from there */
    ck_assert(c.list[0].bound);
    ck_assert_int_eq(pvmi_tcp_candidates_of(&o, here, "nosuchif", NULL, &c), PVMI_ENOTFOUND);
}
END_TEST

START_TEST(what_worked_is_remembered)
{
    setup();
    offer();
    put_first("127.0.0.9", closed_port());
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    const struct tcp_transport *t = (struct tcp_transport *)joining.transport;
    union pvmi_tcp_address worked = address("127.0.0.1", 0);
    ck_assert(pvmi_tcp_address_same(&t->remembered[0].address, &worked));
    drop(&offering);
    drop(&joining);
    uint16_t port = 0;
    int other = listener("127.0.0.9", &port);
    offer();
    put_first("127.0.0.9", port);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    struct pollfd p = {.fd = other, .events = POLLIN};
    ck_assert_msg(poll(&p, 1, 0) == 0, "the other address was tried first");
    close(other);
    teardown();
}
END_TEST

/* ---- settings ---- */

START_TEST(ports_are_of_the_range)
{
    uint16_t port = closed_port();
    char range[32], why[512];
    snprintf(range, sizeof range, "%u-%u", port, port + 1);
    setenv("PVM_TCP_PORTS", range, 1);
    setup();
    offer();
    struct pvmi_tcp_offer o = read_offer();
    for (unsigned i = 0; i < o.count; i++) {
        ck_assert_uint_ge(pvmi_tcp_address_port(&o.addresses[i]), port);
        ck_assert_uint_le(pvmi_tcp_address_port(&o.addresses[i]), port + 1);
    }
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    teardown();
    const char *bad[] = {"x", "0", "5-4", "1-70000", "4000-", "4000-4100x"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("PVM_TCP_PORTS", bad[i], 1);
        ck_assert_int_eq(ops->available(why, sizeof why), PVMI_EPARAM);
        ck_assert_ptr_nonnull(strstr(why, bad[i]));
        struct pvmi_transport *t;
        ck_assert_int_eq(ops->open(NULL, &callbacks, NULL, &t), PVMI_EPARAM);
    }
}
END_TEST

START_TEST(exhausted_ranges_are_said)
{
    uint16_t port = 0;
    char text[32];
    int v4 = listener("0.0.0.0", &port), v6 = listener("::", &port), fd;
    ck_assert_int_ge(v4, 0);
    snprintf(text, sizeof text, "%u", port);
    setenv("PVM_TCP_PORTS", text, 1);
    setup();
    unsigned before = descriptors();
    ck_assert_int_eq(ops->offer(offering.transport, &offering, blob, &fd, &offering.ep), PVMI_ELIMIT);
    snprintf(text, sizeof text, "PVM_TCP_PORTS=%u-%u", port, port);
    ck_assert_ptr_nonnull(strstr(unit_log.line, text));
    ck_assert_uint_eq(descriptors(), before);
    close(v4);
    close(v6);
    come_together(); /* when one is free again */
    teardown();
}
END_TEST

START_TEST(interfaces_can_be_chosen)
{
    char why[1024];
    setenv("PVM_TCP_IF", "lo", 1);
    setup();
    offer();
    struct pvmi_tcp_offer o = read_offer();
    for (unsigned i = 0; i < o.count; i++)
        ck_assert(pvmi_tcp_address_is_loopback(&o.addresses[i]));
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    drop(&offering);
    drop(&joining);
    teardown();
    setenv("PVM_TCP_IF", "nosuchif,127.0.0.1", 1);
    setup();
    offer();
    ck_assert_uint_eq(read_offer().count, 1);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    teardown();
    setenv("PVM_TCP_IF", "nosuchif", 1);
    ck_assert_int_eq(ops->available(why, sizeof why), PVMI_ENOTFOUND);
    ck_assert_ptr_nonnull(strstr(why, "PVM_TCP_IF=nosuchif"));
    ck_assert_ptr_nonnull(strstr(why, "lo 127.0.0.1"));
}
END_TEST

START_TEST(sockets_are_as_set)
{
    setenv("PVM_TCP_SNDBUF", "32k", 1);
    setenv("PVM_TCP_RCVBUF", "32k", 1);
    setenv("PVM_TCP_NODELAY", "0", 1);
    setup();
    come_together();
    exchange(20, 100000);
    struct side *sides[] = {&offering, &joining};
    for (unsigned i = 0; i < 2; i++) {
        int fd = ((struct tcp_link *)sides[i]->ep)->watch.fd, value;
        socklen_t size = sizeof value;
        ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, &size), 0);
        ck_assert_int_eq(value, 65536); /* Linux doubles it */
        ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, &size), 0);
        ck_assert_int_eq(value, 65536);
        ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &size), 0);
        ck_assert_int_eq(value, 0);
    }
    teardown();
}
END_TEST

/* ---- the data path ---- */

START_TEST(large_frames_arrive)
{
    setup();
    come_together();
    exchange(12, PVMI_FRAME_PAYLOAD_MAX);
    teardown();
}
END_TEST

/* Small frames behind a full socket are taken up to a limit, then refused; all leave together and tx_ready comes once.
 */
START_TEST(frames_wait_behind_a_full_socket)
{
    setenv("PVM_TCP_SNDBUF", "8k", 1);
    setenv("PVM_TCP_RCVBUF", "8k", 1);
    setup();
    come_together();
    uint32_t seq = 0;
    int rc;
    frozen = true;
    while ((rc = send_frame(&joining, seq, 100)) == 0)
        ck_assert_uint_lt(++seq, 100000);
    ck_assert_int_eq(rc, PVMI_EAGAIN);
    ck_assert_uint_eq(ops->pending(joining.ep), TCP_QUEUE_MAX);
    ck_assert_int_eq(send_frame(&joining, seq, 100), PVMI_EAGAIN);
    drive_for(1000);
    ck_assert_int_eq(joining.ready, 0);
    frozen = false;
    DRIVE_UNTIL(joining.ready == 1);
    ck_assert_uint_eq(ops->pending(joining.ep), 0);
    DRIVE_UNTIL(offering.done == (int)seq);
    ck_assert_int_eq(joining.ready, 1);
    ck_assert(!offering.wrong);
    teardown();
}
END_TEST

/* The joining side may send before it is connected. */
START_TEST(frames_wait_for_the_connection)
{
    setup();
    offer();
    ck_assert_int_eq(send_frame(&offering, 0, 10), PVMI_EAGAIN);
    ck_assert_int_eq(join(), 0);
    for (uint32_t seq = 0; seq < 10; seq++)
        ck_assert_int_eq(send_frame(&joining, seq, 1000), 0);
    ck_assert_uint_eq(ops->pending(joining.ep), 10);
    DRIVE_UNTIL(offering.done == 10);
    ck_assert_uint_eq(ops->pending(joining.ep), 0);
    ck_assert_int_eq(offering.ready, 1);
    ck_assert(!offering.wrong);
    teardown();
}
END_TEST

/* Links that are read often without sleeping leave epoll, and come back before anybody sleeps. */
START_TEST(busy_links_wake_sleepers_all_the_same)
{
    setup();
    come_together();
    const struct tcp_transport *t = (struct tcp_transport *)offering.transport;
    struct pollfd p = {.fd = ops->fd(offering.transport), .events = POLLIN};
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 200; i++) {
            ck_assert_int_eq(send_frame(&joining, offering.next_seq, 8), 0);
            int due = offering.done + 1;
            DRIVE_UNTIL(offering.done == due);
        }
        ck_assert_uint_eq(t->aside, 1);
        ck_assert_int_eq(ops->arm(offering.transport), 0);
        ck_assert_uint_eq(t->aside, 0);
        ck_assert_int_eq(poll(&p, 1, 10), 0);
        ck_assert_int_eq(send_frame(&joining, offering.next_seq, 8), 0);
        ck_assert_int_eq(poll(&p, 1, 5000), 1);
        DRIVE_UNTIL(offering.done == (int)(201 * (round + 1)));
    }
    frozen = true; /* what comes before arm() wakes as well */
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(send_frame(&joining, offering.next_seq + i, 8), 0);
    ck_assert(ops->arm(offering.transport) || poll(&p, 1, 5000) == 1);
    ck_assert(!offering.wrong);
    teardown();
}
END_TEST

/* ---- TLS ---- */

START_TEST(tls_on_both_sides)
{
    setenv("PVM_TCP_TLS", "1", 1);
    setup();
    come_together();
    exchange(20, 8);
    drop(&joining);
    DRIVE_UNTIL(offering.down == 1);
    ck_assert_int_eq(offering.reason, 0); /* the end was announced */
    drop(&offering);
    come_together();
    exchange(12, PVMI_FRAME_PAYLOAD_MAX);
    teardown();
}
END_TEST

START_TEST(tls_frames_wait_behind_a_full_socket)
{
    setenv("PVM_TCP_TLS", "1", 1);
    setenv("PVM_TCP_SNDBUF", "8k", 1);
    setenv("PVM_TCP_RCVBUF", "8k", 1);
    setup();
    come_together();
    uint32_t seq = 0;
    frozen = true;
    while (send_frame(&joining, seq, 100) == 0)
        ck_assert_uint_lt(++seq, 100000);
    frozen = false;
    DRIVE_UNTIL(joining.ready == 1 && offering.done == (int)seq);
    ck_assert(!offering.wrong);
    ck_assert_uint_eq(ops->pending(joining.ep), 0);
    teardown();
}
END_TEST

START_TEST(tls_sleepers_are_woken)
{
    setenv("PVM_TCP_TLS", "1", 1);
    setup();
    come_together();
    for (uint32_t seq = 0; seq < 200; seq++) {
        ck_assert_int_eq(send_frame(&joining, seq, seq * 100), 0);
        struct pollfd p = {.fd = ops->fd(offering.transport), .events = POLLIN};
        while (offering.done <= (int)seq) {
            if (!ops->arm(offering.transport))
                ck_assert_int_eq(poll(&p, 1, 5000), 1);
            ops->progress(offering.transport);
            ops->progress(joining.transport);
        }
    }
    ck_assert(!offering.wrong);
    teardown();
}
END_TEST

START_TEST(tls_on_one_side)
{
    setenv("PVM_TCP_TLS", _i ? "1" : "0", 1);
    ops = pvmi_transport_find("tcp");
    unit_log_start();
    open_side(&offering);
    setenv("PVM_TCP_TLS", _i ? "0" : "1", 1);
    open_side(&joining);
    offer();
    ck_assert_int_eq(join(), PVMI_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "PVM_TCP_TLS"));
    ck_assert_int_eq(unit_log.level, PVMI_LOG_WARNING);
    struct pvmi_tcp_offer o = read_offer();
    o.tls = !o.tls; /* a peer that lies about it is not let in */
    write_offer(&o);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_int_eq(joining.reason, PVMI_EDENIED);
    ck_assert_int_eq(offering.ready, 0);
    teardown();
}
END_TEST

START_TEST(tls_needs_the_ticket)
{
    setenv("PVM_TCP_TLS", "1", 1);
    setup();
    offer();
    struct pvmi_tcp_offer good = read_offer(), bad = good;
    uint8_t hello[PVMI_TCP_HELLO_BYTES];
    pvmi_tcp_hello_encode(&good.ticket, true, hello); /* the ticket does not travel */
    ck_assert_ptr_null(memmem(hello, sizeof hello, good.ticket.secret, 4));
    bad.ticket.secret[31] ^= 1;
    write_offer(&bad);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_int_eq(joining.reason, PVMI_EDENIED);
    ck_assert_int_eq(offering.ready, 0);
    drop(&joining);
    write_offer(&good);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    exchange(5, 100);
    teardown();
}
END_TEST

START_TEST(tls_without_its_module)
{
    char why[1024];
    setenv("PVM_TCP_TLS", "1", 1);
    setenv("PVM_ROOT", "/nonexistent/pvm3", 1);
    ops = pvmi_transport_find("tcp");
    ck_assert_int_eq(ops->available(why, sizeof why), PVMI_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(why, PVMI_TCP_TLS_FILE));
    struct pvmi_transport *t;
    unit_log_start();
    ck_assert_int_eq(ops->open(NULL, &callbacks, NULL, &t), PVMI_EUNSUPPORTED);
    ck_assert_int_eq(unit_log.level, PVMI_LOG_ERROR);
}
END_TEST

/* ---- bytes ---- */

START_TEST(malformed_offers_are_refused)
{
    setup();
    offer();
    uint8_t whole[PVMI_OFFER_MAX];
    int whole_bytes = blob_bytes;
    memcpy(whole, blob, sizeof whole);
    for (blob_bytes = 0; blob_bytes < whole_bytes; blob_bytes++)
        ck_assert_int_eq(join(), PVMI_EFORMAT);
    blob_bytes = whole_bytes + 1;
    ck_assert_int_eq(join(), PVMI_EFORMAT);
    blob_bytes = whole_bytes;
    const struct {
        unsigned at;
        uint8_t value;
        int rc;
    } wrong[] = {{0, 2, PVMI_EVERSION},
                 {1, 2, PVMI_EFORMAT},
                 {2, 0, PVMI_EFORMAT},
                 {2, 17, PVMI_EFORMAT},
                 {76, 5, PVMI_EFORMAT}};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(blob, whole, sizeof whole);
        blob[wrong[i].at] = wrong[i].value;
        ck_assert_int_eq(join(), wrong[i].rc);
    }
    teardown();
}
END_TEST

START_TEST(offers_read_as_written)
{
    struct pvmi_tcp_offer o = {.tls = true, .count = PVMI_TCP_OFFERED_MAX}, back;
    for (unsigned i = 0; i < o.count; i++)
        o.addresses[i] = address(i % 2 ? "10.1.2.3" : "2001:db8::7", (uint16_t)(4000 + i));
    o.addresses[2].v6.sin6_scope_id = 7;
    ck_assert_int_eq(pvmi_tcp_ticket_draw(&o.ticket), 0);
    write_offer(&o);
    ck_assert_int_eq(pvmi_tcp_offer_decode(blob, (size_t)blob_bytes, &back), 0);
    ck_assert_int_eq(memcmp(&o.ticket, &back.ticket, sizeof o.ticket), 0);
    ck_assert_uint_eq(back.count, o.count);
    ck_assert(back.tls);
    char a[PVMI_TCP_TEXT_BYTES], b[PVMI_TCP_TEXT_BYTES];
    for (unsigned i = 0; i < o.count; i++)
        ck_assert_str_eq(pvmi_tcp_address_text(&o.addresses[i], a), pvmi_tcp_address_text(&back.addresses[i], b));
    ck_assert_str_eq(pvmi_tcp_address_text(&back.addresses[2], a), "[2001:db8::7%7]:4002");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tcp");
    TCase *all = tcase_create("tcp");
    tcase_set_timeout(all, 180);
    tcase_add_loop_test(all, joins_over_each_family, 0, 2);
    tcase_add_loop_test(all, cuts_inside_frames_are_told, 0, 3);
    tcase_add_loop_test(all, half_open_connections_go_down, 0, 2);
    tcase_add_loop_test(all, tls_on_one_side, 0, 2);
    const TTest *const tests[] = {link_local_addresses_work_on_one_host,
                                  wrong_tickets_are_refused,
                                  impostors_are_not_believed,
                                  tickets_work_once,
                                  door_closes_behind_the_last,
                                  silent_strangers_have_five_seconds,
                                  garbage_gets_no_answer,
                                  a_flood_does_not_keep_the_peer_out,
                                  garbage_from_a_peer_ends_the_link,
                                  forked_children_close_in_silence,
                                  refused_addresses_are_passed_over,
                                  silent_addresses_delay_little,
                                  giving_up_names_what_was_tried,
                                  other_hosts_never_try_loopback,
                                  candidates_are_in_order,
                                  what_worked_is_remembered,
                                  ports_are_of_the_range,
                                  exhausted_ranges_are_said,
                                  interfaces_can_be_chosen,
                                  sockets_are_as_set,
                                  large_frames_arrive,
                                  frames_wait_behind_a_full_socket,
                                  frames_wait_for_the_connection,
                                  busy_links_wake_sleepers_all_the_same,
                                  tls_on_both_sides,
                                  tls_frames_wait_behind_a_full_socket,
                                  tls_sleepers_are_woken,
                                  tls_needs_the_ticket,
                                  tls_without_its_module,
                                  malformed_offers_are_refused,
                                  offers_read_as_written};
    for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(all, tests[i]);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
