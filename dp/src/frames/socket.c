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
#include "core/error.h"

#define SEND_BUFFER_BYTES      (4 << 20)
#define DRAWS_MAX              200    /* tries to draw a free point */
#define FANOUT_IGNORE_OUTGOING 0x4000 /* PACKET_FANOUT_FLAG_...; Debian 12 has older headers */

static int attach(int fd, struct sock_filter *code, unsigned short length)
{
    const struct sock_fprog program = {length, code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) ? PVMC_ESYSTEM : 0;
}

/* Drops everything until the point is known. */
static int shut(int fd)
{
    struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    return attach(fd, nothing, 1);
}

/* Passes frames of our EtherType to our node (or to all) and, if they name an endpoint, to ours. */
static int attach_filter(int fd, uint16_t ethertype, struct dpi_point point)
{
    enum { ETHERTYPE_AT = 12, NODE_AT = DPI_ETHERNET_BYTES + 4, POINT_AT = NODE_AT + 2 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ETHERTYPE_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ethertype, 0, 6),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, NODE_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, point.node, 0, 4),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, POINT_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, point.point, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), /* to any endpoint of the node: an address request */
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    int on = 1, rc = attach(fd, code, sizeof code / sizeof code[0]);
    if (rc)
        return rc;
    return setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof on) ? PVMC_ESYSTEM : 0;
}

/* Reserves the point for this socket, which is bound. */
static int claim(int fd, uint16_t point)
{
    struct fanout_args group = {
        .id = point, .type_flags = PACKET_FANOUT_CPU | FANOUT_IGNORE_OUTGOING, .max_num_members = 1};
    if (!setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &group, sizeof group))
        return 0;
    return errno == ENOSPC || errno == EINVAL ? PVMC_EEXISTS : PVMC_ESYSTEM; /* taken on this or another interface */
}

/* Random, so that late frames for an earlier owner are unlikely to reach the next one. */
static int claim_any(int fd, uint16_t *point)
{
    int rc = PVMC_EEXISTS;
    for (int i = 0; i < DRAWS_MAX && rc == PVMC_EEXISTS; i++) {
        if (getrandom(point, sizeof *point, 0) != sizeof *point)
            return PVMC_ESYSTEM;
        if (*point && *point != UINT16_MAX)
            rc = claim(fd, *point);
    }
    return rc == PVMC_EEXISTS ? PVMC_ELIMIT : rc;
}

/* Options that only improve speed may fail. */
static void tune(int fd)
{
    int on = 1, bytes = SEND_BUFFER_BYTES;
    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes))
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

static int prepare(int fd, const struct dpi_interface *interface, uint16_t ethertype, struct dpi_point *point)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ethertype), .sll_ifindex = interface->index};
    int on = 1, rc = shut(fd);
    if (rc)
        return rc;
    tune(fd);
    if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) ||
        bind(fd, (struct sockaddr *)&address, sizeof address))
        return PVMC_ESYSTEM;
    rc = point->point ? claim(fd, point->point) : claim_any(fd, &point->point);
    return rc ? rc : attach_filter(fd, ethertype, *point);
}

/* Protocol 0: nothing is received before the filter is set. */
int dpi_socket_open(const struct dpi_interface *interface, uint16_t ethertype, struct dpi_point *point)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno == EPERM ? PVMC_EDENIED : errno == EAFNOSUPPORT ? PVMC_EUNSUPPORTED : PVMC_ELIMIT;
    int rc = prepare(fd, interface, ethertype, point);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}
