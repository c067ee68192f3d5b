/* test_atm_tcp.c - the TCP model: order and content under loss, slow start, Nagle's rule and delayed acknowledgements.
 */
#include "atm/src/ip/tcp.h"
#include "atm/src/base/random.h"
#include "unit.h"
#include "wire.h"

enum { MSS = 1460, MTU = MSS + 40, BULK = 300000, WARM_UP = 8 };

/* One process writes, or asks and waits for answers; the other reads, or answers. */
struct talk {
    struct wire wire;
    struct pvma_tcp a, b;
    uint32_t bytes; /* of a message */
    unsigned rounds;
    pvma_ps took;
    bool done;
};

static uint8_t pattern(uint32_t i)
{
    return (uint8_t)(i * 7 + (i >> 8));
}

static void open_talk(struct talk *t, const struct pvma_tcp_settings *settings, uint32_t mtu)
{
    struct pvma_host_costs costs = {.tcp_out = {10, 0}, .tcp_in = {10, 0}};

    t->wire.delay = 100 * PVMA_US;
    t->wire.byte_time = 80 * PVMA_NS;
    wire_open(&t->wire, mtu, &costs);
    pvma_tcp_connect(&t->a, &t->wire.stations[0], settings, &t->b, &t->wire.stations[1], settings);
}

static void close_talk(struct talk *t)
{
    pvma_tcp_free(&t->a);
    pvma_tcp_free(&t->b);
    wire_close(&t->wire);
}

static void bulk_writer(void *arg)
{
    struct talk *t = arg;
    uint8_t *data = malloc(t->bytes);

    for (uint32_t i = 0; i < t->bytes; i++)
        data[i] = pattern(i);
    pvma_tcp_write(&t->a, data, t->bytes);
    free(data);
}

static void bulk_reader(void *arg)
{
    struct talk *t = arg;
    uint8_t *data = calloc(1, t->bytes);

    pvma_tcp_read(&t->b, data, t->bytes);
    for (uint32_t i = 0; i < t->bytes; i++)
        if (data[i] != pattern(i))
            ck_abort_msg("byte %u is wrong", i);
    free(data);
    t->took = pvma_sim_now(t->wire.sim);
    t->done = true;
}

static void run_bulk(struct talk *t, pvma_ps limit)
{
    wire_process(&t->wire, bulk_reader, t);
    wire_process(&t->wire, bulk_writer, t);
    wire_run(&t->wire, limit);
    ck_assert(t->done);
}

START_TEST(bulk_arrives)
{
    struct talk t = {.bytes = BULK};

    open_talk(&t, &pvma_tcp_sunos, MTU);
    run_bulk(&t, 10 * PVMA_S);
    ck_assert_uint_eq(t.a.counters.resent, 0);
    ck_assert_uint_eq(t.a.counters.timeouts, 0);
    close_talk(&t);
}
END_TEST

static struct pvma_random chances;

static bool loses_one_in_twenty(struct wire *wire, const uint8_t *packet, uint32_t length)
{
    (void)wire;
    (void)packet;
    (void)length;
    return pvma_random_below(&chances, 20) == 0;
}

START_TEST(loss_costs_time_only)
{
    struct talk t = {.bytes = BULK, .wire.loses = loses_one_in_twenty};

    pvma_random_init(&chances, (uint64_t)_i, "loss");
    open_talk(&t, &pvma_tcp_sunos, MTU);
    run_bulk(&t, 1000 * PVMA_S);
    ck_assert_uint_ge(t.a.counters.resent, 1);
    close_talk(&t);
}
END_TEST

static bool loses_the_tenth(struct wire *wire, const uint8_t *packet, uint32_t length)
{
    (void)packet;
    return length > MSS && wire->packets >= 30 && wire->lost == 0;
}

START_TEST(one_loss_is_repaired_without_a_timeout)
{
    struct talk t = {.bytes = BULK, .wire.loses = loses_the_tenth};

    open_talk(&t, &pvma_tcp_sunos, MTU);
    run_bulk(&t, 10 * PVMA_S);
    ck_assert_uint_eq(t.a.counters.fast_retransmits, 1);
    ck_assert_uint_eq(t.a.counters.timeouts, 0);
    ck_assert_uint_eq(t.a.counters.resent, 1);
    close_talk(&t);
}
END_TEST

static bool loses_first_data(struct wire *wire, const uint8_t *packet, uint32_t length)
{
    (void)packet;
    return length > 40 && wire->lost == 0;
}

/* No later segment reveals the loss: only the timer repairs it, after at least a second in ticks of 500 ms. */
START_TEST(a_lonely_loss_waits_for_the_timer)
{
    struct talk t = {.bytes = 100, .wire.loses = loses_first_data};

    open_talk(&t, &pvma_tcp_sunos, MTU);
    run_bulk(&t, 100 * PVMA_S);
    ck_assert_uint_eq(t.a.counters.timeouts, 1);
    ck_assert_int_ge(t.took, PVMA_S);
    close_talk(&t);
}
END_TEST

