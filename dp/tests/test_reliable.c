/* test_reliable.c - the reliable modes over real frames: order, flow control, peers that join late, die and restart. */
#include <dp.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "unit.h"
#include "wire.h"

static int a, b;
static char *message;

static int64_t slow_ns; /* while sendmmsg() is as slow as with long frames: time, which only sending takes */
static int sent_alone;  /* frames that left by send() */

/* In place of the C library's, for libdp. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!slow_ns)
        return (int)syscall(SYS_clock_gettime, clock, now);
    *now = (struct timespec){.tv_sec = slow_ns / 1000000000, .tv_nsec = slow_ns % 1000000000};
    return 0;
}

__attribute__((visibility("default"))) int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    enum { SLOW_NS = 100000 };
    if (slow_ns)
        slow_ns += SLOW_NS;
    return (int)syscall(SYS_sendmmsg, fd, messages, count, flags);
}

__attribute__((visibility("default"))) ssize_t send(int fd, const void *data, size_t length, int flags)
{
    sent_alone++;
    return syscall(SYS_sendto, fd, data, length, flags, NULL, 0);
}

static void sleep_ms(int ms)
{
    poll(NULL, 0, ms);
}

static void write_number(int fd, int number)
{
    char data[1000] = {0};
    memcpy(data, &number, sizeof number);
    int length = (int)sizeof number + number % 900;
    ck_assert_msg(dp_write(fd, data, length) == length, "dp_write: %m");
}

static void read_number(int fd, int number)
{
    int length = dp_read(fd, &message), got;
    ck_assert_msg(length >= 0, "dp_read: %m");
    memcpy(&got, message, sizeof got);
    ck_assert_int_eq(got, number);
    ck_assert_int_eq(length, (int)sizeof number + number % 900);
    ck_assert_int_eq(dp_fsync(fd, 1), 0);
}

/* Starts a process with an endpoint at v1 that echoes `count` messages. */
static pid_t start_echo(int mode, int count)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    int fd = dp_open_on("v1", 200), nid, dpid;
    if (fd < 0 || dp_mode(fd, mode))
        _exit(1);
    for (int i = 0; i < count; i++) {
        int length = dp_read_from(fd, &message, &nid, &dpid);
        if (length < 0 || dp_target(fd, nid, dpid) || dp_write(fd, message, length) != length || dp_fsync(fd, 1))
            _exit(2);
    }
    _exit(dp_close(fd) ? 3 : 0);
}

static void expect_exit(pid_t pid, int code)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == code, "status %#x", (unsigned)status);
}

/* Serves the echo process, which may have lost the last acknowledgement; dp_close() does so for only 0.2 seconds. */
static void close_after(pid_t echo)
{
    int status = -1;
    pid_t ended;
    while (!(ended = waitpid(echo, &status, WNOHANG))) {
        dp_work(a);
        sleep_ms(1);
    }
    ck_assert_int_eq(ended, echo);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
    ck_assert_msg(dp_close(a) == 0, "dp_close: %m");
}

static int open_at(const char *interface, int dpid, int mode)
{
    int fd = dp_open_on(interface, dpid);
    ck_assert_msg(fd >= 0, "dp_open_on: %m");
    ck_assert_int_eq(dp_mode(fd, mode), 0);
    return fd;
}

static void check_echo(int mode, const char *cable)
{
    enum { COUNT = 3000, AHEAD = 40 };
    if (cable)
        wire_make_bad(1500, cable);
    else
        wire_make(1500);
    pid_t echo = start_echo(mode, COUNT);
    a = open_at("v0", 100, mode);
    ck_assert_int_eq(dp_target(a, WIRE_NODE_1, 200), 0);
    for (int i = 0; i < COUNT + AHEAD; i++) {
        if (i < COUNT)
            write_number(a, i);
        if (i >= AHEAD)
            read_number(a, i - AHEAD);
    }
    close_after(echo);
}

START_TEST(messages_come_once_and_in_order)
{
    check_echo(_i ? DP_GO_BACK_N : DP_RELIABLE, NULL);
}
END_TEST

START_TEST(over_a_bad_cable)
{
    static const char *const cables[] = {"loss=1 reorder=5 dup=2 damage=1 seed=1",
                                         "loss=5 reorder=5 dup=2 damage=1 seed=2",
                                         "loss=20 reorder=5 dup=5 damage=2 seed=3"};
    check_echo(_i % 2 ? DP_GO_BACK_N : DP_RELIABLE, cables[_i / 2]);
}
END_TEST

