/* socket.c - raw sockets, each with a filter of its own. */
#include "socket.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../../core/error.h"

#define SEND_BUFFER_BYTES      (4 << 20)
#define DRAWS_MAX              200    /* of a point that is free */
#define FANOUT_IGNORE_OUTGOING 0x4000 /* PACKET_FANOUT_FLAG_...; Debian 12 has older headers */

static int attach(int fd, struct sock_filter *code, unsigned short length)
{
    const struct sock_fprog program = {length, code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) ? PVMI_ESYSTEM : 0;
}

/* Until the point is known nothing gets through. */
static int shut(int fd)
{
    struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    return attach(fd, nothing, 1);
}

/* Lets through frames of our EtherType to our node (or to all) and, if they are for an endpoint, to ours. */
static int attach_filter(int fd, uint16_t ethertype, struct pvmi_dp_point point)
{
    enum { ETHERTYPE_AT = 12, NODE_AT = PVMI_DP_ETHERNET_BYTES + 4, POINT_AT = NODE_AT + 2 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ETHERTYPE_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ethertype, 0, 6),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, NODE_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, point.node, 0, 4),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, POINT_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, point.point, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), /* to any endpoint of the node: who is it? */
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    int on = 1, rc = attach(fd, code, sizeof code / sizeof code[0]);
    if (rc)
        return rc;
    return setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof on) ? PVMI_ESYSTEM : 0;
}

/* Takes the point for this socket, which is bound. */
static int claim(int fd, uint16_t point)
{
    struct fanout_args group = {
        .id = point, .type_flags = PACKET_FANOUT_CPU | FANOUT_IGNORE_OUTGOING, .max_num_members = 1};
    if (!setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &group, sizeof group))
        return 0;
    return errno == ENOSPC || errno == EINVAL ? PVMI_EEXISTS : PVMI_ESYSTEM; /* there, or on another interface */
}

/* Random, so that late frames for an earlier owner hardly meet the next one. */
static int claim_any(int fd, uint16_t *point)
{
    int rc = PVMI_EEXISTS;
    for (int i = 0; i < DRAWS_MAX && rc == PVMI_EEXISTS; i++) {
        if (getrandom(point, sizeof *point, 0) != sizeof *point)
            return PVMI_ESYSTEM;
        if (*point && *point != UINT16_MAX)
            rc = claim(fd, *point);
    }
    return rc == PVMI_EEXISTS ? PVMI_ELIMIT : rc;
}

/* What only speeds things up may fail. */
static void tune(int fd)
{
    int on = 1, bytes = SEND_BUFFER_BYTES;
    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes))
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

static int prepare(int fd, const struct pvmi_dp_interface *interface, uint16_t ethertype, struct pvmi_dp_point *point)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ethertype), .sll_ifindex = interface->index};
    int on = 1, rc = shut(fd);
    if (rc)
        return rc;
    tune(fd);
    if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) ||
        bind(fd, (struct sockaddr *)&address, sizeof address))
        return PVMI_ESYSTEM;
    rc = point->point ? claim(fd, point->point) : claim_any(fd, &point->point);
    return rc ? rc : attach_filter(fd, ethertype, *point);
}

/* Protocol 0: nothing is received before the filter is there. */
int pvmi_dp_socket_open(const struct pvmi_dp_interface *interface, uint16_t ethertype, struct pvmi_dp_point *point)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno == EPERM ? PVMI_EDENIED : errno == EAFNOSUPPORT ? PVMI_EUNSUPPORTED : PVMI_ELIMIT;
    int rc = prepare(fd, interface, ethertype, point);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}
