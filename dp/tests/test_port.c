/*
 * test_port.c - raw sockets and their rings: two ports at the ends of a veth pair, in a network namespace of the test's
 * own. Real frames. Needs root; skipped (exit code 77) without.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "core/error.h"
#include "dp/src/frames/port.h"
#include "unit.h"

static struct dpi_port a, b;
static const struct dpi_point point_a = {1, 100}, point_b = {2, 200};

static void make_wire(int mtu)
{
    char command[200];
    ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
    snprintf(command, sizeof command,
             "ip link add v0 mtu %d type veth peer name v1 mtu %d && ip link set v0 up && ip link set v1 up", mtu, mtu);
    ck_assert_int_eq(system(command), 0);
}

static void open_port(struct dpi_port *p, const char *name, struct dpi_point point, unsigned frames)
{
    struct dpi_interface interface;
    ck_assert_int_eq(dpi_interface_find(name, &interface), 0);
    int fd = dpi_socket_open(&interface, DPI_ETHERTYPE, &point);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(dpi_port_open(p, fd, &interface, DPI_ETHERTYPE, point, frames), 0);
}

static void start(int mtu, unsigned frames)
{
    make_wire(mtu);
    open_port(&a, "v0", point_a, frames);
    open_port(&b, "v1", point_b, frames);
}

static void finish(void)
{
    dpi_port_close(&a);
    dpi_port_close(&b);
}

static int send_to(struct dpi_port *p, const struct dpi_port *peer, struct dpi_point to, const void *data,
                   size_t length)
{
    struct dpi_message m = {.kind = DPI_DATA, .to = to, .from = p->point, .length = (uint16_t)length};
    struct iovec pieces[2] = {{(void *)data, length / 3}, {(uint8_t *)data + length / 3, length - length / 3}};
    return dpi_port_send(p, &m, peer->interface.hardware, pieces, 2);
}

static bool is_readable(const struct dpi_port *p)
{
    struct pollfd fd = {.fd = p->fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

static const uint8_t *take(struct dpi_port *p, struct dpi_message *m)
{
    size_t length;
    const uint8_t *frame = dpi_port_next(p, &length);
    if (frame)
        ck_assert_int_eq(dpi_message_decode(frame, length, m), 0);
    return frame;
}

static void check_sizes(int mtu)
{
    static uint8_t data[65536];
    struct dpi_message m;
    start(mtu, 64);
    int room = dpi_port_room(&a);
    ck_assert_int_eq(room, mtu - DPI_MESSAGE_BYTES);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7 + i / 255);
    int step = room > 10000 ? 997 : 1;
    for (int length = 0; length <= room; length += step > room - length && length < room ? room - length : step) {
        ck_assert_int_eq(send_to(&a, &b, point_b, data, (size_t)length), 0);
        const uint8_t *frame = take(&b, &m);
        ck_assert_ptr_nonnull(frame);
        ck_assert_uint_eq(m.length, (unsigned)length);
        ck_assert_uint_eq(m.from.node, point_a.node);
        ck_assert_uint_eq(m.from.point, point_a.point);
        ck_assert_mem_eq(frame + DPI_HEADERS_BYTES, data, (size_t)length);
        dpi_port_give_back(&b, 1);
    }
    ck_assert_int_eq(send_to(&a, &b, point_b, data, (size_t)room + 1), PVMC_ELIMIT);
    finish();
}

START_TEST(every_size_arrives_1500)
{
    check_sizes(1500);
}
END_TEST

START_TEST(every_size_arrives_65535)
{
    check_sizes(65535);
}
END_TEST

START_TEST(only_our_frames_come)
{
    start(1500, 64);
    const struct dpi_point other_point = {2, 201}, other_node = {3, 200}, whole_node = {2, 0};
    struct dpi_message m;
    ck_assert_int_eq(send_to(&a, &b, other_point, "x", 1), 0);
    ck_assert_int_eq(send_to(&a, &b, other_node, "x", 1), 0);
    a.ethertype = DPI_ETHERTYPE + 1;
    ck_assert_int_eq(send_to(&a, &b, point_b, "x", 1), 0);
    a.ethertype = DPI_ETHERTYPE;
    ck_assert(!is_readable(&b));
    ck_assert_ptr_null(take(&b, &m));
    ck_assert_int_eq(send_to(&a, &b, whole_node, "x", 1), 0);
    ck_assert(is_readable(&b));
    ck_assert_ptr_nonnull(take(&b, &m));
    ck_assert(!is_readable(&a)); /* own frames do not come back */
    struct sock_fprog {
        unsigned short length;
        void *filter;
    } none = {0, NULL};
    ck_assert_int_eq(setsockopt(b.fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none), -1);
    ck_assert_int_eq(errno, EPERM);
    finish();
}
END_TEST