/* The reader's ring is small, and it reads only after everything else has gone to sleep. */
START_TEST(a_slow_reader_is_not_overrun)
{
    wire_make(1500);
    pid_t writer = fork();
    if (!writer) {
        a = open_at("v0", 100, DP_RELIABLE);
        dp_target(a, WIRE_NODE_1, 200);
        for (int i = 0; i < 2000; i++)
            write_number(a, i);
        _exit(dp_flush(a, -1) ? 1 : dp_close(a) ? 2 : 0);
    }
    b = open_at("v1", 200, DP_RELIABLE);
    dpmmap_t pool = {.messages = 64};
    ck_assert_int_eq(dp_mmap(b, &pool), 0);
    ck_assert_uint_ge(pool.messages, 64);
    for (int i = 0; i < 2000; i++) {
        if (i % 100 == 0)
            sleep_ms(5);
        read_number(b, i);
    }
    dpstats_t statistics;
    ck_assert_int_eq(dp_stats(b, &statistics), 0);
    ck_assert_uint_eq(statistics.dropped, 0);
    ck_assert_int_eq(dp_close(b), 0);
    expect_exit(writer, 0);
}
END_TEST

/* Messages that are read and not released fill the pool; releasing them lets the writer continue. */
START_TEST(held_messages_hold_the_writer)
{
    wire_make(1500);
    pid_t writer = fork();
    if (!writer) {
        a = open_at("v0", 100, DP_RELIABLE);
        dp_target(a, WIRE_NODE_1, 200);
        for (int i = 0; i < 500; i++)
            write_number(a, i);
        _exit(dp_close(a) ? 2 : 0);
    }
    b = open_at("v1", 200, DP_RELIABLE);
    dpmmap_t pool = {.messages = 64};
    ck_assert_int_eq(dp_mmap(b, &pool), 0);
    fcntl(b, F_SETFL, O_NONBLOCK);
    int held = 0, number, next = 0;
    while (next < 500) {
        int length = dp_read(b, &message);
        if (length >= 0) {
            memcpy(&number, message, sizeof number);
            ck_assert_int_eq(number, next++);
            held++;
        }
        if (held >= 30 || (length < 0 && held)) {
            sleep_ms(2);
            ck_assert_int_eq(dp_fsync(b, held), 0);
            held = 0;
        } else if (length < 0) {
            wire_readable(b, 10);
        }
    }
    dpstats_t statistics;
    ck_assert_int_eq(dp_stats(b, &statistics), 0);
    ck_assert_uint_eq(statistics.dropped, 0);
    dp_close(b);
    expect_exit(writer, 0);
}
END_TEST

START_TEST(a_peer_may_come_later)
{
    wire_make(1500);
    a = open_at("v0", 100, DP_RELIABLE);
    ck_assert_int_eq(dp_target(a, WIRE_NODE_1, 200), 0);
    for (int i = 0; i < 20; i++)
        write_number(a, i);
    ck_assert_int_eq(dp_flush(a, 50), -1);
    ck_assert_int_eq(errno, ETIMEDOUT);
    pid_t echo = start_echo(DP_RELIABLE, 20);
    for (int i = 0; i < 20; i++)
        read_number(a, i);
    dp_close(a);
    expect_exit(echo, 0);
}
END_TEST

START_TEST(a_dead_peer_is_told_once)
{
    setenv("DP_TIMEOUT", "300ms", 1);
    wire_make(1500);
    a = open_at("v0", 100, DP_RELIABLE);
    ck_assert_int_eq(dp_target(a, WIRE_NODE_1, 200), 0);
    write_number(a, 1); /* there is no peer */
    ck_assert_int_eq(dp_flush(a, -1), -1);
    ck_assert_int_eq(errno, EHOSTDOWN);
    ck_assert_int_eq(dp_write(a, "x", 1), -1);
    ck_assert_int_eq(errno, EHOSTDOWN);
    pid_t echo = start_echo(DP_RELIABLE, 1000);
    write_number(a, 2);
    read_number(a, 2);
    kill(echo, SIGKILL);
    waitpid(echo, NULL, 0);
    write_number(a, 3);
    ck_assert_int_eq(dp_flush(a, -1), -1);
    ck_assert_int_eq(errno, EHOSTDOWN);
    ck_assert_int_eq(dp_write(a, "x", 1), -1);
    ck_assert_int_eq(errno, EHOSTDOWN);
    echo = start_echo(DP_RELIABLE, 1);
    write_number(a, 4);
    read_number(a, 4);
    ck_assert_int_eq(dp_close(a), 0);
    expect_exit(echo, 0);
}
END_TEST

