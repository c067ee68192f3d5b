/*
 * test_rdma_faults.c - the transport rdma under faults: each call of libibverbs fails once and permanently, each
 * completion has each status; events, a device that stops responding, peers that break the rules. In all cases no frame
 * is duplicated, changed or out of order, either both ends go down once or everything arrives, and nothing leaks.
 */
#include <sys/resource.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"
#include "tests/unit/unit.h"
#include "core/error.h"
#include "transports/rdma/rdma.h"
#include "fake_verbs.h"

enum { FRAMES = 24, TURNS = 400, TICKS = 40, INPLACE_BYTES = 100000 };

extern const struct pvmt_transport_ops pvmt_rdma_ops;

static const struct pvmt_transport_ops *const ops = &pvmt_rdma_ops;

struct end {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    unsigned sent, got, down, wrong;
    uint8_t *place;
    struct pvmc_frame *inplace; /* of the last frame with data in place */
};

static uint8_t data_in_place[INPLACE_BYTES];

/* ---- frames: all contents are a function of the frame's number ---- */

static uint32_t length_of(uint32_t seq)
{
    static const uint32_t lengths[] = {8, 0, 3000, 20000, INPLACE_BYTES, 200};
    return lengths[seq % (sizeof lengths / sizeof *lengths)];
}

static struct pvmc_frame *make(uint32_t seq)
{
    uint32_t length = length_of(seq);
    struct pvmc_frame_header h = {.length = length, .dst = 1, .src = 2, .seq = seq, .tag = 7, .body_length = length};
    bool inplace = length == INPLACE_BYTES;
    struct pvmc_mem *mem = length && !inplace ? pvmc_mem_new(length) : NULL;
    struct pvmc_frame *f = pvmc_frame_new(&h, mem);
    if (mem)
        memset(mem->data, (int)seq, length);
    if (length)
        pvmc_frame_add_piece(f, inplace ? data_in_place : mem->data, length);
    return f;
}

static bool right(const struct end *e, const struct pvmc_frame_header *h, const uint8_t *data)
{
    if (h->seq != e->got || h->length != length_of(h->seq) || h->tag != 7)
        return false;
    uint8_t value = h->length == INPLACE_BYTES ? 0x5a : (uint8_t)h->seq;
    for (uint32_t i = 0; i < h->length; i++)
        if (data[i] != value)
            return false;
    return true;
}

/* ---- callbacks ---- */

static uint8_t *rx_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct end *e = ep->owner;
    (void)arg;
    e->place = realloc(e->place, h->length + 1);
    return e->place;
}

static void rx_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct end *e = ep->owner;
    (void)arg;
    e->wrong += e->down || !right(e, h, e->place);
    e->got++;
}

static void tx_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg;
    (void)ep;
}

static void down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    struct end *e = ep->owner;
    (void)arg;
    (void)reason;
    e->down++;
}

static const struct pvmt_callbacks callbacks = {
    .rx_place = rx_place, .rx_done = rx_done, .tx_ready = tx_ready, .down = down};

/* ---- a scenario ---- */

static struct end a, b;

static bool meet(void)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    if (length < 0) {
        a.ep = NULL;
        return false;
    }
    int answer = ops->join(b.transport, blob, (size_t)length, -1, &b, reply, &b.ep);
    if (answer < 0) {
        b.ep = NULL;
        return false;
    }
    return ops->joined(a.ep, reply, (size_t)answer) == 0;
}

static void try_to_send(struct end *e)
{
    if (e->down || e->sent == FRAMES || (e->inplace && e->inplace->refs > 1))
        return;
    struct pvmc_frame *f = make(e->sent);
    e->sent += ops->send(e->ep, f) == 0;
    if (!f->mem && f->h.length) {
        pvmc_frame_unref(e->inplace);
        e->inplace = f;
    } else {
        pvmc_frame_unref(f);
    }
}

static void turn(unsigned i)
{
    ops->progress(a.transport);
    ops->progress(b.transport);
    if (i % 3 == 0) {
        ops->arm(a.transport);
        ops->arm(b.transport);
    }
}

/* Advances the clock by a second. */
static void let_time_pass(struct end *e)
{
    ((struct rdma_transport *)e->transport)->tick_us = 1;
    ops->arm(e->transport);
    ops->progress(e->transport);
}

static bool all_came(void)
{
    return a.got == FRAMES && b.got == FRAMES;
}

static void exchange(void)
{
    for (unsigned i = 0; i < TURNS && !all_came() && !(a.down && b.down); i++) {
        try_to_send(&a);
        try_to_send(&b);
        turn(i);
    }
    for (unsigned i = 0; i < TICKS && !all_came() && !(a.down && b.down); i++) {
        let_time_pass(&a);
        let_time_pass(&b);
        for (unsigned k = 0; k < 20; k++)
            turn(k);
    }
}

