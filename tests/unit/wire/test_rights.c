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
    return pvmw_rights_take(&msg);
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
    pvmw_rights_attach(&msg, &room, ends[0]);
    ck_assert_int_eq(sendmsg(ends[0], &msg, 0), 1);
    int fd = take();
    ck_assert_int_eq(write(fd, "x", 1), 1);
    ck_assert_int_eq(read(ends[1], &byte, 1), 1);
    ck_assert_int_eq(byte, 'x');
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

UNIT_MAIN("rights", one_is_taken, one_is_taken_beside_credentials, what_was_attached_comes, records_leave_none)
