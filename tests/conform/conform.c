/*
 * conform.c - what transport.h promises, tried on one transport: `conform NAME`.
 *
 * Two open transports in this process, "server" (listens) and "client", are driven in turn. Each side records what its
 * callbacks see; the tests state what must have been seen.
 */
#include <check.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../src/core/clock.h"
#include "../../src/core/error.h"
#include "../../src/transports/transport.h"

#define LIMIT_US 10000000 /* for anything to happen */

static const struct pvmi_transport_ops *ops; /* the transport under test */

struct side {
    struct pvmi_transport *transport;
    struct pvmi_endpoint *ep; /* the one accepted or connected last */
    int accepted, done, ready, down, down_reason;
    bool refuse_accept, refuse_frames, disconnect_in_done, answer_in_done, stop;
    uint8_t *place;
    size_t place_size;
    uint32_t next_seq; /* rx: the number the next frame must have */
    uint64_t bytes;
    bool bad; /* a frame had wrong contents or order */
};

static struct side server, client;
static char folder[64];

/* ---- frames whose contents tell whether they are right ---- */

static uint8_t pattern(uint32_t seq, uint32_t i)
{
    return (uint8_t)(seq * 31 + i * 7 + (i >> 8));
}

static struct pvmi_frame *make_frame(uint32_t seq, uint32_t length, unsigned pieces)
{
    struct pvmi_frame_header h = {
        .dst = 0x40001, .src = 0x40002, .seq = seq, .tag = 5, .length = length, .body_length = length};
    struct pvmi_frame *f = pvmi_frame_alloc(&h);
    ck_assert_ptr_nonnull(f);
    uint8_t *data = length ? f->pieces[0].iov_base : NULL;
    for (uint32_t i = 0; i < length; i++)
        data[i] = pattern(seq, i);
    if (pieces > 1 && length >= pieces) { /* the same bytes in several pieces of uneven length */
        uint32_t at = 0;
        for (unsigned k = 0; k < pieces; k++) {
            uint32_t n = k + 1 < pieces ? 1 + (length - at) / (pieces * 2) : length - at;
            f->pieces[k] = (struct iovec){data + at, n};
            at += n;
        }
        f->piece_count = pieces;
    }
    return f;
}

/* ---- callbacks ---- */

static int on_accepted(void *arg, struct pvmi_endpoint *ep, const struct pvmi_credentials *who)
{
    struct side *s = arg;
    s->accepted++;
    ck_assert(who->uid == getuid() || (int)who->uid == -1);
    if (s->refuse_accept)
        return 1;
    ep->owner = s;
    s->ep = ep;
    return 0;
}

static uint8_t *on_place(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h)
{
    struct side *s = arg;
    ck_assert_ptr_eq(ep->owner, s);
    if (s->refuse_frames)
        return NULL;
    if (h->length + 1 > s->place_size) {
        s->place_size = h->length + 1;
        s->place = realloc(s->place, s->place_size);
    }
    return s->place;
}

static void on_done(void *arg, struct pvmi_endpoint *ep, const struct pvmi_frame_header *h)
{
    struct side *s = arg;
    s->done++;
    s->bytes += h->length;
    s->bad |= h->seq != s->next_seq++ || h->src != 0x40002 || h->tag != 5;
    for (uint32_t i = 0; i < h->length; i++)
        s->bad |= s->place[i] != pattern(h->seq, i);
    if (s->answer_in_done) {
        struct pvmi_frame *f = make_frame(h->seq, 16, 1);
        ck_assert_int_eq(ops->send(ep, f), 0);
        pvmi_frame_unref(f);
    }
    if (s->disconnect_in_done) {
        ops->disconnect(ep);
        s->ep = NULL;
    }
}

static void on_ready(void *arg, struct pvmi_endpoint *ep)
{
    struct side *s = arg;
    ck_assert_ptr_eq(ep, s->ep);
    s->ready++;
}

static void on_down(void *arg, struct pvmi_endpoint *ep, int reason)
{
    struct side *s = arg;
    ck_assert_ptr_eq(ep, s->ep);
    s->down++;
    s->down_reason = reason;
}

static const struct pvmi_callbacks callbacks = {
    .accepted = on_accepted, .rx_place = on_place, .rx_done = on_done, .tx_ready = on_ready, .down = on_down};

/* ---- driving ---- */

static void progress_both(void)
{
    ck_assert_int_ge(ops->progress(client.transport), 0);
    if (!server.stop)
        ck_assert_int_ge(ops->progress(server.transport), 0);
}

