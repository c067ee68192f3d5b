/* memory.c - what a transport may do with the memory of frames, and what it must return. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "side.h"
#include "suites.h"

/* Lossy wires are slow. */
static uint32_t whole_length(void)
{
    uint32_t large = wire_loses ? 1u << 17 : 1u << 20;
    return frame_max(&client) < large ? frame_max(&client) : large;
}

/* All kinds of payloads: in an arena, in small memory, in the middle of a region, in place. */
START_TEST(payloads_arrive_from_everywhere)
{
    static const uint32_t lengths[] = {1, 200, 4096, 5000, 65535, 65536, 100000, 1u << 20};
    uint32_t seq = 0;
    meet();
    for (unsigned round = 0; round < 4; round++)
        for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (enum payload payload = PAYLOAD_OWN; payload <= PAYLOAD_INPLACE; payload++) {
                uint32_t length = lengths[i] < frame_max(&client) ? lengths[i] : frame_max(&client);
                DRIVE_UNTIL(side_send(&client, seq, length, 1 + round * 5, payload) == 0);
                seq++;
            }
    DRIVE_UNTIL(server.done == (int)seq);
    DRIVE_UNTIL(side_inplace(&client) == 0);
    ASSERT_RIGHT(server);
    if (!use_whole)
        ck_assert_int_eq(server.whole, 0);
}
END_TEST