/* A reader that holds all slots loses later frames, learns how many, and continues. */
START_TEST(a_full_ring_drops)
{
    start(1500, 64);
    struct dpi_message m;
    unsigned slots = b.frames;
    for (unsigned i = 0; i < slots + 10; i++)
        ck_assert_int_eq(send_to(&a, &b, point_b, &i, sizeof i), 0);
    for (unsigned i = 0, value; i < slots; i++) {
        const uint8_t *frame = take(&b, &m);
        ck_assert_ptr_nonnull(frame);
        memcpy(&value, frame + DPI_HEADERS_BYTES, sizeof value);
        ck_assert_uint_eq(value, i);
    }
    ck_assert_ptr_null(take(&b, &m));
    ck_assert_uint_eq(dpi_port_dropped(&b), 10);
    dpi_port_give_back(&b, slots);
    ck_assert(!is_readable(&b));
    for (unsigned round = 0; round < 3 * slots; round++) {
        ck_assert_int_eq(send_to(&a, &b, point_b, &round, sizeof round), 0);
        ck_assert_ptr_nonnull(take(&b, &m));
        dpi_port_give_back(&b, 1);
    }
    ck_assert_uint_eq(dpi_port_dropped(&b), 0);
    finish();
}
END_TEST

START_TEST(an_interface_goes_down)
{
    start(1500, 64);
    ck_assert_int_eq(system("ip link set v0 down"), 0);
    ck_assert_int_eq(send_to(&a, &b, point_b, "x", 1), PVMC_EDOWN);
    ck_assert_int_eq(system("ip link del v0"), 0);
    ck_assert_int_eq(send_to(&a, &b, point_b, "x", 1), PVMC_EDOWN);
    finish();
}
END_TEST

START_TEST(interfaces_are_found)
{
    struct dpi_interface interface;
    ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
    ck_assert_int_eq(dpi_interface_find(NULL, &interface), PVMC_ENOTFOUND);
    ck_assert_int_eq(dpi_interface_find("v0", &interface), PVMC_EPARAM);
    ck_assert_int_eq(dpi_interface_find("a-name-that-is-too-long", &interface), PVMC_EPARAM);
    ck_assert_int_eq(dpi_interface_find("lo", &interface), PVMC_EUNSUPPORTED);
    make_wire(9000);
    ck_assert_int_eq(dpi_interface_find(NULL, &interface), 0);
    ck_assert_int_eq(interface.mtu, 9000);
    ck_assert_int_eq(system("ip link set v0 down"), 0);
    ck_assert_int_eq(dpi_interface_find("v0", &interface), PVMC_EUNSUPPORTED);
}
END_TEST

START_TEST(without_the_right_it_is_said)
{
    make_wire(1500);
    struct dpi_interface interface;
    ck_assert_int_eq(dpi_interface_find("v0", &interface), 0);
    ck_assert_int_eq(setgid(65534), 0);
    ck_assert_int_eq(setuid(65534), 0);
    struct dpi_point point = point_a;
    ck_assert_int_eq(dpi_socket_open(&interface, DPI_ETHERTYPE, &point), PVMC_EDENIED);
}
END_TEST

