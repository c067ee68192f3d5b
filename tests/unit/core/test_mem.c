/* test_mem.c - message memory: reference counts, growth, and the cache of large regions. */
#include "core/error.h"
#include "core/log.h"
#include "core/memory/mem.h"
#include "tests/unit/unit.h"
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static uint8_t pattern(size_t i)
{
    return (uint8_t)(i * 7 + i / 251);
}

static void fill(struct pvmc_mem *m, size_t length)
{
    for (size_t i = 0; i < length; i++)
        m->data[i] = pattern(i);
}

static void expect_filled(const struct pvmc_mem *m, size_t length)
{
    size_t same = 0;
    while (same < length && m->data[same] == pattern(same))
        same++;
    ck_assert_uint_eq(same, length);
}

static size_t in_use(void)
{
    size_t used, cached;
    pvmc_mem_usage(&used, &cached);
    return used;
}

static size_t cached(void)
{
    size_t used, held;
    pvmc_mem_usage(&used, &held);
    return held;
}

START_TEST(regions_have_their_size)
{
    static const size_t sizes[] = {0, 1, 63, 4096, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB + 8, 65 * MIB + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct pvmc_mem *m = pvmc_mem_new(sizes[i]);
        ck_assert_ptr_nonnull(m);
        ck_assert_uint_ge(m->capacity, sizes[i]);
        ck_assert_uint_eq((uintptr_t)m->data % 16, 0);
        ck_assert_uint_eq(in_use(), m->capacity);
        if (sizes[i])
            m->data[sizes[i] - 1] = 1;
        pvmc_mem_unref(m);
        ck_assert_uint_eq(in_use(), 0);
    }
    pvmc_mem_unref(NULL);
}
END_TEST