/* A transport with by_reference does not copy data that lies in an arena. */
START_TEST(large_messages_come_by_reference)
{
    struct pvmt_attributes a = side_attributes(&client);
    uint32_t length = whole_length();
    struct pvmc_mem *probe = pvmc_mem_new(length);
    struct pvmc_mem_place place;
    bool in_arena = pvmc_mem_locate(probe, &place);
    pvmc_mem_unref(probe);
    meet();
    for (uint32_t seq = 0; seq < 50; seq++)
        DRIVE_UNTIL(side_send(&client, seq, length, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == 50);
    ASSERT_RIGHT(server);
    if (a.by_reference) {
        ck_assert_msg(in_arena, "no arenas on this machine");
        ck_assert_uint_gt(length, a.copy_max);
        ck_assert_int_eq(server.whole, use_whole ? 50 : 0);
        ck_assert_int_eq(server.references, use_whole ? 50 : 0);
    }
}
END_TEST

/* A receiver may keep references and always reads the same bytes; the sender continues meanwhile. */
START_TEST(held_references_stay_as_they_are)
{
    meet();
    server.hold = client.hold = HELD_MAX;
    uint32_t to_server = 0, to_client = 0;
    int64_t end_us = pvmc_clock_us() + LIMIT_US;
    while (to_server < 300 || to_client < 300) {
        to_server += to_server < 300 && side_send_mixed(&client, to_server) == 0;
        to_client += to_client < 300 && side_send_mixed(&server, to_client) == 0;
        ck_assert_msg(drive(end_us), "stuck after %u and %u frames", to_server, to_client);
    }
    DRIVE_UNTIL(server.done == 300 && client.done == 300);
    side_release(&server, 3);
    ASSERT_RIGHT(server);
    ASSERT_RIGHT(client);
} /* closing the transports returns the last references; both_close() checks that */
END_TEST

START_TEST(references_outlive_the_sender)
{
    meet();
    server.hold = HELD_MAX;
    for (uint32_t seq = 0; seq < 10; seq++)
        DRIVE_UNTIL(side_send(&client, seq, whole_length(), 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == 10);
    side_close(&client);
    side_await_down(&server);
    side_disconnect(&server);
    drive_idly();
    side_release(&server, 0);
    ASSERT_RIGHT(server);
}
END_TEST

START_TEST(refused_references_come_back)
{
    size_t before, after, cached;
    meet();
    server.refuse_frames = true;
    pvmc_mem_usage(&before, &cached);
    for (uint32_t seq = 0; seq < 20; seq++)
        DRIVE_UNTIL(side_send(&client, seq, whole_length(), 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL((pvmc_mem_usage(&after, &cached), after <= before));
    ck_assert_int_eq(server.done, 0);
}
END_TEST

/* Memory that a dead sender had lent returns to its owner or, when both ends are gone, to the system. */
START_TEST(memory_comes_back_from_a_dead_link)
{
    size_t before, after, cached;
    pvmc_mem_usage(&before, &cached);
    meet();
    server.stop = true;
    uint32_t seq = 0;
    while (seq < 300 && side_send(&client, seq, whole_length(), 1, seq % 3) == 0)
        seq++;
    side_disconnect(&client);
    ck_assert_uint_eq(side_inplace(&client), 0);
    server.stop = false;
    side_await_down(&server);
    side_disconnect(&server);
    DRIVE_UNTIL((pvmc_mem_usage(&after, &cached), after <= before));
    ASSERT_RIGHT(server);
}
END_TEST

static rlim_t limit_descriptors(rlim_t count)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = count;
    setrlimit(RLIMIT_NOFILE, &limit);
    return before;
}

/* The lowest free descriptor: with this as the limit, all lower ones are in use. */
static int lowest_free(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

/* With few descriptors left, links come up or fail with an error code; those that came up work and lose nothing. */
START_TEST(descriptors_run_out)
{
    if (!ops->offer || getenv("DPVM_VALGRIND")) /* Valgrind has descriptors of its own and emulates the limit */
        return;
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    rlim_t before = limit_descriptors((rlim_t)(lowest_free() + _i));
    int fd, length = ops->offer(server.transport, &server, blob, &fd, &server.ep);
    if (length < 0) {
        ck_assert_int_eq(length, PVMC_ELIMIT);
        server.ep = NULL;
    } else {
        int rc = ops->join(client.transport, blob, (size_t)length, fd, &client, reply, &client.ep);
        if (rc < 0)
            client.ep = NULL;
        else if (rc && ops->joined)
            ops->joined(server.ep, reply, (size_t)rc);
        if (client.ep)
            DRIVE_UNTIL(server.ready || client.down || server.down);
    }
    bool up = server.ready && !server.down && !client.down;
    if (up) {
        for (uint32_t seq = 0; seq < 30 && !client.down; seq++)
            DRIVE_UNTIL(client.down || side_send_mixed(&client, seq) == 0);
        DRIVE_UNTIL(client.down || server.done == 30);
        ASSERT_RIGHT(server);
    }
    limit_descriptors(before);
    if (_i >= 16) /* no transport needs more for one link */
        ck_assert(up && !client.down);
    side_disconnect(&server);
    side_disconnect(&client);
    server.ready = client.ready = server.down = client.down = server.done = 0;
    server.next_seq = 0;
    meet(); /* with enough descriptors again */
    DRIVE_UNTIL(side_send(&client, 0, 70000 % frame_max(&client), 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(server.done == 1);
    ASSERT_RIGHT(server);
}
END_TEST

/* Only connections to daemons carry descriptors. */
START_TEST(descriptors_travel_with_frames)
{
    if (ops->offer)
        return;
    meet();
    for (uint32_t seq = 0; seq < 3; seq++) {
        int pipe_fds[2];
        char byte = 0;
        ck_assert_int_eq(pipe(pipe_fds), 0);
        struct pvmc_frame *f = frame_make(seq, 1000 * seq, 1, PAYLOAD_OWN);
        f->h.flags = PVMC_FRAME_FD;
        f->fd = pipe_fds[1];
        DRIVE_UNTIL(ops->send(client.ep, f) == 0);
        DRIVE_UNTIL(server.done == (int)seq + 1 && ops->pending(client.ep) == 0);
        pvmc_frame_unref(f);
        ck_assert_int_ge(server.descriptor, 0);
        ck_assert_int_eq(write(server.descriptor, "x", 1), 1);
        ck_assert_int_eq(read(pipe_fds[0], &byte, 1), 1);
        ck_assert_int_eq(byte, 'x');
        close(pipe_fds[0]);
        close(server.descriptor);
        server.descriptor = -1;
    }
    ASSERT_RIGHT(server);
}
END_TEST

TCase *memory_case(void)
{
    TCase *tc = tcase_create("memory");
    tcase_add_test(tc, payloads_arrive_from_everywhere);
    tcase_add_test(tc, large_messages_come_by_reference);
    tcase_add_test(tc, held_references_stay_as_they_are);
    tcase_add_test(tc, references_outlive_the_sender);
    tcase_add_test(tc, refused_references_come_back);
    tcase_add_test(tc, memory_comes_back_from_a_dead_link);
    tcase_add_loop_test(tc, descriptors_run_out, 0, 18);
    tcase_add_test(tc, descriptors_travel_with_frames);
    return tc;
}
