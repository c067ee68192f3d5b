/* rules.c - the promises of transport.h for one connection, tested between two sides of this process. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "side.h"
#include "suites.h"

START_TEST(attributes_are_sensible)
{
    struct pvmt_attributes a = side_attributes(&client), before;
    ck_assert_uint_ge(a.frame_max, 1024);
    if (!a.by_reference)
        ck_assert_uint_le(a.frame_max, PVMC_FRAME_PAYLOAD_MAX);
    ck_assert_uint_gt(a.bandwidth_mbs, 0);
    ops->query(NULL, &before); /* the values that order routes, before anything is open */
    ck_assert_uint_gt(before.bandwidth_mbs, 0);
    ck_assert_int_eq(before.local_only, a.local_only);
    char why[256] = "?";
    ck_assert_int_eq(ops->available(why, sizeof why), 0);
}
END_TEST

START_TEST(frames_of_all_sizes_arrive_in_order)
{
    uint32_t most = frame_max(&client) < 4u << 20 ? frame_max(&client) : 4u << 20;
    uint32_t sizes[] = {0,    1,    2,     63,    64,    65,    127,   128,   1000,     4095,
                        4096, 4097, 16384, 16385, 40000, 65535, 65536, 65537, most - 1, most};
    unsigned n = sizeof sizes / sizeof *sizes, count = PVMC_FRAME_PIECES_MAX * n;
    meet();
    for (uint32_t seq = 0; seq < count; seq++) {
        uint32_t length = sizes[seq * 7 % n] < most ? sizes[seq * 7 % n] : most;
        enum payload payload = (enum payload)(seq / n % 2);
        DRIVE_UNTIL(side_send(&client, seq, length, 1 + seq % PVMC_FRAME_PIECES_MAX, payload) == 0);
    }
    DRIVE_UNTIL(server.done == (int)count);
    ASSERT_RIGHT(server);
    ck_assert_int_eq(server.down, 0);
}
END_TEST

START_TEST(both_directions_at_once)
{
    enum { COUNT = 500 };
    meet();
    uint32_t to_server = 0, to_client = 0;
    int64_t end_us = pvmc_clock_us() + LIMIT_US;
    while (to_server < COUNT || to_client < COUNT) {
        to_server += to_server < COUNT && side_send_mixed(&client, to_server) == 0;
        to_client += to_client < COUNT && side_send_mixed(&server, to_client) == 0;
        ck_assert_msg(drive(end_us), "stuck after %u and %u frames", to_server, to_client);
    }
    DRIVE_UNTIL(server.done == COUNT && client.done == COUNT);
    DRIVE_UNTIL(side_inplace(&server) + side_inplace(&client) == 0);
    ASSERT_RIGHT(server);
    ASSERT_RIGHT(client);
}
END_TEST

/* None of them is taken for a whole message, and the empty ones are not lost. */
START_TEST(frames_of_streams_arrive_as_they_were)
{
    static const uint32_t lengths[] = {1, 64, 8192, 50000};
    enum { SIZES = sizeof lengths / sizeof *lengths };
    uint32_t seq = 0;
    meet();
    for (int i = 0; i < 4 * SIZES; i++) {
        uint32_t length = lengths[i % SIZES] < frame_max(&client) ? lengths[i % SIZES] : frame_max(&client);
        enum payload end = i & 1 ? PAYLOAD_ABORT : PAYLOAD_LAST;
        DRIVE_UNTIL(side_send(&client, seq, length, 1, PAYLOAD_FIRST) == 0);
        DRIVE_UNTIL(side_send(&client, seq + 1, 16, 1, PAYLOAD_OWN) == 0);
        DRIVE_UNTIL(side_send(&client, seq + 2, length, 1 + (unsigned)i % 3, PAYLOAD_NEXT) == 0);
        DRIVE_UNTIL(side_send(&client, seq + 3, i & 3 ? 0 : length, 1, end) == 0);
        seq += 4;
    }
    DRIVE_UNTIL(server.done == (int)seq);
    ck_assert_int_le(server.whole, 4 * SIZES);
    ASSERT_RIGHT(server);
}
END_TEST

/* The number of frames that a side accepts while the peer does not read; it must be limited. */
static uint32_t send_until_refused(struct side *s, uint32_t length)
{
    uint32_t seq = 0;
    int rc;
    for (int refusals = 0; refusals < 3; refusals += rc != 0) { /* several times, because faults also refuse frames */
        while ((rc = side_send(s, seq, length, 1 + seq % 5, PAYLOAD_OWN)) == 0)
            ck_assert_uint_lt(++seq, 200000);
        ck_assert_int_eq(rc, PVMC_EAGAIN);
    }
    return seq;
}

