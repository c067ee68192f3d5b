/*
 * test_pvmd_queue.c - frames wait in order; each sender is told once to hold, and all are released when the queue is
 * low.
 */
#include "pvmd/base/events.h"
#include "pvmd/base/memory.h"
#include "pvmd/frames/hold.h"
#include "pvmd/frames/queue.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <sys/resource.h>

enum { MARK = 65536, RECEIVER = 0x40009, ALICE = 0x40001, BOB = 0x80002 };

#define DAEMON (PVMC_TID_DAEMON | 0x80000u)

/* ---- functions that queue.c needs ---- */

static struct {
    pvmc_tid sender, receiver;
    bool hold;
} told[16];
static unsigned told_count, trims;

static struct {
    pvmc_tid sender, receiver;
    size_t bytes;
} charged;

void pvmd_tell_sender_charged(pvmc_tid sender, pvmc_tid receiver, size_t bytes)
{
    charged.sender = sender;
    charged.receiver = receiver;
    charged.bytes += bytes;
}

void pvmd_hold_tell(pvmc_tid sender, pvmc_tid receiver, bool hold)
{
    ck_assert_uint_lt(told_count, 16);
    told[told_count].sender = sender;
    told[told_count].receiver = receiver;
    told[told_count++].hold = hold;
}

void pvmd_trim_later(void)
{
    trims++;
}

static struct pvmd_queue queue;

static void start(void)
{
    setenv("PVM_QUEUE_MAX", "65536", 1);
    pvmd_queue_init(&queue, RECEIVER);
}

static void push(pvmc_tid src, uint32_t length, int32_t tag, uint32_t ctx)
{
    struct pvmc_frame_header h = {.src = src, .length = length, .body_length = length, .tag = tag, .ctx = ctx};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    ck_assert_int_eq(pvmd_queue_push(&queue, f), 0);
    pvmc_frame_unref(f);
}

static int32_t pop(void)
{
    struct pvmc_frame *f = pvmd_queue_first(&queue);
    int32_t tag = f ? f->h.tag : -1;
    pvmd_queue_pop(&queue);
    return tag;
}

START_TEST(frames_come_out_in_order)
{
    start();
    for (int i = 0; i < 100; i++)
        push(ALICE, (uint32_t)i, i, 0);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(pop(), i);
    ck_assert_int_eq(pop(), -1);
    ck_assert_uint_eq(queue.bytes, 0);
    ck_assert_uint_eq(told_count, 0);
}
END_TEST

START_TEST(each_sender_is_told_once)
{
    start();
    push(ALICE, MARK, 1, 0);
    ck_assert_uint_eq(told_count, 1);
    push(ALICE, 10, 2, 0);
    push(BOB, 10, 3, 0);
    push(BOB, 10, 4, 0);
    ck_assert_uint_eq(told_count, 2);
    ck_assert_uint_eq(told[0].sender, ALICE);
    ck_assert_uint_eq(told[0].receiver, RECEIVER);
    ck_assert(told[0].hold);
    ck_assert_uint_eq(told[1].sender, BOB);
    pop();
    ck_assert_uint_eq(told_count, 4);
    ck_assert(!told[2].hold && !told[3].hold);
    ck_assert_uint_eq(told[2].sender, ALICE);
    ck_assert_uint_eq(told[3].sender, BOB);
    pop(), pop(), pop();
    ck_assert_uint_eq(told_count, 4);
}
END_TEST

START_TEST(senders_go_on_below_half)
{
    start();
    for (int i = 0; i < 5; i++)
        push(ALICE, MARK / 4, i, 0);
    ck_assert_uint_eq(told_count, 1);
    pop(), pop();
    ck_assert_uint_eq(told_count, 1); /* 3/4 full is not low */
    pop(), pop();
    ck_assert_uint_eq(told_count, 2);
    ck_assert(!told[1].hold);
    pvmd_queue_clear(&queue);
}
END_TEST

START_TEST(many_small_frames_count_with_their_overhead)
{
    start();
    unsigned n = 0;
    while (!told_count) {
        push(ALICE, 1, 0, 0);
        n++;
    }
    ck_assert_uint_lt(n, MARK / 100);
    pvmd_queue_clear(&queue);
}
END_TEST

START_TEST(our_own_answers_are_not_held)
{
    start();
    push(PVMC_TID_DAEMON, MARK, 1, 0);
    ck_assert_uint_eq(told_count, 0);
    push(PVMC_TID_DAEMON | 0x40000, 1, 1, 0); /* but the daemon is held as a sender of output */
    ck_assert_uint_eq(told_count, 1);
    pvmd_queue_clear(&queue);
}
END_TEST

START_TEST(hold_and_release_go_first_and_in_order)
{
    start();
    push(ALICE, 10, 1, 0);
    push(ALICE, 10, 2, 0);
    push(DAEMON, 4, (int32_t)PVMC_TC_HOLD, PVMC_CTX_TC);
    push(DAEMON, 4, (int32_t)PVMC_TC_RELEASE, PVMC_CTX_TC);
    ck_assert_int_eq(pop(), (int32_t)PVMC_TC_HOLD);
    push(DAEMON, 5, (int32_t)PVMC_TC_HOLD, PVMC_CTX_TC);
    ck_assert_int_eq(pop(), (int32_t)PVMC_TC_RELEASE);
    ck_assert_int_eq(pop(), (int32_t)PVMC_TC_HOLD);
    ck_assert_int_eq(pop(), 1);
    push(DAEMON, 4, (int32_t)PVMC_TC_HOLD, PVMC_CTX_TC);
    ck_assert_int_eq(pop(), (int32_t)PVMC_TC_HOLD);
    ck_assert_int_eq(pop(), 2);
    push(DAEMON, 4, (int32_t)PVMC_TC_HOLD, PVMC_CTX_TC); /* into an empty queue, which then works as usual */
    push(ALICE, 10, 3, 0);
    ck_assert_int_eq(pop(), (int32_t)PVMC_TC_HOLD);
    ck_assert_int_eq(pop(), 3);
    ck_assert_int_eq(pop(), -1);
}
END_TEST

