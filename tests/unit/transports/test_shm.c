/*
 * test_shm.c - shared-memory links whose peers break the rules, keep references, or die. tests/conform covers the rest.
 */
#include "core/error.h"
#include "core/log.h"
#include "transports/shm/link.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/unit.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct side {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    int done, down, reason;
    bool keep;
    struct pvmc_mem *kept[64];
    unsigned kept_count;
    uint8_t *place;
    size_t length; /* of the last frame */
};

static const struct pvmt_transport_ops *ops;
static struct side a, b;

static uint8_t *on_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct side *s = arg;
    (void)ep;
    s->place = realloc(s->place, h->length + 1ul);
    return s->place;
}

static void on_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct side *s = arg;
    (void)ep;
    s->done++;
    s->length = h->length;
}

static int on_whole(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                    const uint8_t *data)
{
    struct side *s = arg;
    memcpy(on_place(arg, ep, h), data, h->length);
    on_done(arg, ep, h);
    if (mem && s->keep)
        s->kept[s->kept_count++] = mem;
    else
        pvmc_mem_unref(mem);
    return 0;
}

static void on_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg;
    (void)ep;
}

static void on_down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    struct side *s = arg;
    (void)ep;
    s->down++;
    s->reason = reason;
}

static const struct pvmt_callbacks callbacks = {
    .rx_place = on_place, .rx_done = on_done, .rx_whole = on_whole, .tx_ready = on_ready, .down = on_down};

static struct pvmt_shm_link *link_of(const struct side *s)
{
    return (struct pvmt_shm_link *)s->ep;
}

static void drive(void)
{
    for (int i = 0; i < 20; i++) {
        ops->arm(a.transport); /* so that the sockets are polled */
        ops->arm(b.transport);
        ops->progress(a.transport);
        ops->progress(b.transport);
    }
}

static void meet(void)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    ck_assert_int_gt(length, 0);
    ck_assert_int_eq(ops->join(b.transport, blob, (size_t)length, fd, &b, reply, &b.ep), 0);
    drive();
    ck_assert_int_eq(link_of(&a)->state, PVMT_LINK_UP);
}

static void start(void)
{
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    unit_log_start();
    ops = pvmt_transport_find("shm");
    ck_assert_int_eq(pvmc_mem_use_arenas(), 0);
    ck_assert_int_eq(ops->open(NULL, &callbacks, &a, &a.transport), 0);
    ck_assert_int_eq(ops->open(NULL, &callbacks, &b, &b.transport), 0);
    meet();
}

static void part(void)
{
    ops->disconnect(a.ep);
    ops->disconnect(b.ep);
    a.ep = b.ep = NULL;
    a.down = b.down = a.done = b.done = 0;
}

static void finish(void)
{
    size_t in_use, cached;
    ops->close(a.transport);
    ops->close(b.transport);
    free(a.place);
    free(b.place);
    pvmc_mem_trim();
    pvmc_mem_usage(&in_use, &cached);
    ck_assert_uint_eq(in_use, 0);
}

static struct pvmc_frame *frame_make(uint32_t length, uint8_t value)
{
    struct pvmc_frame_header h = {.length = length, .body_length = length, .dst = 1, .src = 2};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    memset(f->mem->data, value, length);
    return f;
}

static int send_bytes(struct side *s, uint32_t length, uint8_t value)
{
    struct pvmc_frame *f = frame_make(length, value);
    int rc = ops->send(s->ep, f);
    pvmc_frame_unref(f);
    return rc;
}

/* ---- peers that break the rules ---- */

/* Publishes the contents of the cell at the head of a's ring as a record. */
static void publish(enum pvmw_record kind, uint32_t cells, uint32_t length)
{
    struct pvmt_shm_link *l = link_of(&a);
    struct pvmw_long_cell *cell = pvmw_ring_reserve(&l->tx, cells);
    cell->word = pvmw_ring_finish(&l->tx, kind, cells, length);
}

