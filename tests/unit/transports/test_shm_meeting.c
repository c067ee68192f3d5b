/*
 * test_shm_meeting.c - how two tasks make a shared-memory link: what they tell each other, the descriptors they pass,
 * and how they wake each other then.
 */
#include "shm_sides.h"
#include "tests/unit/descriptors.h"
#include "wire/rights.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- waking ---- */

/* Whether a, which sleeps, is woken by a message from b, and what b has written to the socket for that. */
static bool wakes(ssize_t *bytes)
{
    struct epoll_event event;
    char byte;
    int before = a.done;
    ck_assert_int_eq(ops->arm(a.transport), 0);
    ck_assert_int_eq(epoll_wait(ops->fd(a.transport), &event, 1, 0), 0);
    ck_assert_int_eq(send_bytes(&b, 8, 7), 0);
    struct pollfd fd = {.fd = ops->fd(a.transport), .events = POLLIN};
    bool woken = poll(&fd, 1, 0) == 1;
    *bytes = recv(link_of(&a)->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    drive();
    ck_assert_int_eq(a.done, before + 1);
    return woken;
}

START_TEST(a_sleeper_is_woken_by_its_bell)
{
    ssize_t bytes;
    start();
    for (int i = 0; i < 3; i++) {
        ck_assert(wakes(&bytes));
        ck_assert_int_lt(bytes, 0);
    }
    part();
    finish();
}
END_TEST

START_TEST(without_a_bell_a_byte_wakes)
{
    ssize_t bytes;
    start();
    close(link_of(&b)->bell);
    link_of(&b)->bell = -1;
    for (int i = 0; i < 3; i++) {
        ck_assert(wakes(&bytes));
        ck_assert_int_eq(bytes, 1);
    }
    part();
    finish();
}
END_TEST

static void limit_descriptors(rlim_t count)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = count;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* The last descriptor is for an arena; without one for the bell, a byte wakes. */
START_TEST(a_bell_does_not_take_the_last_descriptor)
{
    struct rlimit limit;
    ssize_t bytes;
    start();
    part();
    drive();
    struct pvmc_frame *f = frame_make(100000, 9); /* in an arena, whose descriptor a has not yet */
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    ck_assert_int_gt(length, 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit_descriptors(64);
    while (dup(0) >= 0)
        ; /* tests run in processes of their own: nobody closes these */
    ck_assert_int_eq(ops->join(b.transport, blob, (size_t)length, fd, &b, reply, &b.ep), 0);
    drive();
    ck_assert_int_eq(link_of(&a)->state, PVMT_LINK_UP);
    ck_assert_int_eq(link_of(&a)->bell, -1);
    ck_assert_int_eq(link_of(&b)->bell, -1);
    ck_assert(wakes(&bytes));
    ck_assert_int_eq(ops->send(b.ep, f), 0);
    pvmc_frame_unref(f);
    drive();
    ck_assert_uint_eq(a.length, 100000);
    limit_descriptors(limit.rlim_cur);
    part();
    finish();
}
END_TEST

/* No packets of their own carry bells: the joining side has the other's at once, the offering side with the hello. */
START_TEST(bells_come_with_the_first_packet)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    start();
    part();
    drive();
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    ck_assert_int_gt(length, 0);
    ck_assert_int_eq(ops->join(b.transport, blob, (size_t)length, fd, &b, reply, &b.ep), 0);
    ck_assert_int_ge(link_of(&b)->bell, 0);
    pvmt_shm_link_listen(link_of(&a));
    ck_assert_int_eq(link_of(&a)->state, PVMT_LINK_UP);
    ck_assert_int_ge(link_of(&a)->bell, 0);
    char byte;
    ck_assert_int_eq(recv(link_of(&b)->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT), -1);
    part();
    finish();
}
END_TEST

/* Puts descriptors in flight until the kernel allows no more of them to users without privileges. */
static void crowd_the_kernel(int pair[2])
{
    union pvmw_rights_room room;
    struct iovec iov = {"", 1};
    limit_descriptors(64);
    ck_assert(geteuid() || !seteuid(65534));
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    ssize_t n;
    do {
        struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
        pvmw_rights_attach(&msg, &room, pair, 1);
        n = sendmsg(pair[0], &msg, MSG_DONTWAIT);
    } while (n > 0);
    ck_assert_int_eq(errno, ETOOMANYREFS);
    limit_descriptors(48); /* some of the offer's will not be in flight any more */
}

/* LeakSanitizer, which looks at the process when it ends, may not do so after a change of the user. */
static void leave_the_crowd(const int pair[2])
{
    close(pair[0]);
    close(pair[1]);
    ck_assert(getuid() || !seteuid(0));
    ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}

/* Then the peer wakes us by a byte. Before, it never learned that we had joined, and did not sleep any more. */
START_TEST(a_hello_without_a_bell_is_better_than_none)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int pair[2];
    ssize_t bytes;
    start();
    part();
    drive();
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    ck_assert_int_gt(length, 0);
    crowd_the_kernel(pair);
    ck_assert_int_eq(ops->join(b.transport, blob, (size_t)length, fd, &b, reply, &b.ep), 0);
    drive();
    ck_assert_int_eq(link_of(&a)->state, PVMT_LINK_UP);
    ck_assert_int_eq(link_of(&a)->bell, -1);
    ck_assert_int_eq(ops->arm(a.transport), 0);
    ck_assert(wakes(&bytes));
    part();
    finish();
    leave_the_crowd(pair);
}
END_TEST

