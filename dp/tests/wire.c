/* wire.c - two interfaces and the link between them. */
#include "wire.h"
#include <check.h>
#include <dp.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void wire_run(const char *format, ...)
{
    char command[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    ck_assert_msg(system(command) == 0, "failed: %s", command);
}

void wire_make(int mtu)
{
    ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
    wire_run(
        "ip link add v0 mtu %d address 02:00:00:00:00:01 type veth peer name v1 mtu %d address 02:00:00:00:00:02 && "
        "ip link set v0 up && ip link set v1 up",
        mtu, mtu);
}

void wire_make_bad(int mtu, const char *settings)
{
    char command[1000], line[16] = "";
    ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
    for (int i = 0; i < 2; i++)
        wire_run("ip link add v%d mtu %d address 02:00:00:00:00:0%d type veth peer name w%d mtu %d && "
                 "ip link set v%d up && ip link set w%d up",
                 i, mtu, i + 1, i, mtu, i, i);
    snprintf(command, sizeof command, "exec setpriv --pdeathsig KILL " CABLE " w0 w1 eth=0x88b5 %s", settings);
    FILE *cable = popen(command, "re");
    ck_assert(cable && fgets(line, sizeof line, cable) && !strcmp(line, "ready\n"));
}

bool wire_readable(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, timeout_ms) == 1 && p.revents & POLLIN;
}

static int open_one(const char *interface, int dpid, int mode)
{
    int fd = dp_open_on(interface, dpid);
    ck_assert_msg(fd >= 0, "dp_open_on: %m");
    ck_assert_int_eq(dp_mode(fd, mode), 0);
    return fd;
}

void wire_pair(int mtu, int mode, int *a, int *b)
{
    wire_make(mtu);
    *a = open_one("v0", 100, mode);
    *b = open_one("v1", 200, mode);
    ck_assert_int_eq(dp_target(*a, WIRE_NODE_1, 200), 0);
    ck_assert_int_eq(dp_target(*b, WIRE_NODE_0, 100), 0);
}

int wire_missing(void)
{
    if (geteuid()) {
        puts("NOT RUN: raw sockets and network namespaces need root");
        return 77;
    }
    return 0;
}