static void close_end(struct end *e)
{
    if (e->ep && e->sent % 2)
        ops->disconnect(e->ep);
    if (e->transport)
        ops->close(e->transport);
    if (e->inplace) {
        ck_assert_uint_eq(e->inplace->refs, 1);
        pvmc_frame_unref(e->inplace);
    }
    free(e->place);
    *e = (struct end){0};
}

/* Whether both ends are connected. */
static bool course(const char *what, unsigned n)
{
    size_t in_use, cached;
    pvmt_rdma_port_forget();
    bool met =
        !ops->open(NULL, &callbacks, &a, &a.transport) && !ops->open(NULL, &callbacks, &b, &b.transport) && meet();
    if (met) {
        exchange();
        ck_assert_msg(all_came() || (a.down && b.down), "%s %u: neither all frames nor down: %u %u came, %u %u down",
                      what, n, a.got, b.got, a.down, b.down);
    }
    ck_assert_msg(a.down <= 1 && b.down <= 1, "%s %u: down came twice", what, n);
    ck_assert_msg(!a.wrong && !b.wrong, "%s %u: a frame was wrong", what, n);
    close_end(&a);
    close_end(&b);
    pvmc_mem_usage(&in_use, &cached);
    ck_assert_msg(!in_use, "%s %u: %zu bytes of messages are left", what, n, in_use);
    ck_assert_msg(!fake_verbs_objects(), "%s %u: %u objects are left", what, n, fake_verbs_objects());
    ck_assert_msg(!fake_verbs_registered(), "%s %u: %zu bytes are registered", what, n, fake_verbs_registered());
    return met;
}

static void begin(bool soft, bool no_shared)
{
    fake_verbs_reset();
    fake_device.soft = soft;
    fake_device.no_shared = no_shared;
    pvmt_verbs_replace(&fake_verbs);
    memset(data_in_place, 0x5a, sizeof data_in_place);
    unit_log_start();
    pvmc_mem_use_arenas();
}

/* ---- tests ---- */

static const char *const call_names[] = {
#define X(name) #name,
    FAKE_CALLS(X)
#undef X
};

/* Tries each place where something can fail; under Valgrind one in five. */
static unsigned stride(void)
{
    return getenv("DPVM_VALGRIND") ? 5 : 1;
}

static void fail_call(enum fake_call call, bool for_ever, bool no_shared)
{
    for (unsigned n = 1;; n += n < 40 ? stride() : n / 8) {
        begin(n % 2, no_shared);
        fake_plan.call = call;
        fake_plan.fail_at = n;
        fake_plan.for_ever = for_ever;
        course(call_names[call], n);
        if (fake_uses[call] < n)
            return;
    }
}

START_TEST(every_call_fails)
{
    enum fake_call call = (enum fake_call)(_i / 2);
    fail_call(call, _i % 2, call == FAKE_post_recv);
}
END_TEST

START_TEST(every_completion_fails)
{
    for (unsigned n = 1;; n += stride()) {
        begin(n % 3 == 0, n % 3 == 1);
        fake_plan.status_at = n;
        fake_plan.status = (enum ibv_wc_status)_i;
        course("completion", n);
        if (fake_completions < n)
            return;
    }
}
END_TEST

START_TEST(events_come_at_any_time)
{
    for (unsigned n = 1;; n += 5 * stride()) {
        begin(false, n % 2);
        fake_plan.event_at = n;
        fake_plan.event = (enum ibv_event_type)_i;
        course("event", n);
        if (fake_all_calls < n)
            return;
    }
}
END_TEST

START_TEST(the_device_falls_silent)
{
    for (unsigned n = 1;; n += stride()) {
        begin(false, n % 2);
        fake_plan.silent_at = n;
        course("silence", n);
        if (fake_works < n)
            return;
    }
}
END_TEST

START_TEST(nothing_fails)
{
    for (int i = 0; i < 4; i++) {
        begin(i & 1, i & 2);
        ck_assert(course("nothing", 0));
    }
}
END_TEST

/* Slots go back to the shared queue while the task waits, not while it has messages to take. */
START_TEST(slots_are_posted_while_it_waits)
{
    static const unsigned upto[] = {2, 3}; /* small frames */
    begin(false, false);
    pvmt_rdma_port_forget();
    ck_assert(!ops->open(NULL, &callbacks, &a, &a.transport) && !ops->open(NULL, &callbacks, &b, &b.transport) &&
              meet());
    const struct rdma_transport *t = (const struct rdma_transport *)b.transport;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned k = 0; k < 20; k++)
            turn(k);
        unsigned posted = fake_uses[FAKE_post_srq_recv], count = upto[round] - a.sent;
        ck_assert_uint_eq(t->spare_count, 0);
        while (a.sent < upto[round])
            try_to_send(&a);
        while (b.got < a.sent)
            ops->progress(b.transport);
        ck_assert_uint_eq(fake_uses[FAKE_post_srq_recv], posted);
        ck_assert_uint_eq(t->spare_count, count);
        if (round == 0)
            ops->progress(b.transport); /* finds nothing */
        else
            ops->arm(b.transport);
        ck_assert_uint_eq(fake_uses[FAKE_post_srq_recv], posted + count);
        ck_assert_uint_eq(t->spare_count, 0);
    }
    close_end(&a);
    close_end(&b);
}
END_TEST

