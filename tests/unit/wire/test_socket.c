/* test_socket.c - connecting and listening: port ranges, refusals, a connection to itself. */
#include "wire/socket.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "unit.h"

#define HERE "127.83.79.2" /* on the loopback, with no other listener */

static union pvmw_address a;

static int listen_in(const char *ip, unsigned low, unsigned count, unsigned first)
{
    ck_assert_int_eq(pvmw_address_parse(ip, 0, &a), 0);
    return pvmw_socket_listen(&a,
                              &(struct pvmw_socket_listen){.backlog = 4, .low = low, .count = count, .first = first});
}

/* Connects to a: 0 or an errno. */
static int call(void)
{
    int fd = pvmw_socket_connect(&a, NULL, NULL);
    if (fd < 0)
        return -fd;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    ck_assert_int_eq(poll(&p, 1, 5000), 1);
    int error = pvmw_socket_connected(fd);
    ck_assert(!pvmw_socket_is_own_end(fd, &a));
    close(fd);
    return error;
}

START_TEST(listens_where_it_says)
{
    int fd = listen_in("127.0.0.1", 0, 1, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_uint_gt(pvmw_address_port(&a), 0);
    ck_assert_int_eq(call(), 0);
    close(fd);
    ck_assert_int_eq(call(), ECONNREFUSED);
}
END_TEST

START_TEST(ranges_are_searched_from_anywhere)
{
    int fds[3], some = listen_in(HERE, 0, 1, 0);
    unsigned low = pvmw_address_port(&a);
    close(some);
    ck_assert_uint_lt(low, 65533);
    static const unsigned order[] = {2, 0, 1};
    for (unsigned i = 0; i < 3; i++) {
        fds[i] = listen_in(HERE, low, 3, 2);
        ck_assert_int_ge(fds[i], 0);
        ck_assert_uint_eq(pvmw_address_port(&a), low + order[i]);
    }
    ck_assert_int_eq(listen_in(HERE, low, 3, 2), -EADDRINUSE);
    for (unsigned i = 0; i < 3; i++)
        close(fds[i]);
}
END_TEST

START_TEST(addresses_of_others_are_refused)
{
    ck_assert_int_eq(listen_in("192.0.2.1", 0, 1, 0), -EADDRNOTAVAIL);
    union pvmw_address from = a;
    int fd = listen_in("127.0.0.1", 0, 1, 0);
    ck_assert_int_eq(pvmw_socket_connect(&a, &from, NULL), -EADDRNOTAVAIL);
    close(fd);
}
END_TEST

START_TEST(a_call_that_meets_itself_is_noticed)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof a;
    ck_assert_int_eq(pvmw_address_parse("127.0.0.1", 0, &a), 0);
    ck_assert_int_eq(bind(fd, &a.any, pvmw_address_size(&a)), 0);
    ck_assert_int_eq(getsockname(fd, &a.any, &size), 0);
    ck_assert_int_eq(connect(fd, &a.any, size), 0);
    ck_assert_int_eq(pvmw_socket_connected(fd), 0);
    ck_assert(pvmw_socket_is_own_end(fd, &a));
    close(fd);
}
END_TEST

UNIT_MAIN("socket", listens_where_it_says, ranges_are_searched_from_anywhere, addresses_of_others_are_refused,
          a_call_that_meets_itself_is_noticed)
