/* test_local.c - endpoints of one host, which share a node id: messages through shared memory. */
#include <dp.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"
#include "wire.h"

enum { COUNT = 20000, AHEAD = 50 };

static int a;
static char *message;

static int open_at(int dpid, int mode)
{
    int fd = dp_open_on("v0", dpid);
    ck_assert_msg(fd >= 0, "dp_open_on: %m");
    ck_assert_int_eq(dp_mode(fd, mode), 0);
    return fd;
}

static pid_t start_echo(int mode, int count, bool spins)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    int fd = dp_open_on("v0", 200), nid, dpid;
    if (fd < 0 || dp_mode(fd, mode) || dp_spin(fd, spins))
        _exit(1);
    for (int i = 0; i < count; i++) {
        int length = dp_read_from(fd, &message, &nid, &dpid);
        if (length < 0 || dp_target(fd, nid, dpid) || dp_write(fd, message, length) != length || dp_fsync(fd, 1))
            _exit(2);
    }
    _exit(dp_close(fd) ? 3 : 0);
}

static void expect_exit(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "status %#x", (unsigned)status);
}

static int length_of(int number)
{
    return (int)sizeof number + 1 + number * 31 % 1400;
}

static void write_number(int number)
{
    static char data[1500];
    memcpy(data, &number, sizeof number);
    data[length_of(number) - 1] = (char)number;
    ck_assert_msg(dp_write(a, data, length_of(number)) == length_of(number), "dp_write: %m");
}

static void read_number(int number)
{
    int length = dp_read(a, &message), got;
    ck_assert_msg(length >= 0, "dp_read: %m");
    memcpy(&got, message, sizeof got);
    ck_assert_int_eq(length, length_of(number));
    ck_assert_int_eq(got, number);
    ck_assert_int_eq(dp_fsync(a, 1), 0);
}

/* Raw messages without a receiver are lost, so this sends until one comes back, then waits for those in flight. */
static void wait_for_echo(void)
{
    int got = 0;
    while (!got) {
        ck_assert_int_eq(dp_write(a, "", 0), 0);
        wire_readable(a, 10);
        while (dp_try(a, &message) == 0) {
            ck_assert_int_eq(dp_fsync(a, 1), 0);
            got++;
        }
    }
    ck_assert_int_eq(dp_write(a, "the end", 7), 7);
    while (dp_read(a, &message) != 7)
        ck_assert_int_eq(dp_fsync(a, 1), 0);
    ck_assert_int_eq(dp_fsync(a, 1), 0);
}

/* A loop test in both modes, sleeping and spinning. */
START_TEST(messages_pass_both_ways)
{
    int mode = _i % 2 ? DP_RELIABLE : DP_RAW;
    wire_make(1500);
    pid_t echo = start_echo(mode, mode == DP_RAW ? 1 << 30 : COUNT, _i / 2);
    a = open_at(100, mode);
    ck_assert_int_eq(dp_target(a, WIRE_NODE_0, 200), 0);
    if (mode == DP_RAW)
        wait_for_echo();
    for (int i = 0; i < COUNT + AHEAD; i++) {
        if (i < COUNT)
            write_number(i);
        if (i >= AHEAD)
            read_number(i - AHEAD);
    }
    dpstats_t statistics;
    dp_stats(a, &statistics);
    ck_assert_uint_ge(statistics.local, COUNT);
    ck_assert_uint_eq(statistics.packets_sent, 0);
    ck_assert_int_eq(dp_close(a), 0);
    if (mode == DP_RAW) {
        kill(echo, SIGKILL);
        waitpid(echo, NULL, 0);
    } else {
        expect_exit(echo);
    }
}
END_TEST

START_TEST(poll_wakes)
{
    wire_make(1500);
    pid_t echo = start_echo(DP_RELIABLE, 500, false);
    a = open_at(100, DP_RELIABLE);
    fcntl(a, F_SETFL, O_NONBLOCK);
    ck_assert_int_eq(dp_target(a, WIRE_NODE_0, 200), 0);
    while (dp_write(a, "x", 1) < 0)
        ck_assert_int_eq(errno, EAGAIN);
    for (int i = 0; i < 500; i++) {
        int length;
        ck_assert_msg(wire_readable(a, 20000), "message %d", i);
        while ((length = dp_read(a, &message)) < 0) {
            ck_assert_int_eq(errno, EAGAIN);
            ck_assert_msg(wire_readable(a, 20000), "message %d", i);
        }
        ck_assert_int_eq(length, 1);
        dp_fsync(a, 1);
        ck_assert_int_eq(dp_read(a, &message), -1);
        ck_assert(!wire_readable(a, 0));
        if (i < 499)
            ck_assert_int_eq(dp_write(a, "y", 1), 1);
    }
    expect_exit(echo);
}
END_TEST

