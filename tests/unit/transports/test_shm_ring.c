/*
 * test_shm_ring.c - the rings of shared-memory links: wrapping, room, words among bytes, and two threads at the ends.
 */
#include "wire/ring.h"
#include "tests/unit/unit.h"
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SHIFT = 8, CELLS = 1 << SHIFT, RING_BYTES = CELLS * PVMW_CELL_BYTES };

static uint64_t taken;
static struct pvmw_ring_tx tx;
static struct pvmw_ring_rx rx;

static void setup(void)
{
    int fd = memfd_create("ring", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(fd, RING_BYTES), 0);
    uint8_t *cells = mmap(NULL, 2 * RING_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++)
        ck_assert_ptr_ne(
            mmap(cells + i * RING_BYTES, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
            MAP_FAILED);
    close(fd);
    taken = 0;
    pvmw_ring_tx_init(&tx, cells, SHIFT, &taken);
    pvmw_ring_rx_init(&rx, cells, SHIFT, &taken);
}

/* Bytes that look like words of both laps, or random ones. */
static uint8_t pattern(uint32_t number, uint32_t i)
{
    return number % 3 ? (uint8_t)(number + i) : (uint8_t)(0x11 + number / 3 % 2);
}

/* A record of `length` bytes after its first cell. */
static bool put(uint32_t number, uint32_t length)
{
    uint32_t cells = 1 + pvmw_cells_of(length);
    uint8_t *cell = pvmw_ring_reserve(&tx, cells);
    if (!cell) {
        ck_assert(pvmw_ring_refresh(&tx));
        cell = pvmw_ring_reserve(&tx, cells);
    }
    if (!cell)
        return false;
    for (uint32_t i = 4; i < PVMW_CELL_BYTES; i++)
        cell[i] = pattern(number, i);
    for (uint32_t i = 0; i < length; i++)
        cell[PVMW_CELL_BYTES + i] = pattern(number, i);
    uint32_t word = pvmw_ring_finish(&tx, PVMW_RECORD_FRAME, cells, length);
    __atomic_store_n((uint32_t *)(void *)cell, word, __ATOMIC_RELEASE);
    if (number % 5)
        pvmw_ring_sweep(&tx, cells);
    return true;
}

static void publish_taken(void)
{
    rx.published = rx.position;
    __atomic_store_n(&taken, rx.position, __ATOMIC_RELEASE);
}

static bool get(uint32_t number, uint32_t length)
{
    uint32_t word;
    const uint8_t *cell = pvmw_ring_peek(&rx, &word);
    if (!cell)
        return false;
    ck_assert_int_eq(pvmw_word_kind(word), PVMW_RECORD_FRAME);
    ck_assert_uint_eq(pvmw_word_length(word), length);
    ck_assert(pvmw_ring_can_hold(&rx, length));
    uint32_t wrong = 0;
    for (uint32_t i = 4; i < PVMW_CELL_BYTES; i++)
        wrong += cell[i] != pattern(number, i);
    for (uint32_t i = 0; i < length; i++)
        wrong += cell[PVMW_CELL_BYTES + i] != pattern(number, i);
    ck_assert_uint_eq(wrong, 0);
    pvmw_ring_advance(&rx, 1 + pvmw_cells_of(length));
    if (pvmw_ring_lags(&rx))
        publish_taken();
    return true;
}

static uint32_t length_of(uint32_t number)
{
    uint32_t r = number * 2654435761u >> 7;
    return r % 4 ? 0 : r / 4 % (RING_BYTES / 4);
}

START_TEST(an_empty_ring_has_nothing)
{
    uint32_t word;
    setup();
    ck_assert_ptr_null(pvmw_ring_peek(&rx, &word));
    ck_assert_uint_eq(pvmw_ring_room(&tx), CELLS - 1);
    ck_assert_ptr_null(pvmw_ring_reserve(&tx, CELLS));
}
END_TEST

START_TEST(a_full_ring_takes_no_more)
{
    setup();
    uint32_t n = 0, got = 0;
    while (put(n, 0))
        n++;
    ck_assert_uint_eq(n, CELLS - 1);
    for (uint32_t i = 0; i < CELLS / 4 - 1; i++)
        ck_assert(get(got++, 0));
    ck_assert(!put(n, 0)); /* the consumer has not reported it yet */
    ck_assert(get(got++, 0));
    for (uint32_t i = 0; i < CELLS / 4; i++)
        ck_assert(put(n++, 0));
    ck_assert(!put(n, 0));
    while (got < n)
        ck_assert(get(got++, 0));
    ck_assert(!get(got, 0));
}
END_TEST

/* Many laps of mixed records, with the consumer at varying distance: no byte of one is taken for a word of another. */
START_TEST(records_come_out_as_they_went_in)
{
    uint32_t in = 0, out = 0;
    setup();
    for (int round = 0; round < 20000; round++) {
        for (int i = round / 7 % 5; i >= 0 && put(in, length_of(in)); i--)
            in++;
        for (int i = round / 3 % 6; i > 0 && out < in; i--)
            ck_assert(get(out, length_of(out))), out++;
        if (out == in)
            ck_assert(!get(out, 0));
    }
    while (out < in)
        ck_assert(get(out, length_of(out))), out++;
    ck_assert_uint_gt(rx.position, 100 * CELLS);
    ck_assert(!get(out, 0));
}
END_TEST

/* The place of a record in a ring that is mapped once, behind a record of kind SKIP if need be. NULL: no room. */
static uint8_t *reserve_before_the_end(uint32_t cells)
{
    uint8_t *cell = pvmw_ring_reserve(&tx, cells);
    if (cell)
        return cell;
    ck_assert(pvmw_ring_refresh(&tx));
    uint32_t rest = pvmw_ring_rest(&tx, cells);
    if (rest) {
        cell = tx.next;
        uint32_t word = pvmw_ring_finish(&tx, PVMW_RECORD_SKIP, rest, (rest - 1) * PVMW_CELL_BYTES);
        __atomic_store_n((uint32_t *)(void *)cell, word, __ATOMIC_RELEASE);
        ck_assert(pvmw_ring_refresh(&tx));
    }
    return pvmw_ring_reserve(&tx, cells);
}

/* Many laps in a ring that is mapped once, before memory that must not be touched. */
START_TEST(no_record_crosses_the_end)
{
    setup();
    ck_assert_int_eq(mprotect(tx.cells + RING_BYTES, RING_BYTES, PROT_NONE), 0);
    pvmw_ring_tx_stop_at_end(&tx);
    uint32_t in = 0, out = 0, skipped = 0, word;
    for (int round = 0; round < 20000; round++) {
        for (int i = round / 7 % 5; i >= 0; i--) {
            uint32_t cells = 1 + pvmw_cells_of(length_of(in));
            uint8_t *cell = reserve_before_the_end(cells);
            if (!cell)
                break;
            ck_assert(cell + cells * PVMW_CELL_BYTES <= tx.cells + RING_BYTES);
            ck_assert(put(in, length_of(in)));
            in++;
        }
        for (int i = round / 3 % 6; i > 0 && out < in; i--) {
            if (pvmw_ring_peek(&rx, &word) && pvmw_word_kind(word) == PVMW_RECORD_SKIP) {
                pvmw_ring_advance(&rx, 1 + pvmw_cells_of(pvmw_word_length(word)));
                publish_taken();
                ck_assert_uint_eq(rx.position % CELLS, 0);
                skipped++;
            }
            ck_assert(get(out, length_of(out)));
            out++;
        }
    }
    ck_assert_uint_gt(rx.position, 100 * CELLS);
    ck_assert_uint_gt(skipped, 50);
}
END_TEST

/* How many pages of the ring have memory. */
static int pages(void)
{
    unsigned char there[RING_BYTES / 4096];
    int n = 0;
    ck_assert_int_eq(mincore(tx.cells, RING_BYTES, there), 0);
    for (size_t i = 0; i < sizeof there; i++)
        n += there[i] & 1;
    return n;
}

/* In the first lap the ring gets memory for as many cells as have been used: not more, and not page by page. */
START_TEST(a_ring_that_is_hardly_used_has_little_memory)
{
    uint32_t n = 0;
    setup();
    if (getpagesize() != 4096)
        return;
    while (n < 63)
        ck_assert(put(n++, 0));
    ck_assert_int_eq(pages(), 1);
    while (n < 65)
        ck_assert(put(n++, 0));
    ck_assert_int_eq(pages(), 2);
    while (n < 127)
        ck_assert(put(n++, 0));
    ck_assert_int_eq(pages(), 2);
    ck_assert(put(n++, 0));
    ck_assert_int_ge(pages(), 2); /* 4, from Linux 5.14 on */
}
END_TEST

START_TEST(impossible_positions_are_noticed)
{
    setup();
    ck_assert(put(0, 0) && put(1, 0));
    taken = 2;
    ck_assert(pvmw_ring_refresh(&tx));
    taken = 3; /* more than was sent */
    ck_assert(!pvmw_ring_refresh(&tx));
    taken = 1; /* back */
    ck_assert(!pvmw_ring_refresh(&tx));
    taken = UINT64_MAX;
    ck_assert(!pvmw_ring_refresh(&tx));
}
END_TEST

enum { RECORDS = 60000 };

static void *produce(void *arg)
{
    (void)arg;
    for (uint32_t n = 0; n < RECORDS; n++)
        while (!put(n, length_of(n) % 512))
            sched_yield();
    return NULL;
}

/* Under the tsan preset: one thread's writes are read by the other only after they are published. */
START_TEST(two_threads)
{
    pthread_t thread;
    setup();
    ck_assert_int_eq(pthread_create(&thread, NULL, produce, NULL), 0);
    for (uint32_t n = 0; n < RECORDS; n++)
        while (!get(n, length_of(n) % 512))
            sched_yield();
    pthread_join(thread, NULL);
    ck_assert(!get(RECORDS, 0));
}
END_TEST

UNIT_MAIN("shm_ring", an_empty_ring_has_nothing, a_full_ring_takes_no_more, records_come_out_as_they_went_in,
          no_record_crosses_the_end, a_ring_that_is_hardly_used_has_little_memory, impossible_positions_are_noticed,
          two_threads)
