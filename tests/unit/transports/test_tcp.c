/*
 * test_tcp.c - direct TCP links: which callers are admitted, failures of the connection, the data path, TLS. conform
 * tests the rest of transport.h.
 */
#include "tests/unit/tcp_pair.h"
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- admission ---- */

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
    struct pvmt_tcp_offer o = read_offer();
    for (unsigned i = 0; i < o.count; i++) {
        if (!pvmw_address_needs_scope(&o.addresses[i]))
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
    struct pvmt_tcp_offer good = read_offer();
    for (unsigned i = 0; i < 3; i++) {
        struct pvmt_tcp_offer bad = good;
        *(uint8_t *[]){bad.ticket.id, bad.ticket.secret, bad.ticket.secret + 15}[i] ^= 1;
        write_offer(&bad);
        ck_assert_int_eq(join(), 0);
        DRIVE_UNTIL(joining.down == 1);
        ck_assert_int_eq(joining.reason, PVMC_EDENIED);
        ck_assert_int_eq(offering.ready, 0);
        drop(&joining);
    }
    write_offer(&good); /* the offer is still valid */
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    exchange(3, 100);
    teardown();
}
END_TEST

/* A caller with only half of the ticket is not a peer: the joining side checks the welcome. */
START_TEST(impostors_are_not_believed)
{
    setup();
    offer();
    struct pvmt_tcp_offer o = read_offer();
    o.ticket.secret[PVMT_TCP_TICKET_BYTES - 1] ^= 1;
    write_offer(&o);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_int_eq(joining.reason, PVMC_EDENIED);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "not the task that offered"));
    teardown();
}
END_TEST

START_TEST(tickets_work_once)
{
    struct side other = {0};
    struct pvmt_endpoint *second;
    uint8_t second_blob[PVMT_OFFER_MAX];
    int fd;
    setup(); /* the other offer keeps the port open */
    ck_assert_int_gt(ops->offer(offering.transport, &other, second_blob, &fd, &second), 0);
    come_together();
    struct pvmt_endpoint *first = joining.ep;
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_msg(joining.reason == PVMC_EDENIED, "%s", unit_log.line);
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
    ck_assert_int_eq(joining.reason, PVMC_EUNREACHABLE);
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
    int64_t start_us = pvmc_clock_us();
    struct pollfd p = {.fd = ops->fd(offering.transport), .events = POLLIN};
    unsigned wakes = 0;
    while (!sent_away(fd)) { /* like a task that sleeps */
        ck_assert_int_lt(pvmc_clock_us() - start_us, 8000000);
        if (!ops->progress(offering.transport) && !ops->arm(offering.transport))
            wakes += poll(&p, 1, 7000) > 0;
    }
    int64_t took_us = pvmc_clock_us() - start_us;
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
        ck_assert_uint_ge(strlen(said[i]), PVMT_TCP_HELLO_BYTES);
        ck_assert_int_gt(send(fd, said[i], strlen(said[i]), MSG_NOSIGNAL), 0);
        DRIVE_UNTIL(sent_away(fd));
        close(fd);
    }
    int fd = stranger(); /* less than a hello, then closed */
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

/* The hello may arrive byte by byte, immediately followed by frames. */
static int by_hand(void)
{
    struct pvmt_tcp_offer o = read_offer();
    uint8_t hello[PVMT_TCP_HELLO_BYTES], welcome[PVMT_TCP_WELCOME_BYTES];
    pvmt_tcp_hello_encode(&o.ticket, false, hello);
    int fd = stranger(), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (unsigned i = 0; i < sizeof hello; i++) {
        ck_assert_int_eq(send(fd, hello + i, 1, 0), 1);
        drive_for(100);
    }
    DRIVE_UNTIL(recv(fd, welcome, sizeof welcome, MSG_DONTWAIT) == sizeof welcome);
    ck_assert_int_eq(pvmt_tcp_welcome_check(welcome, &o.ticket, false), 0);
    ck_assert_int_eq(offering.ready, 1);
    return fd;
}

/* ---- failures of the connection ---- */

static size_t frame_on_wire(uint8_t *wire, uint32_t seq, uint32_t length)
{
    struct pvmc_frame_header h = {.dst = 1, .src = 2, .seq = seq, .length = length, .body_length = length};
    pvmc_frame_encode(&h, wire);
    for (uint32_t i = 0; i < length; i++)
        wire[PVMC_FRAME_HEADER_BYTES + i] = byte_of(seq, i);
    return PVMC_FRAME_HEADER_BYTES + length;
}

START_TEST(cuts_inside_frames_are_told)
{
    const size_t lengths[] = {10, PVMC_FRAME_HEADER_BYTES, PVMC_FRAME_HEADER_BYTES + 500};
    uint8_t wire[2 * (PVMC_FRAME_HEADER_BYTES + 1000)];
    setup();
    offer();
    int fd = by_hand();
    size_t n = frame_on_wire(wire, 0, 1000);
    frame_on_wire(wire + n, 1, 1000);
    ck_assert_int_eq(send(fd, wire, n + lengths[_i], 0), (ssize_t)(n + lengths[_i]));
    close(fd);
    DRIVE_UNTIL(offering.down == 1);
    ck_assert_int_eq(offering.reason, PVMC_EDOWN);
    ck_assert_int_eq(offering.done, 1);
    ck_assert(!offering.wrong);
    ck_assert_int_eq(send_frame(&offering, 0, 10), PVMC_EDOWN);
    drive_for(1000);
    ck_assert_int_eq(offering.down, 1);
    teardown();
}
END_TEST

/* A peer that only stops sending has ended the connection, too; a reset does not count as a clean end. */
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
    ck_assert_int_eq(offering.reason, _i ? PVMC_EDOWN : 0);
    if (!_i)
        close(fd);
    teardown();
}
END_TEST