static void expect_failed(void)
{
    drive();
    ck_assert_int_eq(b.down, 1);
    ck_assert_int_eq(b.reason, PVMC_EFORMAT);
    ck_assert_int_eq(unit_log.level, PVMC_LOG_ERROR);
    ck_assert_int_eq(send_bytes(&b, 8, 0), PVMC_EDOWN);
}

START_TEST(malformed_records_end_the_link)
{
    static const struct {
        enum pvmw_record kind;
        uint32_t length;
        struct pvmw_long_cell cell;
        uint64_t second[8];
    } wrong[] = {
        {.kind = 0},
        {.kind = 15},
        {.kind = PVMW_RECORD_WHOLE, .length = PVMW_RECORD_BYTES_MAX},
        {.kind = PVMW_RECORD_CHUNK, .length = 8},
        {.kind = PVMW_RECORD_FRAME, .length = 9, .cell = {.length = 8, .body_length = 8}},
        {.kind = PVMW_RECORD_FRAME, .length = 8, .cell = {.length = 8, .body_length = 4}},
        {.kind = PVMW_RECORD_FRAME, .length = 8, .cell = {.length = 8, .body_length = 9, .offset = 2}},
        {.kind = PVMW_RECORD_FRAME, .length = 8, .cell = {.length = 8, .body_length = 9, .offset = UINT64_MAX}},
        {.kind = PVMW_RECORD_FRAME, .cell = {.length = UINT32_MAX, .body_length = UINT64_MAX}},
        {.kind = PVMW_RECORD_FRAME, .cell = {.body_length = 8}},
        {.kind = PVMW_RECORD_FRAME, .cell = {.flags = 0x80}},
        {.kind = PVMW_RECORD_FRAME, .cell = {.flags = PVMC_FRAME_FD}},
        {.kind = PVMW_RECORD_FRAME, .length = 8, .cell = {.flags = PVMC_FRAME_ABORT, .length = 8, .body_length = 8}},
        {.kind = PVMW_RECORD_REFERENCE, .length = 8, .cell = {.length = 8, .body_length = 8}},
        {.kind = PVMW_RECORD_REFERENCE, .length = 16, .cell = {.length = 0, .body_length = 0}},
    };
    start();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pvmw_long_cell *cell = pvmw_ring_reserve(&link_of(&a)->tx, 8);
        *cell = wrong[i].cell;
        memcpy(cell + 1, wrong[i].second, sizeof wrong[i].second);
        publish(wrong[i].kind, 8, wrong[i].length);
        expect_failed();
        part();
        meet();
    }
    part();
    finish();
}
END_TEST

START_TEST(references_stay_in_their_arena)
{
    static const uint64_t offsets[] = {UINT64_MAX, (1ull << 30) - 7, 1ull << 30, 1ull << 63};
    start();
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        ck_assert_int_eq(send_bytes(&a, 100000, 1), 0);
        drive();
        ck_assert_int_eq(b.done, 1);
        struct pvmw_long_cell *cell = pvmw_ring_reserve(&link_of(&a)->tx, 2);
        *cell = (struct pvmw_long_cell){.length = 8, .body_length = 8};
        struct pvmt_reference r = {.offset = offsets[i], .arena = link_of(&a)->lending.sent[0]};
        memcpy(cell + 1, &r, sizeof r);
        publish(PVMW_RECORD_REFERENCE, 2, sizeof r);
        expect_failed();
        part();
        meet();
    }
    part();
    finish();
}
END_TEST

START_TEST(unknown_arenas_end_the_link)
{
    start();
    struct pvmw_long_cell *cell = pvmw_ring_reserve(&link_of(&a)->tx, 2);
    *cell = (struct pvmw_long_cell){.length = 8, .body_length = 8};
    struct pvmt_reference r = {.arena = 77};
    memcpy(cell + 1, &r, sizeof r);
    publish(PVMW_RECORD_REFERENCE, 2, sizeof r);
    drive();
    ck_assert_int_eq(b.down, 1);
    part();
    finish();
}
END_TEST

static unsigned mappings_of(const char *name)
{
    char line[512];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, name) != NULL;
    fclose(maps);
    return count;
}

