/*
 * test_shm.c - shared-memory links whose peers break the rules, keep references, or die. tests/conform covers the rest.
 */
#include "shm_sides.h"
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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
        uint32_t *their_returns = link_of(&b)->my_returns;
        if (i == 0)
            theirs->returned = 2;
        if (i == 1)
            their_returns[0] = 77, theirs->returned = 1;
        if (i == 2)
            their_returns[0] = UINT32_MAX, theirs->returned = 1;
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

/* The end of the mapping that contains that byte. */
static uintptr_t end_of_mapping(const void *at)
{
    char line[512];
    unsigned long begin, end, found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && begin <= (uintptr_t)at && (uintptr_t)at < end)
            found = end;
    fclose(maps);
    return found;
}

/* A ring is mapped once. What a record claims behind the end of it can be read, whatever is there. */
START_TEST(a_record_that_crosses_the_end_does_no_harm)
{
    for (int i = 0; i < 2; i++) {
        start();
        struct pvmw_ring_tx *tx = &link_of(&a)->tx;
        while ((tx->head & tx->mask) != tx->mask)
            if (send_bytes(&a, 8, 1))
                drive();
        while (link_of(&b)->rx.position < tx->head)
            drive();
        int done = b.done;
        size_t ring_bytes = link_of(&a)->ring_bytes;
        ck_assert_uint_ge(end_of_mapping(link_of(&b)->rx.cells), (uintptr_t)link_of(&b)->rx.cells + ring_bytes * 3 / 2);
        uint32_t bytes = i ? (uint32_t)(ring_bytes / 2) : link_of(&a)->whole_max;
        struct pvmw_long_cell *cell = (void *)tx->next;
        *cell = (struct pvmw_long_cell){.length = bytes, .body_length = bytes};
        cell->word = pvmw_ring_finish(tx, i ? PVMW_RECORD_FRAME : PVMW_RECORD_WHOLE, 1, bytes);
        drive();
        ck_assert_int_eq(b.done, done + 1);
        ck_assert_uint_eq(b.length, bytes);
        part();
        finish();
    }
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
          a_record_that_crosses_the_end_does_no_harm, random_cells_do_no_harm, references_come_back_in_any_order,
          more_than_can_be_lent, a_full_ring_keeps_no_medium_message_waiting, untaken_bytes_are_bounded,
          a_dead_peer_returns_everything, a_freed_link_is_not_heard_of_again, data_in_place_goes_through_the_ring,
          small_messages_need_no_frame, a_receive_takes_messages_without_callbacks, taken_messages_make_room,
          other_frames_are_not_for_taking)