/* A peer sends messages that none of our tasks does: at worst the link ends. */
START_TEST(peers_break_the_rules)
{
    unsigned seed = (unsigned)_i + 1;
    for (unsigned round = 0; round < 400 / stride(); round++) {
        uint8_t message[400];
        size_t bytes = (size_t)rand_r(&seed) % sizeof message;
        begin(false, round % 2);
        pvmt_rdma_port_forget();
        ck_assert(!ops->open(NULL, &callbacks, &a, &a.transport) && !ops->open(NULL, &callbacks, &b, &b.transport));
        ck_assert(meet());
        for (unsigned i = 0; i < 4; i++)
            turn(i);
        for (size_t i = 0; i < bytes; i++)
            message[i] = (uint8_t)(rand_r(&seed) % (i < 5 ? 8 : 256));
        if (bytes > 3)
            message[1] = message[2] = (uint8_t)(round % 16 == 0);
        a.got = b.got = UINT32_MAX; /* it sends something that is not one of our frames */
        fake_verbs_say(fake_verbs_queue(round % 2), message, bytes);
        for (unsigned i = 0; i < 20; i++)
            turn(i);
        ck_assert(a.down <= 1 && b.down <= 1);
        close_end(&a);
        close_end(&b);
        ck_assert_uint_eq(fake_verbs_objects(), 0);
    }
}
END_TEST

/* The offering task computes, and reads the answer only afterwards. */
START_TEST(who_joined_waits_for_a_busy_task)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, busy_s = _i;
    begin(false, false);
    pvmt_rdma_port_forget();
    ck_assert(!ops->open(NULL, &callbacks, &a, &a.transport) && !ops->open(NULL, &callbacks, &b, &b.transport));
    int length = ops->offer(a.transport, &a, blob, &fd, &a.ep);
    int answer = ops->join(b.transport, blob, (size_t)length, -1, &b, reply, &b.ep);
    ck_assert(length > 0 && answer > 0);
    for (int i = 0; i < busy_s; i++)
        let_time_pass(&b);
    ck_assert_uint_eq(b.down, busy_s > 30); /* PVM_RDMA_TIMEOUT */
    if (!b.down) {
        ck_assert_int_eq(ops->joined(a.ep, reply, (size_t)answer), 0);
        exchange();
        ck_assert(all_came());
    }
    close_end(&a);
    close_end(&b);
}
END_TEST

START_TEST(a_port_that_comes_up_later_is_found)
{
    int64_t end_us = pvmc_clock_us() + 20000000;
    begin(false, false);
    fake_device.port_down = true;
    pvmt_rdma_port_forget();
    ck_assert_int_ne(ops->open(NULL, &callbacks, &a, &a.transport), 0);
    fake_device.port_down = false;
    while (ops->open(NULL, &callbacks, &a, &a.transport)) {
        ck_assert_int_lt(pvmc_clock_us(), end_us);
        usleep(10000);
    }
    close_end(&a);
}
END_TEST

static void limit_locked_memory(rlim_t bytes)
{
    struct rlimit limit = {bytes, bytes};
    ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

START_TEST(too_little_memory_to_lock_is_said)
{
    begin(false, false);
    limit_locked_memory(64 << 10);
    fake_plan.call = FAKE_reg_mr;
    fake_plan.fail_at = 1;
    fake_plan.for_ever = true;
    pvmt_rdma_port_forget();
    pvmc_log_to(unit_log_sink, NULL, PVMC_LOG_WARNING);
    ck_assert_int_eq(ops->open(NULL, &callbacks, &a, &a.transport), PVMC_ELIMIT);
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "ulimit -l"));
    ck_assert_uint_eq(fake_verbs_objects(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rdma-faults");
    TCase *all = tcase_create("rdma-faults");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, nothing_fails);
    tcase_add_test(all, slots_are_posted_while_it_waits);
    tcase_add_loop_test(all, every_call_fails, 0, 2 * FAKE_CALL_COUNT);
    tcase_add_loop_test(all, every_completion_fails, 1, IBV_WC_GENERAL_ERR + 1);
    tcase_add_loop_test(all, events_come_at_any_time, IBV_EVENT_CQ_ERR, IBV_EVENT_GID_CHANGE + 1);
    tcase_add_test(all, the_device_falls_silent);
    tcase_add_loop_test(all, peers_break_the_rules, 0, 4);
    tcase_add_loop_test(all, who_joined_waits_for_a_busy_task, 28, 34);
    tcase_add_test(all, a_port_that_comes_up_later_is_found);
    tcase_add_test(all, too_little_memory_to_lock_is_said);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