START_TEST(garbage_from_a_peer_ends_the_link)
{
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    setup();
    offer();
    int fd = by_hand();
    memset(wire, 0xa5, sizeof wire);
    ck_assert_int_eq(send(fd, wire, sizeof wire, 0), sizeof wire);
    DRIVE_UNTIL(offering.down == 1);
    ck_assert_int_eq(offering.reason, PVMC_EFORMAT);
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

/* ---- the data path ---- */

START_TEST(large_frames_arrive)
{
    setup();
    come_together();
    exchange(12, PVMC_FRAME_PAYLOAD_MAX);
    teardown();
}
END_TEST

/* A full socket queues small frames up to a limit, then refuses them; all leave together and tx_ready comes once. */
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
    ck_assert_int_eq(rc, PVMC_EAGAIN);
    ck_assert_uint_eq(ops->pending(joining.ep), PVMW_STREAM_QUEUE_MAX);
    ck_assert_int_eq(send_frame(&joining, seq, 100), PVMC_EAGAIN);
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
    ck_assert_int_eq(send_frame(&offering, 0, 10), PVMC_EAGAIN);
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

/* Links that are read often without sleeping leave epoll, and return before the task sleeps. */
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
    frozen = true; /* data that arrives before arm() wakes, too */
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(send_frame(&joining, offering.next_seq + i, 8), 0);
    ck_assert(ops->arm(offering.transport) || poll(&p, 1, 5000) == 1);
    ck_assert(!offering.wrong);
    teardown();
}
END_TEST

/* A quiet link wakes a sleeper without epoll. What else can happen must be watched by epoll. */
START_TEST(sleepers_poll_the_socket)
{
    struct pvmt_endpoint *waiting;
    uint8_t other[PVMT_OFFER_MAX];
    struct pollfd fds[PVMT_SLEEP_FDS];
    int none;
    setup();
    ck_assert_uint_eq(ops->sleep_on(offering.transport, fds), 0); /* no link */
    come_together();
    const struct tcp_transport *t = (struct tcp_transport *)offering.transport;
    for (uint32_t i = 0; i < 200; i++) {
        ck_assert_uint_eq(ops->sleep_on(offering.transport, fds), 1);
        ck_assert_int_eq(poll(fds, 1, 0), 0);
        ck_assert_int_eq(send_frame(&joining, i, 8), 0);
        ck_assert_int_eq(poll(fds, 1, 5000), 1);
        DRIVE_UNTIL(offering.done == (int)i + 1);
    }
    ck_assert_uint_eq(t->aside, 1); /* and sleeping this way leaves it so */
    ck_assert_int_gt(ops->offer(offering.transport, &offering, other, &none, &waiting), 0);
    ck_assert_uint_eq(ops->sleep_on(offering.transport, fds), 0); /* somebody may connect */
    ops->disconnect(waiting);
    ck_assert_uint_eq(ops->sleep_on(offering.transport, fds), 1);
    frozen = true;
    for (uint32_t i = 200; send_frame(&offering, i, 60000) == 0; i++)
        ck_assert_uint_lt(i, 100000);
    ck_assert_uint_eq(ops->sleep_on(offering.transport, fds), 0); /* the socket may get room */
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
    exchange(12, PVMC_FRAME_PAYLOAD_MAX);
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
    ops = pvmt_transport_find("tcp");
    unit_log_start();
    open_side(&offering);
    setenv("PVM_TCP_TLS", _i ? "0" : "1", 1);
    open_side(&joining);
    offer();
    ck_assert_int_eq(join(), PVMC_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "PVM_TCP_TLS"));
    ck_assert_int_eq(unit_log.level, PVMC_LOG_WARNING);
    struct pvmt_tcp_offer o = read_offer();
    o.mode = o.mode == PVMT_TCP_TLS_ALWAYS ? PVMT_TCP_TLS_OFF
                                           : PVMT_TCP_TLS_ALWAYS; /* a peer that lies about it is refused */
    write_offer(&o);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_int_eq(joining.reason, PVMC_EDENIED);
    ck_assert_int_eq(offering.ready, 0);
    teardown();
}
END_TEST

START_TEST(tls_needs_the_ticket)
{
    setenv("PVM_TCP_TLS", "1", 1);
    setup();
    offer();
    struct pvmt_tcp_offer good = read_offer(), bad = good;
    uint8_t hello[PVMT_TCP_HELLO_BYTES];
    pvmt_tcp_hello_encode(&good.ticket, true, hello); /* the ticket is never sent */
    ck_assert_ptr_null(memmem(hello, sizeof hello, good.ticket.secret, 4));
    bad.ticket.secret[31] ^= 1;
    write_offer(&bad);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_int_eq(joining.reason, PVMC_EDENIED);
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
    ops = pvmt_transport_find("tcp");
    ck_assert_int_eq(ops->available(why, sizeof why), PVMC_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(why, PVMT_TCP_TLS_FILE));
    struct pvmt_transport *t;
    unit_log_start();
    ck_assert_int_eq(ops->open(NULL, &callbacks, NULL, &t), PVMC_EUNSUPPORTED);
    ck_assert_int_eq(unit_log.level, PVMC_LOG_ERROR);
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
                                  large_frames_arrive,
                                  frames_wait_behind_a_full_socket,
                                  frames_wait_for_the_connection,
                                  busy_links_wake_sleepers_all_the_same,
                                  sleepers_poll_the_socket,
                                  tls_on_both_sides,
                                  tls_frames_wait_behind_a_full_socket,
                                  tls_sleepers_are_woken,
                                  tls_needs_the_ticket,
                                  tls_without_its_module};
    for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(all, tests[i]);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