/* A peer that is killed and restarted within the time limit is recognised as a new one. */
START_TEST(a_peer_that_was_opened_anew)
{
    wire_make(1500);
    a = open_at("v0", 100, DP_RELIABLE);
    ck_assert_int_eq(dp_target(a, WIRE_NODE_1, 200), 0);
    pid_t echo = start_echo(DP_RELIABLE, 1000);
    write_number(a, 1);
    read_number(a, 1);
    kill(echo, SIGKILL);
    waitpid(echo, NULL, 0);
    write_number(a, 2);
    pid_t talker = fork();
    if (!talker) {
        int fd = dp_open_on("v1", 200);
        dp_mode(fd, DP_RELIABLE);
        dp_target(fd, WIRE_NODE_0, 100);
        write_number(fd, 7);
        read_number(fd, 8);
        _exit(dp_close(fd) ? 1 : 0);
    }
    read_number(a, 7);
    ck_assert_int_eq(dp_write(a, "x", 1), -1);
    ck_assert_int_eq(errno, ECONNRESET);
    write_number(a, 8);
    ck_assert_int_eq(dp_close(a), 0);
    expect_exit(talker, 0);
}
END_TEST

/* libdp is called only when poll() reports the descriptor. */
START_TEST(poll_wakes_for_all_that_is_due)
{
    wire_make_bad(1500, "loss=10 seed=5");
    pid_t echo = start_echo(DP_RELIABLE, 200);
    a = open_at("v0", 100, DP_RELIABLE);
    fcntl(a, F_SETFL, O_NONBLOCK);
    ck_assert_int_eq(dp_target(a, WIRE_NODE_1, 200), 0);
    for (int i = 0; i < 200; i++) {
        write_number(a, i);
        int length, got;
        while ((length = dp_read(a, &message)) < 0) {
            ck_assert_int_eq(errno, EAGAIN);
            ck_assert_msg(wire_readable(a, 20000), "message %d is not answered", i);
        }
        memcpy(&got, message, sizeof got);
        ck_assert_int_eq(got, i);
        dp_fsync(a, 1);
    }
    close_after(echo);
}
END_TEST

/* Frames of a stream may wait for further writes, but poll() must send them. */
START_TEST(poll_wakes_for_the_rest_of_a_stream)
{
    enum { STREAM = 40 };
    wire_pair(1500, DP_RELIABLE, &a, &b);
    write_number(a, 0);
    while (dp_try(b, &message) < 0)
        dp_work(a);
    for (int i = 1; i <= STREAM; i++)
        write_number(a, i);
    ck_assert(wire_readable(a, 10000));
    ck_assert_int_eq(dp_try(a, &message), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert_int_eq(dp_fsync(b, 1), 0);
    for (int i = 1; i <= STREAM; i++) {
        ck_assert(wire_readable(b, 10000));
        read_number(b, i);
    }
}
END_TEST

/* A slow flush of gathered frames is not a pause of the program, after which frames leave one by one. */
START_TEST(a_stream_outlasts_its_slow_flushes)
{
    enum { STREAM = 400, FEW = 20 };
    wire_pair(1500, DP_RELIABLE, &a, &b);
    write_number(a, 0);
    while (dp_try(b, &message) < 0)
        dp_work(a);
    sent_alone = 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    slow_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
    for (int i = 1; i <= STREAM; i++)
        write_number(a, i);
    slow_ns = 0;
    ck_assert_int_lt(sent_alone, FEW);
}
END_TEST

START_TEST(modes_do_not_mix)
{
    wire_pair(1500, DP_RELIABLE, &a, &b);
    ck_assert_int_eq(dp_mode(a, DP_RAW), -1);
    ck_assert_int_eq(errno, EBUSY);
    dp_close(b);
    b = open_at("v1", 200, DP_RAW);
    fcntl(b, F_SETFL, O_NONBLOCK);
    dp_target(b, WIRE_NODE_0, 100);
    write_number(a, 1);
    write_number(b, 1);
    fcntl(a, F_SETFL, O_NONBLOCK);
    ck_assert_int_eq(dp_read(a, &message), -1);
    ck_assert_int_eq(dp_read(b, &message), -1);
    dpstats_t statistics;
    dp_stats(a, &statistics);
    ck_assert_uint_eq(statistics.refused, 1);
    dp_stats(b, &statistics);
    ck_assert_uint_ge(statistics.refused, 1);
}
END_TEST

int main(void)
{
    int missing = wire_missing();
    if (missing)
        return missing;
    Suite *suite = suite_create("dp_reliable");
    TCase *all = tcase_create("reliable");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, messages_come_once_and_in_order, 0, 2);
    tcase_add_loop_test(all, over_a_bad_cable, 0, 6);
    tcase_add_test(all, a_slow_reader_is_not_overrun);
    tcase_add_test(all, held_messages_hold_the_writer);
    tcase_add_test(all, a_peer_may_come_later);
    tcase_add_test(all, a_dead_peer_is_told_once);
    tcase_add_test(all, a_peer_that_was_opened_anew);
    tcase_add_test(all, poll_wakes_for_all_that_is_due);
    tcase_add_test(all, poll_wakes_for_the_rest_of_a_stream);
    tcase_add_test(all, a_stream_outlasts_its_slow_flushes);
    tcase_add_test(all, modes_do_not_mix);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