START_TEST(clearing_drops_frames_and_releases)
{
    start();
    struct pvmc_frame_header h = {.src = ALICE, .length = MARK, .body_length = MARK};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    pvmd_queue_push(&queue, f);
    ck_assert_uint_eq(f->refs, 2);
    pvmd_queue_clear(&queue);
    ck_assert_uint_eq(f->refs, 1);
    ck_assert_uint_eq(told_count, 2);
    ck_assert(!told[1].hold);
    ck_assert_ptr_null(pvmd_queue_first(&queue));
    pvmc_frame_unref(f);
}
END_TEST

START_TEST(memory_is_given_back_after_long_queues_only)
{
    start();
    for (int i = 0; i < 100; i++) {
        push(ALICE, 1000, i, 0);
        pop();
    }
    ck_assert_uint_eq(trims, 0);
    for (int i = 0; i < 400; i++)
        push(ALICE, 1000, i, 0);
    for (int i = 0; i < 400; i++)
        pop();
    ck_assert_uint_eq(trims, 1);
}
END_TEST

/* A frame with a descriptor; returns whether the queue accepted the descriptor. */
static bool push_with_descriptor(void)
{
    struct pvmc_frame_header h = {.src = ALICE, .flags = PVMC_FRAME_FD};
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    f->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(f->fd, 0);
    ck_assert_int_eq(pvmd_queue_push(&queue, f), 0);
    bool kept = f->fd >= 0;
    pvmc_frame_unref(f);
    return kept;
}

START_TEST(few_descriptors_wait)
{
    start();
    int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(lowest);
    for (int i = 0; i < 64; i++)
        ck_assert(push_with_descriptor());
    ck_assert(!push_with_descriptor());
    pvmd_queue_pop(&queue);
    ck_assert(push_with_descriptor());
    pvmd_queue_clear(&queue);
    ck_assert(push_with_descriptor());
    pvmd_queue_clear(&queue);
    int again = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(again, lowest); /* all were closed */
    close(again);
}
END_TEST

START_TEST(fewer_wait_where_descriptors_are_few)
{
    start();
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 32;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int kept = 0;
    for (int i = 0; i < 20; i++)
        kept += push_with_descriptor();
    ck_assert_int_eq(kept, 8);
    pvmd_queue_clear(&queue);
}
END_TEST

START_TEST(only_daemons_say_hold)
{
    start();
    push(ALICE, 4, 1, 0);
    push(BOB, 4, (int32_t)PVMC_TC_HOLD,
         PVMC_CTX_TC); /* a task's descriptor waits, and counts, like everything that tasks send */
    push(BOB, MARK, (int32_t)PVMC_TC_RELEASE, PVMC_CTX_TC);
    ck_assert_uint_eq(told_count, 1);
    ck_assert_uint_eq(told[0].sender, BOB);
    ck_assert_int_eq(pop(), 1);
    pvmd_queue_clear(&queue);
}
END_TEST

START_TEST(answers_are_counted_by_themselves)
{
    start();
    push(ALICE, MARK, 1, PVMC_CTX_TM);
    ck_assert(!pvmd_queue_is_full_of_answers(&queue));
    push(PVMC_TID_DAEMON, MARK, 2, PVMC_CTX_TM);
    ck_assert(pvmd_queue_is_full_of_answers(&queue));
    ck_assert_int_eq(pop(), 1);
    ck_assert(pvmd_queue_is_full_of_answers(&queue));
    ck_assert_int_eq(pop(), 2);
    ck_assert(!pvmd_queue_is_full_of_answers(&queue));
}
END_TEST

START_TEST(what_a_request_has_sent_is_on_the_tasks_account)
{
    start();
    pvmd_queue_payer = ALICE;
    push(PVMC_TID_DAEMON, 100, 1, 0);
    ck_assert_uint_eq(charged.bytes, 0);
    push(PVMC_TID_DAEMON, MARK, 1, 0);
    ck_assert_uint_eq(told_count, 1);
    ck_assert_uint_eq(told[0].sender, ALICE);
    ck_assert_uint_eq(charged.sender, ALICE);
    ck_assert_uint_eq(charged.receiver, RECEIVER);
    ck_assert_uint_gt(charged.bytes, MARK);
    pvmd_queue_payer = RECEIVER; /* answers to itself do not count */
    push(PVMC_TID_DAEMON, MARK, 1, PVMC_CTX_TM);
    ck_assert_uint_eq(told_count, 1);
    pvmd_queue_payer = 0;
    pvmd_queue_clear(&queue);
}
END_TEST

UNIT_MAIN("pvmd_queue", what_a_request_has_sent_is_on_the_tasks_account, only_daemons_say_hold,
          answers_are_counted_by_themselves, frames_come_out_in_order, each_sender_is_told_once,
          senders_go_on_below_half, many_small_frames_count_with_their_overhead, our_own_answers_are_not_held,
          hold_and_release_go_first_and_in_order, clearing_drops_frames_and_releases,
          memory_is_given_back_after_long_queues_only, few_descriptors_wait, fewer_wait_where_descriptors_are_few)