/* Mapping takes most of the time of making a link. */
START_TEST(a_link_is_few_mappings)
{
    start();
    ck_assert_uint_eq(mappings_of("memfd:pvm-link"), 2); /* of both ends */
    part();
    drive();
    ck_assert_uint_eq(mappings_of("memfd:pvm-link"), 0);
    finish();
}
END_TEST

/* Its format determines the layout of a link's memory: tasks with other formats use other routes. */
START_TEST(other_formats_are_not_joined)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    start();
    part();
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    ck_assert_int_gt(length, 8);
    blob[4] ^= 1 << 2 | 1 << 3; /* the second word is the data signature */
    ck_assert_int_eq(ops->join(b.transport, blob, (size_t)length, fd, &b, reply, &b.ep), PVMC_EUNSUPPORTED);
    ck_assert_int_eq(unit_log.count, 1);
    ops->disconnect(a.ep);
    finish();
}
END_TEST

/* qemu-user has no process_vm_readv(), and loses descriptors that arrive in a message without room for them. */
static bool is_under_qemu(void)
{
    char from = 1, to = 0;
    struct iovec local = {&to, 1}, remote = {&from, 1};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 && errno == ENOSYS;
}

/* ---- descriptors ---- */

/* Like link.c. */
struct packet {
    uint32_t kind, number;
    uint64_t bytes;
};

enum { PACKET_HELLO = 1, PACKET_ARENA, PACKET_CLOSED, PACKET_GONE, PACKET_UNKNOWN };

static int sealed_memory(uint64_t bytes)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    return fd;
}

/*
 * Packets of each kind, complete and truncated, with any number of descriptors. qemu-user loses descriptors without
 * room.
 */
static void send_packets_with(int fd, uint64_t bytes)
{
    static const size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 100, DESCRIPTORS_MAX};
    size_t most = is_under_qemu() ? 2 : DESCRIPTORS_MAX;
    for (uint32_t kind = 0; kind <= PACKET_UNKNOWN; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0] && kind != PACKET_CLOSED && counts[i] <= most; i++) {
            struct packet p = {.kind = kind, .number = PVMT_SHM_VERSION, .bytes = bytes};
            send_copies(link_of(&b)->socket, &p, sizeof p, fd, counts[i]);
            send_copies(link_of(&b)->socket, &p, 1, fd, counts[i]);
            drive();
        }
}

START_TEST(descriptors_that_nobody_wants_are_closed)
{
    start();
    int unsealed = memfd_create("test", MFD_CLOEXEC), sealed = sealed_memory(4096);
    unsigned before = open_descriptors();
    send_packets_with(unsealed, 4096);
    ck_assert_uint_eq(open_descriptors(), before);
    send_packets_with(sealed, 4096);
    ck_assert_uint_eq(open_descriptors(), before);
    struct packet closed = {.kind = PACKET_CLOSED};
    send_copies(link_of(&b)->socket, &closed, sizeof closed, sealed, 2);
    drive();
    ck_assert_uint_eq(open_descriptors(), before);
    close(unsealed);
    close(sealed);
    part();
    finish();
}
END_TEST

/* A packet without bytes looks like the end of the connection. */
START_TEST(descriptors_at_the_end_are_closed)
{
    start();
    unsigned before = open_descriptors();
    send_copies(link_of(&b)->socket, NULL, 0, 0, 2);
    drive();
    ck_assert_uint_eq(open_descriptors(), before - 4); /* both ends close their socket and the other's bell */
    part();
    finish();
}
END_TEST

START_TEST(memory_that_is_too_large_costs_few_descriptors)
{
    start();
    int huge = sealed_memory(UINT64_C(1) << 48);
    unsigned before = open_descriptors();
    for (uint32_t i = 0; i < 300; i++) {
        struct packet p = {.kind = PACKET_ARENA, .number = i, .bytes = UINT64_C(1) << 48};
        send_copies(link_of(&b)->socket, &p, sizeof p, huge, 2);
        drive();
    }
    ck_assert_uint_le(open_descriptors(), before + 64);
    part();
    finish();
    ck_assert_uint_lt(open_descriptors(), before);
    close(huge);
}
END_TEST

START_TEST(an_offer_with_too_many_descriptors_leaves_none)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    start();
    part();
    unsigned before = open_descriptors();
    int pair[2], fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    for (size_t count = 0; count < 8; count++) {
        struct packet p = {.kind = PACKET_HELLO, .number = PVMT_SHM_VERSION, .bytes = 4096};
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
        send_copies(pair[0], &p, sizeof p, fd, count);
        ck_assert_int_ne(ops->join(b.transport, blob, (size_t)length, pair[1], &b, reply, &b.ep), 0);
        close(pair[0]);
    }
    close(fd);
    ops->disconnect(a.ep);
    drive();
    ck_assert_uint_eq(open_descriptors(), before);
    finish();
}
END_TEST

UNIT_MAIN("shm_meeting", a_sleeper_is_woken_by_its_bell, without_a_bell_a_byte_wakes,
          a_bell_does_not_take_the_last_descriptor, bells_come_with_the_first_packet,
          a_hello_without_a_bell_is_better_than_none, a_link_is_few_mappings, other_formats_are_not_joined,
          descriptors_that_nobody_wants_are_closed, descriptors_at_the_end_are_closed,
          memory_that_is_too_large_costs_few_descriptors, an_offer_with_too_many_descriptors_leaves_none)