START_TEST(refusal_is_followed_by_one_tx_ready)
{
    static const uint32_t lengths[] = {0, 8, 8192, 60000};
    meet();
    server.stop = true; /* nobody reads */
    uint32_t seq = send_until_refused(&client, lengths[_i]);
    ck_assert_int_eq(client.ready, 0);
    server.stop = false;
    DRIVE_UNTIL(client.ready == 1);
    DRIVE_UNTIL(server.done == (int)seq);
    drive_idly();
    ck_assert_int_eq(client.ready, 1); /* not again without another refusal */
    DRIVE_UNTIL(side_send(&client, seq, 8192, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == (int)seq + 1 && ops->pending(client.ep) == 0);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(tx_ready_wakes_a_sleeper)
{
    meet();
    server.stop = true;
    uint32_t seq = send_until_refused(&client, 8192);
    while (ops->progress(client.transport) > 0)
        ;
    server.stop = false;
    int64_t end_us = pvmc_clock_us() + LIMIT_US;
    while (!client.ready && pvmc_clock_us() < end_us) {
        ops->progress(server.transport);
        if (ops->arm(client.transport) == 1 || side_readable(&client, 10))
            ops->progress(client.transport);
    }
    ck_assert_int_eq(client.ready, 1);
    DRIVE_UNTIL(server.done == (int)seq);
    ASSERT_RIGHT(server);
}
END_TEST

/* Frames that were refused by a receiver that does not read keep their order when they are sent again. */
START_TEST(slow_receivers_lose_nothing)
{
    meet();
    for (uint32_t seq = 0; seq < 300;) {
        server.stop = seq % 50 < 25;
        int ready = client.ready;
        if (side_send_mixed(&client, seq) == 0) {
            seq++;
            continue;
        }
        server.stop = false;
        DRIVE_UNTIL(client.ready > ready);
    }
    server.stop = false;
    DRIVE_UNTIL(server.done == 300);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(pending_ends_when_memory_is_free_again)
{
    meet();
    server.stop = true;
    uint32_t seq = 0;
    for (; seq < 40 && side_send(&client, seq, 50000, 3, PAYLOAD_INPLACE) == 0; seq++)
        ;
    ck_assert_uint_gt(seq, 0);
    if (side_inplace(&client)) /* the transport still reads from them, so it must report them */
        ck_assert_uint_gt(ops->pending(client.ep), 0);
    server.stop = false;
    DRIVE_UNTIL(ops->pending(client.ep) == 0);
    ck_assert_uint_eq(side_inplace(&client), 0);
    DRIVE_UNTIL(server.done == (int)seq);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(refused_frames_are_skipped)
{
    meet();
    server.refuse_frames = true;
    for (uint32_t seq = 0; seq < 60; seq++)
        DRIVE_UNTIL(side_send_mixed(&client, seq) == 0);
    DRIVE_UNTIL(server.refused == 60);
    ck_assert_int_eq(server.done, 0);
    server.refuse_frames = false;
    server.next_seq = 60;
    DRIVE_UNTIL(side_send(&client, 60, 5000, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == 1);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(down_comes_once_after_all_frames)
{
    meet();
    for (uint32_t seq = 0; seq < 5; seq++)
        DRIVE_UNTIL(side_send(&client, seq, 3000, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(ops->pending(client.ep) == 0);
    side_disconnect(&client);
    side_await_down(&server);
    ck_assert_int_eq(server.done, 5);
    ck_assert(wire_loses || server.down_reason == 0);
    drive_idly();
    ck_assert_int_eq(server.down, 1);
    ck_assert_int_eq(side_send(&server, 0, 10, 1, PAYLOAD_OWN), PVMC_EDOWN);
    ck_assert_int_eq(client.down, 0); /* its owner disconnected it */
}
END_TEST

/* Frames accepted by send() from a side that then disconnects. */
START_TEST(taken_frames_arrive_if_lossless)
{
    meet();
    server.stop = true;
    uint32_t seq = 0;
    while (seq < 1000 && side_send_kept(&client, seq) == 0)
        seq++;
    ck_assert_uint_gt(seq, 0);
    side_disconnect(&client);
    server.stop = false;
    side_await_down(&server);
    ASSERT_RIGHT(server);
    if (side_attributes(&server).lossless)
        ck_assert_int_eq(server.done, (int)seq);
}
END_TEST

START_TEST(taken_frames_arrive_from_a_closed_transport)
{
    meet();
    server.stop = true;
    uint32_t seq = 0;
    while (seq < 1000 && side_send_kept(&client, seq) == 0)
        seq++;
    bool lossless = side_attributes(&server).lossless;
    side_close(&client);
    server.stop = false;
    side_await_down(&server);
    ASSERT_RIGHT(server);
    if (lossless)
        ck_assert_int_eq(server.done, (int)seq);
}
END_TEST

START_TEST(disconnect_inside_rx_done)
{
    meet();
    server.disconnect_in_done = true;
    for (uint32_t seq = 0; seq < 3; seq++)
        DRIVE_UNTIL(side_send(&client, seq, 100 + 30000 * (uint32_t)_i, 1, PAYLOAD_OWN) == 0 || client.down);
    side_await_down(&client);
    ck_assert_int_eq(server.done, 1);
    ck_assert_int_eq(server.down, 0);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(disconnect_inside_rx_place)
{
    meet();
    server.disconnect_in_place = true;
    for (uint32_t seq = 0; seq < 3; seq++)
        DRIVE_UNTIL(side_send(&client, seq, 40000, 2, PAYLOAD_PART) == 0 || client.down);
    side_await_down(&client);
    ck_assert_int_eq(server.done, 0);
    ck_assert_int_eq(server.down, 0);
}
END_TEST

START_TEST(disconnect_inside_tx_ready)
{
    meet();
    server.stop = true;
    client.disconnect_in_ready = true;
    send_until_refused(&client, 8192);
    server.stop = false;
    side_await_down(&server);
    ck_assert_int_eq(client.ready, 1);
    ck_assert_int_eq(client.down, 0);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(send_inside_a_callback)
{
    meet();
    server.answer_in_done = true;
    for (uint32_t seq = 0; seq < 5; seq++) {
        DRIVE_UNTIL(side_send(&client, seq, 100, 1, PAYLOAD_OWN) == 0);
        DRIVE_UNTIL(client.done == (int)seq + 1);
    }
    ASSERT_RIGHT(server);
    ASSERT_RIGHT(client);
}
END_TEST

/* While the sender makes progress: it retransmits frames that the wire has lost. */
static bool server_is_woken(void)
{
    int64_t end_us = pvmc_clock_us() + LIMIT_US;
    bool woken;
    while (!(woken = side_readable(&server, 10)) && pvmc_clock_us() < end_us)
        ops->progress(client.transport);
    return woken;
}

START_TEST(descriptor_wakes_the_sleeper)
{
    meet();
    drive_idly();
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 10; i++)
            ops->progress(server.transport), ops->progress(client.transport);
        ck_assert_msg(round > 1 || side_comes_to_rest(&server), "readable although nothing came: a sleeper would spin");
        DRIVE_UNTIL(side_send(&client, (uint32_t)round, (uint32_t)round * 900, 1, PAYLOAD_OWN) == 0);
        int64_t end_us = pvmc_clock_us() + LIMIT_US;
        while (server.done <= round && pvmc_clock_us() < end_us) {
            if (ops->arm(server.transport) == 0)
                ck_assert_msg(server_is_woken(), "frame %d woke nobody", round);
            ops->progress(server.transport);
            ops->progress(client.transport);
        }
        ck_assert_int_eq(server.done, round + 1);
    }
    DRIVE_UNTIL(ops->pending(client.ep) == 0);
    ck_assert(side_comes_to_rest(&server) && side_comes_to_rest(&client));
    ASSERT_RIGHT(server);
}
END_TEST

TCase *rules_case(void)
{
    TCase *tc = tcase_create("rules");
    tcase_add_test(tc, attributes_are_sensible);
    tcase_add_test(tc, frames_of_all_sizes_arrive_in_order);
    tcase_add_test(tc, frames_of_streams_arrive_as_they_were);
    tcase_add_test(tc, both_directions_at_once);
    tcase_add_loop_test(tc, refusal_is_followed_by_one_tx_ready, 0, 4);
    tcase_add_test(tc, tx_ready_wakes_a_sleeper);
    tcase_add_test(tc, slow_receivers_lose_nothing);
    tcase_add_test(tc, pending_ends_when_memory_is_free_again);
    tcase_add_test(tc, refused_frames_are_skipped);
    tcase_add_test(tc, down_comes_once_after_all_frames);
    tcase_add_test(tc, taken_frames_arrive_if_lossless);
    tcase_add_test(tc, taken_frames_arrive_from_a_closed_transport);
    tcase_add_loop_test(tc, disconnect_inside_rx_done, 0, 2);
    tcase_add_test(tc, disconnect_inside_rx_place);
    tcase_add_test(tc, disconnect_inside_tx_ready);
    tcase_add_test(tc, send_inside_a_callback);
    tcase_add_test(tc, descriptor_wakes_the_sleeper);
    return tc;
}