/* The congestion window starts with one segment and grows by one for each acknowledgement. */
START_TEST(slow_start_doubles)
{
    struct talk t = {.bytes = BULK};
    uint32_t first;

    open_talk(&t, &pvma_tcp_sunos, MTU);
    first = t.a.congestion;
    ck_assert_uint_eq(first, MSS);
    run_bulk(&t, 10 * PVMA_S);
    ck_assert_uint_ge(t.a.congestion, 8 * MSS);
    close_talk(&t);
}
END_TEST

static void asker(void *arg)
{
    struct talk *t = arg;
    uint8_t *data = calloc(1, t->bytes);
    pvma_ps start = 0;

    for (unsigned i = 0; i < WARM_UP + t->rounds; i++) {
        if (i == WARM_UP)
            start = pvma_sim_now(t->wire.sim);
        pvma_tcp_write(&t->a, data, t->bytes);
        pvma_tcp_read(&t->a, data, t->bytes);
    }
    t->took = pvma_sim_now(t->wire.sim) - start;
    t->done = true;
    free(data);
}

static void answerer(void *arg)
{
    struct talk *t = arg;
    uint8_t *data = calloc(1, t->bytes);

    for (;;) {
        pvma_tcp_read(&t->b, data, t->bytes);
        pvma_tcp_write(&t->b, data, t->bytes);
    }
}

/* Mean round-trip time, without the first trips, in which slow start waits for delayed acknowledgements. */
static pvma_ps trip(uint32_t bytes, bool no_delay, uint32_t mtu)
{
    struct talk t = {.bytes = bytes, .rounds = 10};
    struct pvma_tcp_settings settings = pvma_tcp_sunos;

    settings.no_delay = no_delay;
    open_talk(&t, &settings, mtu);
    wire_process(&t.wire, answerer, &t);
    wire_process(&t.wire, asker, &t);
    wire_run(&t.wire, 100 * PVMA_S);
    ck_assert(t.done);
    close_talk(&t);
    return t.took / t.rounds;
}

/* The ranges of slow sizes measured in the four-APIs paper, on its grid of 96 bytes. NODELAY ends the effect. */
START_TEST(nagle_and_delayed_acks_wait_for_each_other)
{
    static const struct {
        uint32_t mtu, bytes;
        bool slow;
    } cases[] = {
        {1500, 4000, false},  {1500, 4200, true},   {1500, 6900, true},   {1500, 7200, false},  {1500, 8300, false},
        {1500, 8600, true},   {1500, 9800, true},   {1500, 10100, false}, {1500, 11300, false}, {1500, 11500, true},
        {1500, 12700, true},  {1500, 13000, false}, {4352, 4000, false},  {4352, 4200, true},   {4352, 12600, true},
        {4352, 13000, false}, {9180, 4000, false},  {9180, 4200, true},   {9180, 13000, true},  {9180, 13400, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pvma_ps with = trip(cases[i].bytes, true, cases[i].mtu), without = trip(cases[i].bytes, false, cases[i].mtu);

        ck_assert_int_lt(with, 20 * PVMA_MS);
        ck_assert_msg((without > 100 * PVMA_MS) == cases[i].slow, "MTU %u, %u bytes: %.1f ms", cases[i].mtu,
                      cases[i].bytes, (double)without / 1e9);
    }
}
END_TEST

/* While the reader is away the window closes; the writer continues afterwards, even if the window update was lost. */
static bool loses_updates(struct wire *wire, const uint8_t *packet, uint32_t length)
{
    (void)packet;
    return length == 40 && pvma_sim_now(wire->sim) > 2 * PVMA_S && wire->lost < 3;
}

static void late_reader(void *arg)
{
    struct talk *t = arg;

    pvma_cpu_use(&t->wire.stations[1].cpu, 2 * PVMA_S + PVMA_MS);
    bulk_reader(t);
}

START_TEST(a_closed_window_is_probed)
{
    struct talk t = {.bytes = BULK, .wire.loses = loses_updates};

    open_talk(&t, &pvma_tcp_sunos, MTU);
    wire_process(&t.wire, late_reader, &t);
    wire_process(&t.wire, bulk_writer, &t);
    wire_run(&t.wire, 100 * PVMA_S);
    ck_assert(t.done);
    ck_assert_uint_ge(t.a.counters.probes, 1);
    close_talk(&t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("atm_tcp");
    TCase *all = tcase_create("atm_tcp");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(all, 50);
    tcase_add_test(all, bulk_arrives);
    tcase_add_loop_test(all, loss_costs_time_only, 1, 6);
    tcase_add_test(all, one_loss_is_repaired_without_a_timeout);
    tcase_add_test(all, a_lonely_loss_waits_for_the_timer);
    tcase_add_test(all, slow_start_doubles);
    tcase_add_test(all, nagle_and_delayed_acks_wait_for_each_other);
    tcase_add_test(all, a_closed_window_is_probed);
    suite_add_tcase(suite, all);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