#define DRIVE_UNTIL(condition)                                                                                         \
    do {                                                                                                               \
        int64_t end_us_ = pvmi_clock_us() + LIMIT_US;                                                                  \
        bool happened_; /* the condition may have effects: it is evaluated until it holds, and not again */            \
        while (!(happened_ = (condition)) && pvmi_clock_us() < end_us_)                                                \
            progress_both();                                                                                           \
        ck_assert_msg(happened_, "did not happen: %s", #condition);                                                    \
    } while (0)

static void offer_and_join(void)
{
    uint8_t blob[PVMI_OFFER_MAX], reply[PVMI_OFFER_MAX];
    int fd, length = ops->offer(server.transport, &server, blob, &fd, &server.ep);
    ck_assert_int_ge(length, 0);
    int answer = ops->join(client.transport, blob, length, fd, &client, reply, &client.ep);
    ck_assert_int_ge(answer, 0);
    if (answer && ops->joined)
        ck_assert_int_eq(ops->joined(server.ep, reply, answer), 0);
    DRIVE_UNTIL(server.ready == 1);
    server.ready = 0;
}

static void connect_both(void)
{
    if (ops->offer) {
        offer_and_join();
        return;
    }
    uint8_t blob[PATH_MAX];
    int length = ops->address(server.transport, blob, sizeof blob);
    ck_assert_int_gt(length, 0);
    ck_assert_int_gt(ops->reach(client.transport, blob, length), 0);
    ck_assert_int_eq(ops->connect(client.transport, blob, length, &client, &client.ep), 0);
    DRIVE_UNTIL(server.accepted == 1);
}

static int send_frame(struct side *s, uint32_t seq, uint32_t length, unsigned pieces)
{
    struct pvmi_frame *f = make_frame(seq, length, pieces);
    int rc = ops->send(s->ep, f);
    pvmi_frame_unref(f);
    return rc;
}

static uint32_t frame_max(void)
{
    struct pvmi_attributes a;
    ops->query(client.transport, &a);
    return a.frame_max;
}

static void setup(void)
{
    char address[128];
    memset(&server, 0, sizeof server);
    memset(&client, 0, sizeof client);
    strcpy(folder, "/tmp/conform.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(address, sizeof address, "%s/address", folder);
    ck_assert_int_eq(ops->open(ops->offer ? NULL : address, &callbacks, &server, &server.transport), 0);
    ck_assert_int_eq(ops->open(NULL, &callbacks, &client, &client.transport), 0);
}

static void teardown(void)
{
    ops->close(client.transport);
    ops->close(server.transport);
    free(server.place);
    free(client.place);
    ck_assert_msg(!rmdir(folder), "close() left something in %s", folder);
}

/* ---- the promises ---- */

START_TEST(attributes_are_sensible)
{
    struct pvmi_attributes a;
    ops->query(client.transport, &a);
    ck_assert_uint_ge(a.frame_max, 1024);
    ck_assert_uint_le(a.frame_max, PVMI_FRAME_PAYLOAD_MAX);
    ck_assert_uint_gt(a.bandwidth_mbs, 0);
    char why[256] = "?";
    ck_assert_int_eq(ops->available(why, sizeof why), 0);
}
END_TEST

START_TEST(frames_of_all_sizes_arrive_in_order)
{
    uint32_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, 4095, 4096, 4097, 16384, 16385, 40000, frame_max() - 1, frame_max()};
    unsigned n = sizeof sizes / sizeof *sizes;
    connect_both();
    for (uint32_t seq = 0; seq < 8 * n; seq++) {
        uint32_t length = sizes[(seq * 7) % n];
        DRIVE_UNTIL(send_frame(&client, seq, length, 1 + seq % PVMI_FRAME_PIECES_MAX) == 0);
    }
    DRIVE_UNTIL(server.done == (int)(8 * n));
    ck_assert(!server.bad);
    ck_assert_int_eq(server.down, 0);
}
END_TEST

START_TEST(both_directions_at_once)
{
    connect_both();
    uint32_t to_server = 0, to_client = 0;
    while (to_server < 500 || to_client < 500) {
        if (to_server < 500 && send_frame(&client, to_server, (to_server * 997) % 30000, 2) == 0)
            to_server++;
        if (to_client < 500 && send_frame(&server, to_client, (to_client * 1009) % 30000, 3) == 0)
            to_client++;
        progress_both();
    }
    DRIVE_UNTIL(server.done == 500 && client.done == 500);
    ck_assert(!server.bad && !client.bad);
}
END_TEST

START_TEST(refusal_is_followed_by_tx_ready)
{
    connect_both();
    server.stop = true; /* nobody reads */
    uint32_t seq = 0;
    int rc;
    while ((rc = send_frame(&client, seq, 8192, 1)) == 0)
        ck_assert_uint_lt(++seq, 100000); /* it must refuse at some time: nothing grows without bound */
    ck_assert_int_eq(rc, PVMI_EAGAIN);
    ck_assert_int_eq(client.ready, 0);
    server.stop = false;
    DRIVE_UNTIL(client.ready == 1);
    DRIVE_UNTIL(send_frame(&client, seq, 8192, 1) == 0);
    DRIVE_UNTIL(server.done == (int)seq + 1 && ops->pending(client.ep) == 0);
    ck_assert(!server.bad);
}
END_TEST

START_TEST(taken_frames_may_be_released_by_the_sender)
{
    connect_both();
    server.stop = true;
    uint32_t seq = 0;
    while (send_frame(&client, seq, 60000 % frame_max(), 4) == 0) /* send_frame drops its reference at once */
        seq++;
    server.stop = false;
    DRIVE_UNTIL(server.done == (int)seq);
    ck_assert(!server.bad);
}
END_TEST

START_TEST(pending_ends_when_memory_is_free_again)
{
    connect_both();
    server.stop = true;
    struct pvmi_frame *f = make_frame(0, 20000, 3);
    uint32_t taken = 0;
    for (;; taken++) {
        f->h.seq = taken;
        for (uint32_t i = 0; i < 20000; i++)
            ((uint8_t *)f->mem->data)[i] = pattern(taken, i);
        if (ops->send(client.ep, f))
            break;
        if (f->refs > 1) { /* the transport still reads it: it must say so */
            ck_assert_uint_gt(ops->pending(client.ep), 0);
            taken++;
            break;
        }
    }
    server.stop = false;
    DRIVE_UNTIL(ops->pending(client.ep) == 0);
    ck_assert_uint_eq(f->refs, 1);
    DRIVE_UNTIL(server.done == (int)taken);
    ck_assert(!server.bad);
    pvmi_frame_unref(f);
}
END_TEST

START_TEST(refused_frames_are_skipped)
{
    connect_both();
    server.refuse_frames = true;
    for (uint32_t seq = 0; seq < 20; seq++)
        DRIVE_UNTIL(send_frame(&client, seq, seq * 3000, 1) == 0);
    for (int i = 0; i < 2000; i++)
        progress_both();
    ck_assert_int_eq(server.done, 0);
    server.refuse_frames = false;
    server.next_seq = 20;
    DRIVE_UNTIL(send_frame(&client, 20, 5000, 1) == 0);
    DRIVE_UNTIL(server.done == 1);
    ck_assert(!server.bad);
}
END_TEST

START_TEST(down_comes_once_after_all_frames)
{
    connect_both();
    for (uint32_t seq = 0; seq < 5; seq++)
        DRIVE_UNTIL(send_frame(&client, seq, 3000, 1) == 0);
    DRIVE_UNTIL(ops->pending(client.ep) == 0);
    ops->disconnect(client.ep);
    client.ep = NULL;
    DRIVE_UNTIL(server.down == 1);
    ck_assert_int_eq(server.done, 5);
    ck_assert_int_eq(server.down_reason, 0);
    for (int i = 0; i < 100; i++)
        progress_both();
    ck_assert_int_eq(server.down, 1);
    ck_assert_int_eq(send_frame(&server, 0, 10, 1), PVMI_EDOWN);
    ops->disconnect(server.ep);
    ck_assert_int_eq(client.down, 0); /* its owner disconnected it */
}
END_TEST

START_TEST(disconnect_inside_a_callback)
{
    connect_both();
    server.disconnect_in_done = true;
    for (uint32_t seq = 0; seq < 3; seq++)
        DRIVE_UNTIL(send_frame(&client, seq, 100, 1) == 0);
    DRIVE_UNTIL(client.down == 1);
    ck_assert_int_eq(server.done, 1);
    ck_assert_int_eq(server.down, 0);
    ops->disconnect(client.ep);
}
END_TEST

START_TEST(send_inside_a_callback)
{
    connect_both();
    server.answer_in_done = true;
    for (uint32_t seq = 0; seq < 5; seq++)
        DRIVE_UNTIL(send_frame(&client, seq, 100, 1) == 0);
    DRIVE_UNTIL(client.done == 5);
    ck_assert(!client.bad);
}
END_TEST

START_TEST(refused_connection_goes_down)
{
    server.refuse_accept = true;
    connect_both();
    DRIVE_UNTIL(client.down == 1);
    ops->disconnect(client.ep);
}
END_TEST

START_TEST(nobody_there_is_an_error)
{
    uint8_t blob[PATH_MAX];
    int length = ops->address(server.transport, blob, sizeof blob);
    ck_assert_int_gt(length, 0);
    blob[length - 1] ^= 1;
    struct pvmi_endpoint *ep = NULL;
    ck_assert_int_eq(ops->reach(client.transport, blob, length), 0);
    ck_assert_int_lt(ops->connect(client.transport, blob, length, &client, &ep), 0);
    ck_assert_int_lt(ops->connect(client.transport, blob, 0, &client, &ep), 0);
    ck_assert_ptr_null(ep);
}
END_TEST

static bool polls_readable(struct side *s, int timeout_ms)
{
    struct pollfd p = {.fd = ops->fd(s->transport), .events = POLLIN};
    return poll(&p, 1, timeout_ms) == 1;
}

START_TEST(descriptor_wakes_the_sleeper)
{
    connect_both();
    for (int i = 0; i < 10; i++)
        progress_both();
    ck_assert_int_eq(ops->arm(server.transport), 0);
    ck_assert_msg(!polls_readable(&server, 20), "readable although nothing came: a sleeper would spin");
    ck_assert_int_eq(send_frame(&client, 0, 100, 1), 0);
    ck_assert(ops->arm(server.transport) == 1 || polls_readable(&server, 5000));
    DRIVE_UNTIL(server.done == 1);
    for (int i = 0; i < 10; i++)
        progress_both();
    ck_assert_int_eq(ops->arm(server.transport), 0);
    ck_assert(!polls_readable(&server, 20));
}
END_TEST

START_TEST(descriptor_wakes_a_refused_sender)
{
    connect_both();
    server.stop = true;
    uint32_t seq = 0;
    while (send_frame(&client, seq, 8192, 1) == 0)
        seq++;
    while (ops->progress(client.transport) > 0)
        ;
    server.stop = false;
    int64_t end_us = pvmi_clock_us() + LIMIT_US;
    while (!client.ready && pvmi_clock_us() < end_us) {
        ops->progress(server.transport);
        if (ops->arm(client.transport) == 1 || polls_readable(&client, 10))
            ops->progress(client.transport);
    }
    ck_assert_int_eq(client.ready, 1);
    ck_assert_int_eq(ops->arm(client.transport), 0);
    DRIVE_UNTIL(server.done == (int)seq);
}
END_TEST

START_TEST(many_connections)
{
    enum { COUNT = 100 };
    struct pvmi_endpoint *eps[COUNT];
    uint8_t blob[PATH_MAX];
    int length = ops->address(server.transport, blob, sizeof blob);
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(ops->connect(client.transport, blob, length, &client, &eps[i]), 0);
    DRIVE_UNTIL(server.accepted == COUNT);
    for (int i = 0; i < COUNT; i++) {
        client.ep = eps[i];
        server.next_seq = 7;
        ck_assert_int_eq(send_frame(&client, 7, 50, 1), 0);
        DRIVE_UNTIL(server.done == i + 1);
    }
    ck_assert(!server.bad);
    for (int i = 0; i < COUNT; i += 2)
        ops->disconnect(eps[i]);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create(ops->name);
    TCase *tc = tcase_create("transport.h");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, attributes_are_sensible);
    tcase_add_test(tc, frames_of_all_sizes_arrive_in_order);
    tcase_add_test(tc, both_directions_at_once);
    tcase_add_test(tc, refusal_is_followed_by_tx_ready);
    tcase_add_test(tc, taken_frames_may_be_released_by_the_sender);
    tcase_add_test(tc, pending_ends_when_memory_is_free_again);
    tcase_add_test(tc, refused_frames_are_skipped);
    tcase_add_test(tc, down_comes_once_after_all_frames);
    tcase_add_test(tc, disconnect_inside_a_callback);
    tcase_add_test(tc, send_inside_a_callback);
    if (ops->connect)
        tcase_add_test(tc, refused_connection_goes_down);
    if (ops->connect)
        tcase_add_test(tc, nobody_there_is_an_error);
    tcase_add_test(tc, descriptor_wakes_the_sleeper);
    tcase_add_test(tc, descriptor_wakes_a_refused_sender);
    if (ops->connect)
        tcase_add_test(tc, many_connections);
    suite_add_tcase(s, tc);
    return s;
}

/* Whether every built transport of the table is among the names. */
static int covers(char **names, int count)
{
    int missing = 0;
    for (const struct pvmi_transport_row *row = pvmi_transport_table; row->name; row++) {
        bool found = !row->ops;
        for (int i = 0; i < count; i++)
            found |= !strcmp(names[i], row->name);
        if (!found)
            missing++, printf("transport %s is not in tests/conform/CMakeLists.txt\n", row->name);
    }
    return missing ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "--covers"))
        return covers(argv + 2, argc - 2);
    ops = argc == 2 ? pvmi_transport_find(argv[1]) : NULL;
    if (!ops) {
        fprintf(stderr, "usage: conform TRANSPORT\n");
        return 2;
    }
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
