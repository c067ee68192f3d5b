/* test_pvmd_loop.c - the event loop's tables grow while malloc() fails. */
#include "pvmd/base/loop.h"
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>
#include "tests/unit/unit.h"

enum { TIMERS = 30000, DESCRIPTORS = 2000, LARGE_BYTES = 300000 };

static ev_timer timers[TIMERS];
static ev_io reads[DESCRIPTORS];
/* AddressSanitizer must return NULL, too. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static int fired, readable, ends[2];

static void fire(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events;
    fired++;
}

static void read_event(struct ev_loop *loop, ev_io *io, int events)
{
    (void)events;
    ev_io_stop(loop, io);
    readable++;
}

/* Duplicates of one end of a pipe that holds a byte, from descriptor 100 on. */
static void make_descriptors(void)
{
    struct rlimit limit = {.rlim_cur = DESCRIPTORS + 200, .rlim_max = DESCRIPTORS + 200};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    for (int i = 0; i < DESCRIPTORS; i++)
        ck_assert_int_eq(dup3(ends[0], 100 + i, O_CLOEXEC), 100 + i);
}

/* Exhausts the address space. True if a block of the size of libev's tables can no longer be allocated. */
static bool exhaust(void)
{
    struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    void *block = malloc(LARGE_BYTES);
    free(block);
    return !block;
}

static void recover(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
}

static void start_all(struct ev_loop *loop)
{
    for (int i = 0; i < TIMERS; i++) {
        ev_timer_init(&timers[i], fire, 0., 0.);
        ev_timer_start(loop, &timers[i]);
    }
    for (int i = 0; i < DESCRIPTORS; i++) {
        ev_io_init(&reads[i], read_event, 100 + i, EV_READ);
        ev_io_start(loop, &reads[i]);
    }
}

START_TEST(its_tables_need_no_memory_of_malloc)
{
    make_descriptors();
    struct ev_loop *loop = pvmd_loop_new();
    ck_assert_ptr_nonnull(loop);
    bool exhausted = exhaust();
    start_all(loop);
    ev_run(loop, 0);
    recover();
    ck_assert(exhausted);
    ck_assert_int_eq(fired, TIMERS);
    ck_assert_int_eq(readable, DESCRIPTORS);
    ev_loop_destroy(loop);
}
END_TEST

START_TEST(a_loop_can_be_made_again)
{
    for (int i = 0; i < 100; i++) {
        struct ev_loop *loop = pvmd_loop_new();
        ck_assert_ptr_nonnull(loop);
        start_all(loop);
        ev_loop_destroy(loop);
    }
}
END_TEST

UNIT_MAIN("event loop", its_tables_need_no_memory_of_malloc, a_loop_can_be_made_again)