/* A point belongs to one socket, on any interface and for any node. */
START_TEST(points_have_one_owner)
{
    start(1500, 16);
    struct dpi_point point = {9, point_a.point};
    ck_assert_int_eq(dpi_socket_open(&a.interface, DPI_ETHERTYPE, &point), PVMC_EEXISTS);
    ck_assert_int_eq(dpi_socket_open(&b.interface, DPI_ETHERTYPE, &point), PVMC_EEXISTS);
    uint16_t drawn[50];
    for (int i = 0; i < 50; i++) {
        point.point = 0;
        int fd = dpi_socket_open(&b.interface, DPI_ETHERTYPE, &point);
        ck_assert_int_ge(fd, 0);
        drawn[i] = point.point;
        ck_assert_uint_ne(drawn[i], 0);
        for (int j = 0; j < i; j++)
            ck_assert_uint_ne(drawn[i], drawn[j]);
    }
    dpi_port_close(&a);
    open_port(&a, "v1", point_a, 16); /* the point is free again */
    finish();
}
END_TEST

/* The holder of a descriptor can neither leave the claim nor read other frames. */
START_TEST(claims_cannot_be_left)
{
    start(1500, 16);
    struct sockaddr_ll elsewhere = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = b.interface.index};
    struct fanout_args group = {.id = 7, .type_flags = PACKET_FANOUT_CPU};
    struct sock_filter everything[] = {BPF_STMT(BPF_RET | BPF_K, UINT32_MAX)};
    struct sock_fprog program = {1, everything};
    ck_assert_int_ne(bind(a.fd, (struct sockaddr *)&elsewhere, sizeof elsewhere), 0);
    ck_assert_int_ne(setsockopt(a.fd, SOL_PACKET, PACKET_FANOUT, &group, sizeof group), 0);
    ck_assert_int_ne(setsockopt(a.fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
    ck_assert_int_ne(setsockopt(a.fd, SOL_SOCKET, SO_DETACH_FILTER, NULL, 0), 0);
    finish();
}
END_TEST

START_TEST(interfaces_are_listed)
{
    struct dpi_interface list[4];
    make_wire(1500);
    ck_assert_int_eq(system("ip link set lo up"), 0);
    ck_assert_int_eq(dpi_interfaces("", list, 4), 3);
    ck_assert_int_eq(dpi_interfaces("", list, 2), 2);
    ck_assert_int_eq(dpi_interfaces("v0,lo", list, 4), 2);
    ck_assert_int_eq(dpi_interfaces("v, v1", list, 4), 1);
    ck_assert_str_eq(list[0].name, "v1");
    ck_assert(!list[0].loopback);
    ck_assert_int_eq(dpi_interfaces("v", list, 4), 0);
}
END_TEST

static void put_down(void *arg, const struct dpi_interface *i, const char *why_not)
{
    char *shown = arg;
    sprintf(shown + strlen(shown), "%s %d: %s\n", i->name, i->mtu, why_not ? why_not : "fine");
}

START_TEST(interfaces_are_shown)
{
    char shown[1000] = "";
    make_wire(1500);
    ck_assert_int_eq(system("ip link set v1 down; ip link set lo mtu 267 up"), 0);
    dpi_interfaces_show("v0, v1,lo,nothing,much-too-long-for-a-name", put_down, shown);
    ck_assert_ptr_nonnull(strstr(shown, "v0 1500: fine\n"));
    ck_assert_ptr_nonnull(strstr(shown, "v1 1500: it is down\n"));
    ck_assert_ptr_nonnull(strstr(shown, "lo 267: its MTU is below 268\n"));
    ck_assert_ptr_nonnull(strstr(shown, "nothing 0: there is no such interface\n"));
    ck_assert_ptr_nonnull(strstr(shown, "much-too-long-f 0: there is no such interface\n"));
    shown[0] = '\0';
    dpi_interfaces_show("v1", put_down, shown);
    ck_assert_ptr_nonnull(strstr(shown, "v0 1500: it is not among those to be used\n"));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        every_size_arrives_1500, every_size_arrives_65535, only_our_frames_come,         a_full_ring_drops,
        an_interface_goes_down,  interfaces_are_found,     without_the_right_it_is_said, points_have_one_owner,
        claims_cannot_be_left,   interfaces_are_listed,    interfaces_are_shown};
    if (geteuid()) {
        puts("NOT RUN: raw sockets and network namespaces need root");
        return 77;
    }
    return unit_run("dp_port", tests, sizeof tests / sizeof tests[0]);
}
