/* test_raw.c - the calls of dp.h on endpoints in raw mode, over real frames. */
#include <dp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>
#include "unit.h"
#include "wire.h"

static int a, b;
static char *message;

static void expect(int fd, const void *data, int length)
{
    ck_assert_int_eq(dp_read(fd, &message), length);
    ck_assert_mem_eq(message, data, (size_t)length);
    ck_assert_int_eq(dp_fsync(fd, 1), 0);
}

static void check_sizes(int mtu)
{
    static char data[65536];
    wire_pair(mtu, DP_RAW, &a, &b);
    dpaddress_t own;
    ck_assert_int_eq(dp_address(a, &own), 0);
    ck_assert_int_eq(own.message_bytes, mtu - 12);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7 + i / 255);
    int step = mtu > 10000 ? 997 : 1;
    for (int length = 0; length <= own.message_bytes; length += step) {
        ck_assert_int_eq(dp_write(a, data, length), length);
        expect(b, data, length);
    }
    ck_assert_int_eq(dp_write(a, data, own.message_bytes), own.message_bytes);
    expect(b, data, own.message_bytes);
    ck_assert_int_eq(dp_write(a, data, own.message_bytes + 1), -1);
    ck_assert_int_eq(errno, EMSGSIZE);
}

START_TEST(every_size_1500)
{
    check_sizes(1500);
}
END_TEST

START_TEST(every_size_65535)
{
    check_sizes(65535);
}
END_TEST

START_TEST(messages_lie_in_the_ring_until_released)
{
    wire_pair(1500, DP_RAW, &a, &b);
    dpmmap_t pool = {.messages = 0};
    ck_assert_int_eq(dp_mmap(b, &pool), 0);
    char *at[5];
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(dp_write(a, &i, sizeof i), sizeof i);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(dp_read(b, &at[i]), sizeof i);
        ck_assert(at[i] >= (char *)pool.address && at[i] < (char *)pool.address + pool.bytes);
    }
    for (int i = 0; i < 5; i++)
        ck_assert_mem_eq(at[i], &i, sizeof i);
    ck_assert_int_eq(dp_fsync(b, 6), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_int_eq(dp_fsync(b, 2), 0);
    ck_assert_int_eq(dp_fsync(b, 3), 0);
    ck_assert_int_eq(dp_fsync(b, 1), -1);
}
END_TEST

START_TEST(readable_when_there_is_a_message)
{
    wire_pair(1500, DP_RAW, &a, &b);
    ck_assert_int_eq(fcntl(b, F_SETFL, O_NONBLOCK), 0);
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    ck_assert_int_eq(epoll_ctl(set, EPOLL_CTL_ADD, b, &event), 0);
    ck_assert_int_eq(dp_read(b, &message), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert(!wire_readable(b, 0));
    for (int round = 0; round < 3; round++) {
        ck_assert_int_eq(dp_write(a, "one", 3), 3);
        ck_assert_int_eq(dp_write(a, "two", 3), 3);
        ck_assert(wire_readable(b, 10000));
        ck_assert_int_eq(epoll_wait(set, &event, 1, 10000), 1);
        expect(b, "one", 3);
        fd_set readable;
        FD_ZERO(&readable);
        FD_SET(b, &readable);
        ck_assert_int_eq(select(b + 1, &readable, NULL, NULL, NULL), 1);
        expect(b, "two", 3);
        ck_assert(!wire_readable(b, 0));
        ck_assert_int_eq(epoll_wait(set, &event, 1, 0), 0);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_size_1500, every_size_65535, messages_lie_in_the_ring_until_released,
                                  readable_when_there_is_a_message};
    int missing = wire_missing();
    return missing ? missing : unit_run("dp_raw", tests, sizeof tests / sizeof tests[0]);
}