/* Messages from this host and over the wire, held back and released in the order in which they were read. */
START_TEST(both_ways_into_one_endpoint)
{
    wire_make(1500);
    a = open_at(100, DP_RAW);
    int near = open_at(101, DP_RAW), far = dp_open_on("v1", 102);
    dp_target(near, WIRE_NODE_0, 100);
    dp_target(far, WIRE_NODE_0, 100);
    char *held[40];
    int count[2] = {0, 0}, nid;
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(dp_write(near, &i, sizeof i), sizeof i);
        ck_assert_int_eq(dp_write(far, &i, sizeof i), sizeof i);
    }
    for (int i = 0; i < 40; i++) {
        ck_assert_int_eq(dp_read_from(a, &held[i], &nid, NULL), sizeof i);
        ck_assert_mem_eq(held[i], &count[nid == WIRE_NODE_1], sizeof(int));
        count[nid == WIRE_NODE_1]++;
        if (i % 3 == 2)
            ck_assert_int_eq(dp_fsync(a, 2), 0);
    }
    ck_assert_int_eq(dp_fsync(a, 40 - 2 * 13), 0);
    ck_assert_int_eq(dp_fsync(a, 1), -1);
}
END_TEST

START_TEST(a_peer_that_dies)
{
    setenv("DP_TIMEOUT", "300ms", 1);
    wire_make(1500);
    a = open_at(100, DP_RELIABLE);
    ck_assert_int_eq(dp_target(a, WIRE_NODE_0, 200), 0);
    ck_assert_int_eq(dp_write(a, "x", 1), -1); /* there is no peer */
    ck_assert_int_eq(errno, EHOSTDOWN);
    pid_t echo = start_echo(DP_RELIABLE, 1 << 30, false);
    write_number(1);
    read_number(1);
    kill(echo, SIGKILL);
    waitpid(echo, NULL, 0);
    int rc;
    while ((rc = dp_write(a, "x", 1)) == 1)
        ;
    ck_assert_int_eq(rc, -1);
    ck_assert(errno == ECONNRESET || errno == EHOSTDOWN);
    echo = start_echo(DP_RELIABLE, 1, false);
    while (dp_write(a, "z", 1) < 0)
        ck_assert(errno == ECONNRESET || errno == EHOSTDOWN);
    ck_assert_int_eq(dp_read(a, &message), 1);
    ck_assert_int_eq(*message, 'z');
    expect_exit(echo);
}
END_TEST

/* A connection without a hello, or with an invalid one, is closed, and the endpoint continues to work. */
START_TEST(strangers_at_the_door)
{
    wire_make(1500);
    a = open_at(100, DP_RAW);
    fcntl(a, F_SETFL, O_NONBLOCK);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length = snprintf(name.sun_path + 1, 100, "dp/88b5/%d/100", WIRE_NODE_0);
    for (int i = 0; i < 200; i++) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        ck_assert_int_eq(connect(fd, (struct sockaddr *)&name, (socklen_t)(3 + length)), 0);
        if (i % 2)
            ck_assert_int_eq(send(fd, "nonsense of 16 bytes", (size_t)(i % 20), 0), i % 20);
        ck_assert_int_eq(dp_read(a, &message), -1);
        close(fd);
    }
    ck_assert_int_eq(dp_read(a, &message), -1);
    ck_assert(!wire_readable(a, 0));
    int near = open_at(101, DP_RAW);
    dp_target(near, WIRE_NODE_0, 100);
    ck_assert_int_eq(dp_write(near, "fine", 4), 4);
    ck_assert_int_eq(dp_read(a, &message), 4);
    dpstats_t statistics;
    dp_stats(a, &statistics);
    ck_assert_uint_eq(statistics.refused, 200);
}
END_TEST

int main(void)
{
    int missing = wire_missing();
    if (missing)
        return missing;
    Suite *suite = suite_create("dp_local");
    TCase *all = tcase_create("local");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, messages_pass_both_ways, 0, 4);
    tcase_add_test(all, poll_wakes);
    tcase_add_test(all, both_ways_into_one_endpoint);
    tcase_add_test(all, a_peer_that_dies);
    tcase_add_test(all, strangers_at_the_door);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
