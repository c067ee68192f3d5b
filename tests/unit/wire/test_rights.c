/* test_rights.c - one of the descriptors that arrive with a message is kept, and none leaks. */
#include "wire/rights.h"
#include "atm/src/fore/message.h"
#include "core/error.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

static int ends[2];

static void start(int type)
{
    ck_assert_int_eq(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
}

static int take(void)
{
    char byte;
    union pvmw_rights_room room;
    struct iovec piece = {&byte, 1};
    struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    ck_assert_int_eq(recvmsg(ends[1], &msg, MSG_CMSG_CLOEXEC), 1);
    int fd;
    pvmw_rights_take(&msg, &fd, 1);
    return fd;
}

static void take_of_any_number(int type)
{
    start(type);
    unsigned before = open_descriptors();
    ck_assert_int_eq(send(ends[0], "", 1, 0), 1);
    ck_assert_int_eq(take(), -1);
    for (size_t count = 1; count <= DESCRIPTORS_MAX; count++) {
        send_copies(ends[0], "", 1, ends[0], count);
        int fd = take();
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        ck_assert_uint_eq(open_descriptors(), before + 1);
        close(fd);
    }
}

START_TEST(one_is_taken)
{
    take_of_any_number(SOCK_STREAM);
    take_of_any_number(SOCK_SEQPACKET);
}
END_TEST

START_TEST(one_is_taken_beside_credentials)
{
    start(SOCK_SEQPACKET);
    ck_assert_int_eq(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)), 0);
    unsigned before = open_descriptors();
    send_copies(ends[0], "", 1, ends[0], 7);
    close(take());
    ck_assert_uint_eq(open_descriptors(), before);
}
END_TEST

START_TEST(what_was_attached_comes)
{
    char byte = 0;
    union pvmw_rights_room room;
    struct iovec piece = {&byte, 1};
    struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1};
    start(SOCK_STREAM);
    pvmw_rights_attach(&msg, &room, ends, 1);
    ck_assert_int_eq(sendmsg(ends[0], &msg, 0), 1);
    int fd = take();
    ck_assert_int_eq(write(fd, "x", 1), 1);
    ck_assert_int_eq(read(ends[1], &byte, 1), 1);
    ck_assert_int_eq(byte, 'x');
}
END_TEST

/* Up to two come, in their order, and none that was not attached. */
START_TEST(two_come)
{
    static const int wanted[][2] = {{-1, -1}, {0, -1}, {-1, 0}, {0, 1}};
    start(SOCK_SEQPACKET);
    unsigned before = open_descriptors();
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        char byte = 0;
        union pvmw_rights_room room;
        struct iovec piece = {&byte, 1};
        struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1};
        int fds[2] = {wanted[i][0] < 0 ? -1 : ends[0], wanted[i][1] < 0 ? -1 : ends[1]};
        unsigned count = (fds[0] >= 0) + (fds[1] >= 0);
        pvmw_rights_attach(&msg, &room, fds, 2);
        ck_assert_int_eq(sendmsg(ends[0], &msg, 0), 1);
        msg = (struct msghdr){.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
        ck_assert_int_eq(recvmsg(ends[1], &msg, MSG_CMSG_CLOEXEC), 1);
        pvmw_rights_take(&msg, fds, 2);
        ck_assert_int_eq(fds[0] >= 0, count > 0);
        ck_assert_int_eq(fds[1] >= 0, count > 1);
        ck_assert_uint_eq(open_descriptors(), before + count);
        for (int k = 0; k < 2; k++)
            if (fds[k] >= 0)
                close(fds[k]);
    }
    send_copies(ends[0], "", 1, ends[0], 7);
    char byte;
    union pvmw_rights_room room;
    struct iovec piece = {&byte, 1};
    struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    int fds[2];
    ck_assert_int_eq(recvmsg(ends[1], &msg, MSG_CMSG_CLOEXEC), 1);
    pvmw_rights_take(&msg, fds, 2);
    ck_assert_int_ge(fds[1], 0);
    ck_assert_uint_eq(open_descriptors(), before + 2);
}
END_TEST

/* Records of the simulated ATM network: valid, malformed, oversized and empty ones. */
START_TEST(records_leave_none)
{
    uint8_t bytes[PVMA_FORE_HEAD_MAX], incoming[256], garbage[512] = {255};
    struct pvma_fore_message m = {.type = PVMA_FORE_TIME};
    size_t length = pvma_fore_message_encode(&m, bytes);
    start(SOCK_SEQPACKET);
    unsigned before = open_descriptors();
    for (size_t count = 1; count < 8; count++) {
        int fd = -1;
        send_copies(ends[0], bytes, length, ends[0], count);
        ck_assert_int_eq(pvma_fore_message_receive(ends[1], incoming, sizeof incoming, &m, NULL, true), 0);
        send_copies(ends[0], bytes, length, ends[0], count);
        ck_assert_int_eq(pvma_fore_message_receive(ends[1], incoming, sizeof incoming, &m, &fd, true), 0);
        ck_assert_int_eq(close(fd), 0);
        send_copies(ends[0], garbage, 5, ends[0], count);
        ck_assert_int_lt(pvma_fore_message_receive(ends[1], incoming, sizeof incoming, &m, &fd, true), 0);
        send_copies(ends[0], garbage, sizeof garbage, ends[0], count);
        ck_assert_int_eq(pvma_fore_message_receive(ends[1], incoming, sizeof incoming, &m, &fd, true), PVMC_ELIMIT);
        send_copies(ends[0], NULL, 0, ends[0], count);
        ck_assert_int_eq(pvma_fore_message_receive(ends[1], incoming, sizeof incoming, &m, &fd, true), PVMC_EDOWN);
        ck_assert_uint_eq(open_descriptors(), before);
    }
}
END_TEST

UNIT_MAIN("rights", one_is_taken, one_is_taken_beside_credentials, what_was_attached_comes, two_come,
          records_leave_none)