START_TEST(the_last_reference_frees)
{
    struct pvmc_mem *m = pvmc_mem_new(100);
    ck_assert_ptr_eq(pvmc_mem_ref(m), m);
    pvmc_mem_unref(m);
    ck_assert_uint_eq(in_use(), m->capacity);
    pvmc_mem_unref(m);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

START_TEST(growing_keeps_the_bytes)
{
    struct pvmc_mem *m = pvmc_mem_new(100);
    fill(m, 100);
    size_t used = 100;
    for (size_t size = 200; size < 200 * MIB; size *= 3) {
        ck_assert_int_eq(pvmc_mem_grow(&m, used, size), 0);
        ck_assert_uint_ge(m->capacity, size);
        expect_filled(m, used);
        ck_assert_uint_eq(in_use(), m->capacity);
        used = size < 4 * MIB ? size : 4 * MIB;
        fill(m, used);
    }
    pvmc_mem_unref(m);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

START_TEST(growing_a_shared_region_copies_it)
{
    static const size_t sizes[] = {1000, 128 * KIB};
    for (size_t i = 0; i < 2; i++) {
        struct pvmc_mem *old = pvmc_mem_new(sizes[i]), *m = pvmc_mem_ref(old);
        fill(old, sizes[i]);
        ck_assert_int_eq(pvmc_mem_grow(&m, sizes[i], sizes[i]), 0);
        ck_assert_ptr_ne(m, old);
        ck_assert_uint_eq(m->refs, 1);
        ck_assert_uint_eq(old->refs, 1);
        m->data[0] ^= 1;
        expect_filled(old, sizes[i]);
        pvmc_mem_unref(old);
        pvmc_mem_unref(m);
    }
}
END_TEST

START_TEST(enough_room_is_left_alone)
{
    struct pvmc_mem *m = pvmc_mem_new(1000), *before = m;
    ck_assert_int_eq(pvmc_mem_grow(&m, 10, 1000), 0);
    ck_assert_ptr_eq(m, before);
    pvmc_mem_unref(m);
}
END_TEST

/* No machine has so much address space. */
#define IMPOSSIBLE (SIZE_MAX - SIZE_MAX / 16)

START_TEST(impossible_sizes_fail_cleanly)
{
    unit_log_start();
    ck_assert_ptr_null(pvmc_mem_new(SIZE_MAX));
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_ptr_null(pvmc_mem_new(IMPOSSIBLE));
    struct pvmc_mem *small = pvmc_mem_new(100), *large = pvmc_mem_new(MIB);
    fill(small, 100);
    fill(large, MIB);
    struct pvmc_mem *s = small, *l = large;
    ck_assert_int_eq(pvmc_mem_grow(&s, 100, IMPOSSIBLE), PVMC_ENOMEM);
    ck_assert_int_eq(pvmc_mem_grow(&l, MIB, IMPOSSIBLE), PVMC_ENOMEM);
    ck_assert_ptr_eq(s, small);
    ck_assert_ptr_eq(l, large);
    expect_filled(s, 100);
    expect_filled(l, MIB);
    ck_assert_uint_eq(in_use(), small->capacity + MIB);
    pvmc_mem_unref(s);
    pvmc_mem_unref(l);
}
END_TEST

START_TEST(large_regions_are_used_again)
{
    struct pvmc_mem *m = pvmc_mem_new(MIB);
    uint8_t *data = m->data;
    pvmc_mem_unref(m);
    ck_assert_uint_eq(cached(), MIB);
    m = pvmc_mem_new(MIB - 1000);
    ck_assert_ptr_eq(m->data, data);
    ck_assert_uint_eq(cached(), 0);
    pvmc_mem_unref(m);
    pvmc_mem_trim();
    ck_assert_uint_eq(cached(), 0);
}
END_TEST

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* A message of 1 MiB each way, packed at once or in pieces: after the first rounds no page is fresh. */
START_TEST(a_ping_pong_does_not_fault)
{
    long before = 0;
    for (int round = 0; round < 60; round++) {
        if (round == 10)
            before = faults();
        struct pvmc_mem *in = pvmc_mem_new(MIB), *out = pvmc_mem_new(256);
        for (size_t size = 512; size <= MIB; size *= 2) {
            ck_assert_int_eq(pvmc_mem_grow(&out, size / 2, size), 0);
            memset(out->data + size / 2, round, size / 2);
        }
        memset(in->data, round, MIB);
        pvmc_mem_unref(in);
        pvmc_mem_unref(out);
    }
    ck_assert_int_lt(faults() - before, 2560); /* fresh pages would be 512 in each of 50 rounds */
}
END_TEST

START_TEST(the_cache_is_bounded)
{
    struct pvmc_mem *regions[40];
    for (int i = 0; i < 40; i++)
        regions[i] = pvmc_mem_new(4 * MIB);
    for (int i = 0; i < 40; i++)
        pvmc_mem_unref(regions[i]);
    ck_assert_uint_eq(cached(), 64 * MIB);
    /* A cache full of other sizes evicts the oldest region to keep the sizes in use now. */
    pvmc_mem_unref(pvmc_mem_new(MIB));
    ck_assert_uint_le(cached(), 64 * MIB);
    struct pvmc_mem *m = pvmc_mem_new(MIB);
    ck_assert_uint_eq(cached(), 60 * MIB);
    pvmc_mem_unref(m);
    pvmc_mem_unref(pvmc_mem_new(65 * MIB)); /* too large to cache */
    ck_assert_uint_eq(cached(), 61 * MIB);
    pvmc_mem_trim();
    ck_assert_uint_eq(cached(), 0);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

/* Waits until at most `bytes` are cached, while one region of 1 MiB is freed over and over. */
static void wait_until_cached(size_t bytes)
{
    for (int i = 0; i < 10000 && cached() > bytes; i++) {
        pvmc_mem_unref(pvmc_mem_new(MIB));
        usleep(1000);
    }
    ck_assert_uint_le(cached(), bytes);
}

START_TEST(what_a_burst_has_left_goes_back)
{
    struct pvmc_mem *regions[16];
    for (int i = 0; i < 16; i++)
        regions[i] = pvmc_mem_new(i % 2 ? MIB : 2 * MIB);
    for (int i = 0; i < 16; i++)
        pvmc_mem_unref(regions[i]);
    ck_assert_uint_eq(cached(), 24 * MIB);
    pvmc_mem_unref(pvmc_mem_new(MIB));
    ck_assert_uint_eq(cached(), 24 * MIB); /* not at once */
    wait_until_cached(MIB);
    ck_assert_uint_eq(cached(), MIB); /* what is in use stays */
}
END_TEST

START_TEST(a_sleeper_gives_all_back)
{
    ck_assert_int_eq(pvmc_mem_expire(), 0);
    pvmc_mem_unref(pvmc_mem_new(MIB));
    int64_t wait_ms = pvmc_mem_expire();
    ck_assert_int_gt(wait_ms, 0);
    ck_assert_int_le(wait_ms, 2001);
    ck_assert_uint_eq(cached(), MIB);
    usleep((useconds_t)(wait_ms + 10) * 1000);
    ck_assert_int_eq(pvmc_mem_expire(), 0);
    ck_assert_uint_eq(cached(), 0);
}
END_TEST

static void use_arenas(void)
{
    ck_assert_int_eq(pvmc_mem_use_arenas(), 0);
}

START_TEST(the_largest_regions_of_tasks_are_used_again)
{
    static const size_t sizes[] = {64 * MIB, 65 * MIB};
    use_arenas();
    pvmc_mem_unref(pvmc_mem_new(8 * KIB)); /* must not push them out */
    for (int i = 0; i < 2; i++) {
        struct pvmc_mem *m = pvmc_mem_new(sizes[i]);
        const uint8_t *at = m->data;
        pvmc_mem_unref(m);
        ck_assert_uint_gt(cached(), sizes[i]);
        m = pvmc_mem_new(sizes[i]);
        ck_assert_ptr_eq(m->data, at);
        ck_assert_uint_lt(cached(), sizes[i]);
        pvmc_mem_unref(m);
        int64_t left_ms, waited_ms = 0;
        for (; (left_ms = pvmc_mem_expire()) && waited_ms < 10000; waited_ms += left_ms)
            usleep((useconds_t)left_ms * 1000);
        ck_assert_int_eq(left_ms, 0);
        ck_assert_uint_eq(cached(), 0);
        pvmc_mem_unref(pvmc_mem_new(8 * KIB));
    }
}
END_TEST

/* The address space has room for one such region, and the cache holds one of another size. */
START_TEST(the_cache_gives_way_when_memory_runs_out)
{
    struct rlimit before, tight;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    pvmc_mem_unref(pvmc_mem_new(64 * MIB));
    ck_assert_uint_eq(cached(), 64 * MIB);
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert(f && fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    tight = (struct rlimit){.rlim_cur = (rlim_t)pages * 4096 + 8 * MIB, .rlim_max = before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &tight), 0);
    struct pvmc_mem *m = pvmc_mem_new(32 * MIB);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    ck_assert_ptr_nonnull(m);
    ck_assert_uint_eq(cached(), 0);
    pvmc_mem_unref(m);
}
END_TEST

static struct pvmc_mem *returned;

static void reclaim(void)
{
    pvmc_mem_unref(returned);
    returned = NULL;
}

/* What a receiver has just given back is in the caches of processors; what lies unused longer is not. */
START_TEST(the_last_region_to_come_back_is_used_first)
{
    use_arenas();
    pvmc_mem_on_shortage(reclaim);
    struct pvmc_mem *a = pvmc_mem_new(4 * MIB), *b = pvmc_mem_new(4 * MIB);
    pvmc_mem_unref(a);
    returned = b;
    struct pvmc_mem *m = pvmc_mem_new(4 * MIB);
    ck_assert_ptr_eq(m, b);
    pvmc_mem_unref(m);
    pvmc_mem_on_shortage(NULL);
}
END_TEST

START_TEST(large_regions_lie_in_arenas)
{
    struct pvmc_mem_place x, y;
    struct pvmc_mem_arena arena;
    use_arenas();
    struct pvmc_mem *small = pvmc_mem_new(4096), *a = pvmc_mem_new(4097), *b = pvmc_mem_new(100000);
    ck_assert(!pvmc_mem_locate(small, &x));
    ck_assert(pvmc_mem_locate(a, &x) && pvmc_mem_locate(b, &y));
    ck_assert_uint_eq(x.arena, y.arena);
    ck_assert(x.offset + a->capacity <= y.offset || y.offset + b->capacity <= x.offset);
    ck_assert(pvmc_mem_arena(x.arena, &arena) && !pvmc_mem_arena(x.arena + 1, &arena));
    uint8_t seen[16];
    memcpy(b->data + 99000, "what others read", 16);
    ck_assert_int_eq(pread(arena.fd, seen, 16, (off_t)y.offset + 99000), 16);
    ck_assert_int_eq(memcmp(seen, "what others read", 16), 0);
    pvmc_mem_unref(small);
    pvmc_mem_unref(a);
    pvmc_mem_unref(b);
    pvmc_mem_trim();
    ck_assert(!pvmc_mem_arena(x.arena, &arena));
}
END_TEST

START_TEST(the_largest_have_an_arena_of_their_own)
{
    struct pvmc_mem_place x, y;
    use_arenas();
    struct pvmc_mem *a = pvmc_mem_new(300 * MIB), *b = pvmc_mem_new(MIB);
    a->data[300 * MIB - 1] = 1;
    ck_assert(pvmc_mem_locate(a, &x) && pvmc_mem_locate(b, &y));
    ck_assert_uint_ne(x.arena, y.arena);
    pvmc_mem_unref(a);
    pvmc_mem_unref(b);
}
END_TEST

START_TEST(arena_regions_grow)
{
    use_arenas();
    struct pvmc_mem *m = pvmc_mem_new(8 * KIB);
    uint8_t *data = m->data;
    fill(m, 8 * KIB);
    for (size_t size = 16 * KIB; size <= 64 * MIB; size *= 2) {
        ck_assert_int_eq(pvmc_mem_grow(&m, 8 * KIB, size), 0);
        ck_assert_ptr_eq(m->data, data); /* the memory after it is free */
        ck_assert_uint_eq(in_use(), m->capacity);
    }
    expect_filled(m, 8 * KIB);
    pvmc_mem_unref(m);
    ck_assert_uint_eq(in_use(), 0);
}
END_TEST

/* All sizes at once in any order: no two regions overlap, and at the end there is one free block again. */
START_TEST(blocks_do_not_overlap)
{
    enum { COUNT = 64 };
    struct pvmc_mem *m[COUNT] = {0};
    unsigned seed = 3;
    use_arenas();
    for (int round = 0; round < 3000; round++) {
        unsigned i = (unsigned)rand_r(&seed) % COUNT;
        if (m[i]) {
            ck_assert_uint_eq(m[i]->data[0], i);
            ck_assert_uint_eq(m[i]->data[m[i]->capacity - 1], i);
            pvmc_mem_unref(m[i]);
            m[i] = NULL;
            continue;
        }
        m[i] = pvmc_mem_new(5000u << rand_r(&seed) % 9);
        m[i]->data[0] = m[i]->data[m[i]->capacity - 1] = (uint8_t)i;
        if (round % 100 == 0)
            pvmc_mem_trim();
    }
    for (int i = 0; i < COUNT; i++)
        pvmc_mem_unref(m[i]);
    pvmc_mem_trim();
    ck_assert_uint_eq(in_use() + cached(), 0);
}
END_TEST

/*
 * With and without pvmc_mem_after_fork(), a child does not see later writes of its parent, nor the parent those of the
 * child.
 */
static void fork_with_regions(bool say_so)
{
    int to_child[2], status;
    char byte = 0;
    use_arenas();
    struct pvmc_mem *m = pvmc_mem_new(MIB);
    pvmc_mem_unref(pvmc_mem_new(MIB));
    fill(m, 100000);
    ck_assert_int_eq(pipe(to_child), 0);
    pid_t pid = fork();
    if (!pid) {
        if (say_so)
            pvmc_mem_after_fork();
        struct pvmc_mem *own = pvmc_mem_new(MIB); /* must not be the parent's cached region */
        bool waited = read(to_child[0], &byte, 1) == 1;
        memset(own->data, 0xee, MIB);
        for (size_t i = 0; i < 100000 && waited; i++)
            waited = m->data[i] == pattern(i);
        memset(m->data, 0xdd, MIB);
        pvmc_mem_unref(own);
        pvmc_mem_unref(m);
        pvmc_mem_trim();
        _exit(waited ? 0 : 1);
    }
    usleep(50000); /* by now the child has its copy */
    struct pvmc_mem *again = pvmc_mem_new(MIB);
    memset(again->data, 0, MIB);
    memset(m->data, 0x11, MIB);
    ck_assert_int_eq(write(to_child[1], &byte, 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    for (size_t i = 0; i < MIB; i += 1000)
        ck_assert(m->data[i] == 0x11 && again->data[i] == 0);
    pvmc_mem_unref(m);
    pvmc_mem_unref(again);
}

START_TEST(forked_children_have_copies)
{
    fork_with_regions(true);
}
END_TEST

START_TEST(children_that_do_not_say_so_do_no_harm)
{
    fork_with_regions(false);
}
END_TEST

UNIT_MAIN("mem", regions_have_their_size, the_last_reference_frees, growing_keeps_the_bytes,
          growing_a_shared_region_copies_it, enough_room_is_left_alone, impossible_sizes_fail_cleanly,
          large_regions_are_used_again, the_largest_regions_of_tasks_are_used_again,
          the_last_region_to_come_back_is_used_first, the_cache_gives_way_when_memory_runs_out,
          a_ping_pong_does_not_fault, the_cache_is_bounded, what_a_burst_has_left_goes_back, a_sleeper_gives_all_back,
          large_regions_lie_in_arenas, the_largest_have_an_arena_of_their_own, arena_regions_grow,
          blocks_do_not_overlap, forked_children_have_copies, children_that_do_not_say_so_do_no_harm)
