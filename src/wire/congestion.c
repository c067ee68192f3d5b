/* congestion.c - see congestion.h. */
#include "congestion.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <netinet/in.h>
#include <linux/tcp.h> /* its tcp_info is longer than that of the C library */
#include "address.h"

#define NEAR_US 100

/* Whether the peer's address is a loopback address, or our own end's. */
static bool is_local(int fd)
{
    union pvmw_address own = {.v4 = {0}}, peer = {.v4 = {0}};
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    return !getsockname(fd, &own.any, &own_size) && !getpeername(fd, &peer.any, &peer_size) &&
           (pvmw_address_is_loopback(&peer) || pvmw_address_same(&own, &peer));
}

/* The shortest round trip so far, since others may include the peer's delay of an acknowledgement. */
static bool is_near(int fd)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) && info.tcpi_min_rtt &&
           info.tcpi_min_rtt < NEAR_US; /* not measured: UINT32_MAX */
}

static bool uses_bbr(int fd)
{
    char name[PVMW_CONGESTION_NAME_BYTES] = "";
    socklen_t size = sizeof name;
    return !getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) && !strncmp(name, "bbr", 3);
}

static int use(int fd, const char *name)
{
    return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) ? errno : 0;
}

int pvmw_congestion_choose(int fd, const char *choice)
{
    if (!strcmp(choice, "system"))
        return 0;
    if (strcmp(choice, "auto") != 0)
        return use(fd, choice);
    /* Every Linux has Reno, and lets every user choose it. */
    return is_local(fd) || (uses_bbr(fd) && is_near(fd)) ? use(fd, "reno") : 0;
}

int pvmw_congestion_check(const char *choice)
{
    if (!strcmp(choice, "auto") || !strcmp(choice, "system"))
        return 0; /* every task asks at its start, several times */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int rc = pvmw_congestion_choose(fd, choice);
    close(fd);
    return rc;
}