/* The sender's memory goes back whenever it is idle for a while. */
START_TEST(gone_arenas_are_unmapped)
{
    start();
    for (int i = 1; i <= 10; i++) {
        pvmc_mem_trim();
        ck_assert_int_eq(send_bytes(&a, 100000, 1), 0);
        drive();
        ck_assert_int_eq(b.done, i);
        ck_assert_uint_le(mappings_of("memfd:pvm-messages"), 4);
        ck_assert_uint_le(link_of(&a)->lending.sent_count, 2);
    }
    ck_assert_int_eq(b.down, 0);
    part();
    finish();
}
END_TEST

/* Correctly sealed; but the system may have no page for it when it is read, which would raise a signal. */
START_TEST(memory_of_huge_pages_is_not_taken)
{
    struct pvmc_mem_arena huge = {.bytes = 2 << 20};
    huge.fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
    if (huge.fd < 0 || ftruncate(huge.fd, (off_t)huge.bytes))
        return; /* this kernel has no pages of that size */
    ck_assert_int_eq(fcntl(huge.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    start();
    ck_assert_int_eq(pvmt_shm_link_send_arena(link_of(&a), 77, &huge), 0);
    struct pvmw_long_cell *cell = pvmw_ring_reserve(&link_of(&a)->tx, 2);
    *cell = (struct pvmw_long_cell){.length = 8, .body_length = 8};
    struct pvmt_reference r = {.arena = 77};
    memcpy(cell + 1, &r, sizeof r);
    publish(PVMW_RECORD_REFERENCE, 2, sizeof r);
    drive();
    ck_assert_int_eq(b.done, 0);
    ck_assert_int_eq(b.down, 1);
    close(huge.fd);
    part();
    finish();
}
END_TEST

/* The peer's counts of what it has received and returned. */
START_TEST(impossible_answers_end_the_link)
{
    for (int i = 0; i < 3; i++) {
        start();
        ck_assert_int_eq(send_bytes(&a, 100000, 1), 0);
        b.keep = true;
        drive();
        struct pvmt_shm_side *theirs = link_of(&a)->theirs;
        if (i == 0)
            theirs->returned = 2;
        if (i == 1)
            theirs->returns[0] = 77, theirs->returned = 1;
        if (i == 2)
            theirs->returns[0] = UINT32_MAX, theirs->returned = 1;
        drive();
        ck_assert_int_eq(a.down, 1);
        ck_assert_int_eq(a.reason, PVMC_EFORMAT);
        while (b.kept_count)
            pvmc_mem_unref(b.kept[--b.kept_count]);
        part();
        finish();
    }
    start();
    link_of(&a)->theirs->taken = 1ull << 40;
    int rc = 0;
    for (int i = 0; i < 10000 && !rc; i++)
        rc = send_bytes(&a, 8, 1);
    ck_assert_int_eq(rc, PVMC_EDOWN);
    drive();
    ck_assert_int_eq(a.reason, PVMC_EFORMAT);
    part();
    finish();
}
END_TEST

/* Any bytes in any cell: the result is an error code or a frame, never a crash. */
START_TEST(random_cells_do_no_harm)
{
    unsigned seed = 12345;
    start();
    for (int round = 0; round < 1500; round++) {
        struct pvmt_shm_link *l = link_of(&a);
        for (int record = 0; record < 4; record++) {
            uint32_t cells = 1 + rand_r(&seed) % 8;
            uint8_t *cell = pvmw_ring_reserve(&l->tx, cells);
            ck_assert_ptr_nonnull(cell);
            for (uint32_t i = 0; i < cells * PVMW_CELL_BYTES; i++)
                cell[i] = rand_r(&seed) % 3 ? 0 : (uint8_t)rand_r(&seed);
            publish((enum pvmw_record)(rand_r(&seed) % 7), cells, rand_r(&seed) % (cells * 80));
        }
        drive();
        if (b.down || round % 10 == 0) {
            part();
            meet();
        }
    }
    part();
    finish();
}
END_TEST

/* ---- references ---- */

START_TEST(references_come_back_in_any_order)
{
    start();
    b.keep = true;
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(send_bytes(&a, 100000, (uint8_t)i), 0);
    drive();
    ck_assert_int_eq(b.done, 40);
    ck_assert_uint_eq(link_of(&a)->lending.count, 40);
    for (unsigned i = 0; i < 40; i++) {
        unsigned k = i * 7 % 40;
        ck_assert_uint_eq(b.kept[k]->data[99999], k);
        pvmc_mem_unref(b.kept[k]);
        drive();
        ck_assert_uint_eq(link_of(&a)->lending.count, 39 - i);
    }
    b.kept_count = 0;
    part();
    finish();
}
END_TEST

/* A receiver that holds the maximum of references gets copies. */
START_TEST(more_than_can_be_lent)
{
    start();
    int sent = 0;
    for (; sent < PVMT_REFERENCES_MAX + 300; sent++) {
        int rc = send_bytes(&a, PVMT_SHM_WHOLE_MAX + 1, (uint8_t)sent);
        if (rc == PVMC_EAGAIN)
            break;
        ck_assert_int_eq(rc, 0);
    }
    ck_assert_int_ge(sent, PVMT_REFERENCES_MAX);
    ck_assert_uint_eq(link_of(&a)->lending.count, PVMT_REFERENCES_MAX);
    for (int i = 0; i < 50; i++)
        drive();
    ck_assert_int_eq(b.done, sent);
    ck_assert_uint_eq(link_of(&a)->lending.count, 0);
    part();
    finish();
}
END_TEST

/* The program may wait for its peer elsewhere, so a send waits only where it has to. */
START_TEST(a_full_ring_keeps_no_medium_message_waiting)
{
    start();
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(send_bytes(&a, PVMT_SHM_WHOLE_MAX, (uint8_t)i), 0);
    ck_assert_uint_gt(link_of(&a)->lending.count, 0);
    ck_assert_uint_lt(link_of(&a)->lending.count, 100);
    for (int i = 0; i < 50; i++)
        drive();
    ck_assert_int_eq(b.done, 100);
    part();
    finish();
}
END_TEST

START_TEST(untaken_bytes_are_bounded)
{
    setenv("PVM_SHM_PENDING", "1M", 1);
    start();
    int sent = 0;
    while (send_bytes(&a, 100000, 1) == 0)
        sent++;
    ck_assert_int_eq(sent, 10);
    drive();
    ck_assert_int_eq(b.done, 10);
    ck_assert_int_eq(send_bytes(&a, 5000000, 1), 0); /* a single one above the limit */
    drive();
    ck_assert_int_eq(b.done, 11);
    part();
    finish();
}
END_TEST

START_TEST(a_dead_peer_returns_everything)
{
    start();
    part();
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep), status;
    pid_t pid = fork();
    if (!pid) {
        pvmc_mem_after_fork();
        ops->close(a.transport);
        b.keep = true;
        if (ops->join(b.transport, blob, (size_t)length, fd, &b, reply, &b.ep))
            _exit(1);
        while (b.done < 10)
            ops->progress(b.transport);
        raise(SIGKILL);
    }
    close(fd);
    for (int i = 0; i < 10;) {
        int rc = send_bytes(&a, 300000, (uint8_t)i);
        i += rc == 0;
        ops->progress(a.transport);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    for (int i = 0; i < 1000 && !a.down; i++)
        drive();
    ck_assert_int_eq(a.down, 1);
    ck_assert_int_eq(a.reason, PVMC_EDOWN);
    ck_assert_uint_eq(link_of(&a)->lending.count, 0);
    size_t in_use, cached;
    pvmc_mem_usage(&in_use, &cached);
    ck_assert_uint_eq(in_use, 0);
    ops->disconnect(a.ep);
    finish();
}
END_TEST

/* The peer's end of the socket arrived in a message, of which the sender or the daemon may still have a copy. */
START_TEST(a_freed_link_is_not_heard_of_again)
{
    start();
    int copy = dup(link_of(&b)->socket);
    ck_assert_int_ge(copy, 0);
    ops->disconnect(b.ep);
    ops->progress(b.transport);
    struct epoll_event event;
    ck_assert_int_eq(send(link_of(&a)->socket, "", 1, MSG_NOSIGNAL), 1);
    ck_assert_int_eq(epoll_wait(ops->fd(b.transport), &event, 1, 0), 0);
    ops->disconnect(a.ep);
    close(copy);
    finish();
}
END_TEST

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

/* The last descriptor is for an arena; without one for the bell, a byte wakes. */
START_TEST(a_bell_does_not_take_the_last_descriptor)
{
    struct rlimit limit, few;
    ssize_t bytes;
    start();
    part();
    drive();
    struct pvmc_frame *f = frame_make(100000, 9); /* in an arena, whose descriptor a has not yet */
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    ck_assert_int_gt(length, 0);
    ck_assert_int_eq(ops->join(b.transport, blob, (size_t)length, fd, &b, reply, &b.ep), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = limit;
    few.rlim_cur = 64;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (dup(0) >= 0)
        ; /* tests run in processes of their own: nobody closes these */
    drive();
    ck_assert_int_eq(link_of(&a)->bell, -1);
    ck_assert_int_eq(link_of(&b)->bell, -1);
    ck_assert(wakes(&bytes));
    ck_assert_int_eq(ops->send(b.ep, f), 0);
    pvmc_frame_unref(f);
    drive();
    ck_assert_uint_eq(a.length, 100000);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    part();
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

enum { PACKET_HELLO = 1, PACKET_ARENA, PACKET_CLOSED, PACKET_BELL, PACKET_UNKNOWN };

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

/* ---- in-place data ---- */

START_TEST(data_in_place_goes_through_the_ring)
{
    static uint8_t data[3000000];
    start();
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7 + i / 251);
    struct pvmc_frame_header h = {.length = sizeof data, .body_length = sizeof data};
    struct pvmc_frame *f = pvmc_frame_new(&h, NULL);
    pvmc_frame_add_piece(f, data, 1000);
    pvmc_frame_add_piece(f, data + 1000, 1);
    pvmc_frame_add_piece(f, data + 1001, sizeof data - 1001);
    ck_assert_int_eq(ops->send(a.ep, f), 0);
    ck_assert_uint_eq(ops->pending(a.ep), 1);
    for (int i = 0; i < 50; i++)
        drive();
    ck_assert_uint_eq(ops->pending(a.ep), 0);
    ck_assert_uint_eq(f->refs, 1);
    ck_assert_int_eq(b.done, 1);
    ck_assert_int_eq(memcmp(b.place, data, sizeof data), 0);
    pvmc_frame_unref(f);
    part();
    finish();
}
END_TEST

static int send_unframed(uint32_t length, uint8_t value)
{
    uint8_t data[100];
    struct pvmc_envelope e = {.dst = 1, .src = 2};
    memset(data, value, sizeof data);
    int rc = ops->send_whole(a.ep, &e, 5, data, length);
    memset(data, 0, sizeof data); /* it has been copied */
    return rc;
}

START_TEST(small_messages_need_no_frame)
{
    int sent = 0;
    start();
    for (uint32_t length = 1; length <= 100; length++) {
        ck_assert_int_eq(send_unframed(length, (uint8_t)length), 0);
        drive();
        ck_assert_int_eq(b.done, (int)length);
        ck_assert_uint_eq(b.length, length);
        for (uint32_t i = 0; i < length; i++)
            ck_assert_uint_eq(b.place[i], length);
    }
    while (!send_unframed(8, 7))
        ck_assert_int_lt(++sent, 1 << 20);
    ck_assert_int_eq(send_unframed(8, 7), PVMC_EAGAIN);
    while (b.done < 100 + sent)
        drive();
    drive();
    ck_assert_int_eq(b.done, 100 + sent);
    ck_assert_int_eq(send_unframed(8, 7), 0);
    struct pvmc_envelope e = {.dst = 1, .src = 2};
    ck_assert_int_eq(ops->send_whole(a.ep, &e, 0, NULL, 1 << 20), PVMC_EUNSUPPORTED);
    ops->disconnect(b.ep);
    drive();
    ck_assert_int_eq(send_unframed(8, 7), PVMC_EUNSUPPORTED);
    ck_assert_int_eq(send_bytes(&a, 8, 7), PVMC_EDOWN);
    ops->disconnect(a.ep);
    finish();
}
END_TEST

static bool peek_at_b(struct pvmt_whole *w)
{
    return ops->peek_whole(b.ep, w);
}

START_TEST(a_receive_takes_messages_without_callbacks)
{
    struct pvmt_whole w;
    start();
    drive();
    ck_assert(!peek_at_b(&w));
    for (uint32_t length = 1; length <= 100; length++) {
        ck_assert_int_eq(send_unframed(length, (uint8_t)length), 0);
        ck_assert(peek_at_b(&w));
        ck_assert_uint_eq(w.length, length);
        ck_assert_uint_eq(w.seq, 5);
        ck_assert_uint_eq(w.envelope.src, 2);
        for (uint32_t i = 0; i < length; i++)
            ck_assert_uint_eq(w.data[i], length);
        ops->take_whole(b.ep, w.length);
        ck_assert(!peek_at_b(&w));
    }
    drive();
    ck_assert_int_eq(b.done, 0);
    /* what is not taken stays */
    ck_assert_int_eq(send_unframed(8, 7), 0);
    ck_assert(peek_at_b(&w));
    drive();
    ck_assert_int_eq(b.done, 1);
    ck_assert(!peek_at_b(&w));
    finish();
}
END_TEST

START_TEST(taken_messages_make_room)
{
    struct pvmt_whole w;
    int taken = 0;
    start();
    drive();
    for (int lap = 0; lap < 5; lap++) {
        int sent = 0;
        while (!send_unframed(100, 7))
            ck_assert_int_lt(++sent, 1 << 20);
        ck_assert_int_gt(sent, 0);
        for (taken = 0; peek_at_b(&w); taken++)
            ops->take_whole(b.ep, w.length);
        ck_assert_int_eq(taken, sent);
        drive(); /* the refused sender is ready again */
    }
    finish();
}
END_TEST

START_TEST(other_frames_are_not_for_taking)
{
    struct pvmt_whole w;
    start();
    drive();
    struct pvmc_frame *empty = pvmc_frame_new(&(struct pvmc_frame_header){.dst = 1, .src = 2}, NULL);
    ck_assert_int_eq(ops->send(a.ep, empty), 0);
    pvmc_frame_unref(empty);
    ck_assert(!peek_at_b(&w));
    drive();
    ck_assert_int_eq(send_bytes(&a, 100000, 7), 0);
    ck_assert(!peek_at_b(&w));
    drive();
    ck_assert_int_eq(b.done, 2);
    /* while a bell is set, progress() must come first */
    ck_assert_int_eq(ops->arm(b.ep->transport), 0);
    ck_assert_int_eq(send_unframed(8, 7), 0);
    ck_assert(!peek_at_b(&w));
    drive();
    ck_assert_int_eq(b.done, 3);
    ck_assert_int_eq(send_unframed(8, 7), 0);
    ck_assert(peek_at_b(&w));
    finish();
}
END_TEST

UNIT_MAIN("shm", malformed_records_end_the_link, references_stay_in_their_arena, unknown_arenas_end_the_link,
          gone_arenas_are_unmapped, memory_of_huge_pages_is_not_taken, impossible_answers_end_the_link,
          random_cells_do_no_harm, references_come_back_in_any_order, more_than_can_be_lent,
          a_full_ring_keeps_no_medium_message_waiting, untaken_bytes_are_bounded, a_dead_peer_returns_everything,
          a_freed_link_is_not_heard_of_again, a_sleeper_is_woken_by_its_bell, without_a_bell_a_byte_wakes,
          a_bell_does_not_take_the_last_descriptor, other_formats_are_not_joined,
          descriptors_that_nobody_wants_are_closed, descriptors_at_the_end_are_closed,
          memory_that_is_too_large_costs_few_descriptors, an_offer_with_too_many_descriptors_leaves_none,
          data_in_place_goes_through_the_ring, small_messages_need_no_frame, a_receive_takes_messages_without_callbacks,
          taken_messages_make_room, other_frames_are_not_for_taking)
