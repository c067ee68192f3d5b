/* test_congestion.c - which congestion control connections get: within a host, named, or the system's. */
#include "wire/congestion.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netinet/tcp.h>
#include "unit.h"
#include "wire/socket.h"

static char name[PVMW_CONGESTION_NAME_BYTES];

/* The congestion control of a socket. */
static const char *of(int fd)
{
    socklen_t size = sizeof name;
    ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size), 0);
    return name;
}

static const char *chosen(int fd, const char *choice)
{
    ck_assert_int_eq(pvmw_congestion_choose(fd, choice), 0);
    return of(fd);
}

/* Both ends of a connection to this address. */
static void join(const char *ip, int ends[2])
{
    union pvmw_address a;
    ck_assert_int_eq(pvmw_address_parse(ip, 0, &a), 0);
    int listener = pvmw_socket_listen(&a, &(struct pvmw_socket_listen){.backlog = 1, .count = 1});
    ends[0] = pvmw_socket_connect(&a, NULL, NULL);
    struct pollfd p = {.fd = ends[0], .events = POLLOUT};
    ck_assert_int_eq(poll(&p, 1, 5000), 1);
    ends[1] = accept(listener, NULL, NULL);
    ck_assert_int_ge(ends[1], 0);
    close(listener);
}

START_TEST(connections_within_this_host_are_not_paced)
{
    static const char *const addresses[] = {"127.0.0.1", "127.83.79.2"};
    for (int i = 0; i < 2; i++) {
        int ends[2];
        join(addresses[i], ends);
        for (int end = 0; end < 2; end++) {
            ck_assert_str_eq(chosen(ends[end], "auto"), "reno");
            close(ends[end]);
        }
    }
}
END_TEST

START_TEST(what_the_administrator_has_chosen_can_stay)
{
    char others[sizeof name];
    int ends[2], unconnected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strcpy(others, of(unconnected));
    ck_assert_str_eq(chosen(unconnected, "auto"), others);
    join("127.0.0.1", ends);
    ck_assert_str_eq(chosen(ends[0], "system"), others);
    ck_assert_str_eq(chosen(unconnected, "reno"), "reno");
    close(ends[0]);
    close(ends[1]);
    close(unconnected);
}
END_TEST

/* One end of a connection between two addresses that are not loopback addresses, as between two hosts. */
static int join_hosts(void)
{
    union pvmw_address here, there;
    ck_assert_int_eq(pvmw_address_parse("10.83.79.1", 0, &here), 0);
    ck_assert_int_eq(pvmw_address_parse("10.83.79.2", 0, &there), 0);
    int listener = pvmw_socket_listen(&there, &(struct pvmw_socket_listen){.backlog = 1, .count = 1});
    ck_assert_int_ge(listener, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, &here.any, sizeof here.v4), 0);
    ck_assert_int_eq(connect(fd, &there.any, sizeof there.v4), 0);
    close(listener);
    return fd;
}

/* Its round trip, without a network, takes less than 100 us, at least in one of many tries on a busy machine. */
START_TEST(near_hosts_are_not_paced_either)
{
    if (geteuid() || unshare(CLONE_NEWNET) ||
        system("ip link set lo up && ip address add 10.83.79.1/32 dev lo && ip address add 10.83.79.2/32 dev lo"))
        return;
    bool is_paced = true;
    for (int i = 0; i < 100 && is_paced; i++) {
        int fd = join_hosts();
        char before[sizeof name];
        strcpy(before, of(fd));
        is_paced = !strcmp(chosen(fd, "auto"), "bbr");
        if (strcmp(before, "bbr") != 0)
            ck_assert_str_eq(of(fd), before); /* what else the administrator has chosen stays */
        close(fd);
    }
    ck_assert(!is_paced);
}
END_TEST

START_TEST(names_are_checked)
{
    static const char *const good[] = {"auto", "system", "reno"};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pvmw_congestion_check(good[i]), 0);
    ck_assert_int_eq(pvmw_congestion_check("no-such-one"), ENOENT);
}
END_TEST

UNIT_MAIN("congestion", connections_within_this_host_are_not_paced, what_the_administrator_has_chosen_can_stay,
          near_hosts_are_not_paced_either, names_are_checked)
