/*
 * dp-socket.c - opens a raw socket for an endpoint of its caller and passes it: dp-socket INTERFACE ETHERTYPE NODE
 * POINT. Started by dp/src/frames/helper.c; see dp-socket(8), and doc/security.md for what it protects.
 *
 * It runs with CAP_NET_RAW, which its caller lacks: everything from the caller is hostile until it has been checked.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/error.h"
#include "wire/rights.h"
#include "frames/helper.h"

#define ETHERTYPE_FIRST 0x88b5 /* IEEE 802 reserves this and the next for local experiments; others may be in use */
#define ETHERTYPE_LAST  0x88b6

struct wish {
    const char *interface;
    uint16_t ethertype;
    struct dpi_point point;
};

static int say(const char *what, const char *cause)
{
    fprintf(stderr, "dp-socket: %s%s%s\n", what, *cause ? ": " : "", cause);
    return 1;
}

/* Accepts a decimal number from `least` to `most`, and nothing else. */
static bool read_number(const char *text, long least, long most, uint16_t *out)
{
    char *end;
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 5 || text[digits])
        return false;
    long v = strtol(text, &end, 10);
    *out = (uint16_t)v;
    return v >= least && v <= most;
}

static int read_wish(char **argv, struct wish *w)
{
    w->interface = argv[1];
    if (!*w->interface)
        return say("the name of the interface is empty", "");
    if (!read_number(argv[2], ETHERTYPE_FIRST, ETHERTYPE_LAST, &w->ethertype))
        return say("users may only have the EtherTypes 34997 and 34998 (0x88b5, 0x88b6)", argv[2]);
    if (!read_number(argv[3], 1, UINT16_MAX - 1, &w->point.node))
        return say("the node is not a number from 1 to 65534", argv[3]);
    if (!read_number(argv[4], 0, UINT16_MAX - 1, &w->point.point))
        return say("the point is not a number from 0 to 65534", argv[4]);
    return 0;
}

/* Whether descriptor 0 is a socket of the kind that helper.c creates. */
static bool has_caller(void)
{
    int domain = 0, type = 0;
    socklen_t length = sizeof domain;
    return !getsockopt(0, SOL_SOCKET, SO_DOMAIN, &domain, &length) && domain == AF_UNIX &&
           !getsockopt(0, SOL_SOCKET, SO_TYPE, &type, &length) && type == SOCK_SEQPACKET;
}

/* Sends the answer, with fd if it is a descriptor. Returns 0 or the exit code. */
static int answer(int fd, uint16_t point)
{
    struct dpi_helper_answer a = {.code = fd < 0 ? fd : 0, .point = point};
    union pvmw_rights_room room;
    struct iovec piece = {&a, sizeof a};
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1};
    pvmw_rights_attach(&m, &room, &fd, 1);
    if (sendmsg(0, &m, MSG_NOSIGNAL) != sizeof a)
        return say("cannot pass the socket", strerror(errno));
    return fd < 0;
}

static int refuse(const struct wish *w, int code)
{
    const char *cause = code == PVMC_EDENIED        ? "no CAP_NET_RAW: as root, setcap cap_net_raw+ep on this program"
                        : code == PVMC_EEXISTS      ? "the point is taken"
                        : code == PVMC_EPARAM       ? "there is no such interface"
                        : code == PVMC_EUNSUPPORTED ? "it is down, or not Ethernet"
                                                    : pvmc_error_text(code);
    say(w->interface, cause);
    return answer(code, 0);
}

int main(int argc, char **argv)
{
    struct wish w;
    struct dpi_interface interface;
    clearenv();
    if (argc != 5)
        return say("started by programs of dpvm, as dp-socket INTERFACE ETHERTYPE NODE POINT; see dp-socket(8)", "") +
               1;
    if (read_wish(argv, &w))
        return 2;
    if (!has_caller())
        return say("descriptor 0 must be a socket of the caller, for the answer", "") + 1;
    int rc = dpi_interface_find(w.interface, &interface);
    if (!rc)
        rc = dpi_socket_open(&interface, w.ethertype, &w.point);
    return rc < 0 ? refuse(&w, rc) : answer(rc, w.point.point);
}
