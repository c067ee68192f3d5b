/*
 * test_fault.c - the grammar of PVM_FAULT, and the transports that it wraps. tests/conform tests the faults themselves.
 */
#include "core/error.h"
#include "core/log.h"
#include "transports/fault/fault.h"
#include "unit.h"

static char why[PVMC_FAULT_WHY];

static struct pvmc_fault_plan good(const char *text)
{
    struct pvmc_fault_plan plan;
    ck_assert_msg(!pvmc_fault_plan_read(&plan, text, why, sizeof why), "%s: %s", text, why);
    return plan;
}

START_TEST(texts_are_read)
{
    struct pvmc_fault_plan p = good("seed=7,drop=1%,delay=2ms,cut=0.1%,refuse=100%,nojoin=0.0001%");
    ck_assert_uint_eq(p.seed, 7);
    ck_assert_uint_eq(p.drop, 10000);
    ck_assert_uint_eq(p.cut, 1000);
    ck_assert_uint_eq(p.refuse, PVMC_FAULT_CERTAIN);
    ck_assert_uint_eq(p.nojoin, 1);
    ck_assert_int_eq(p.delay_us, 2000);
    ck_assert_int_eq(good("delay=500us").delay_us, 500);
    ck_assert_int_eq(good("delay=0.25s").delay_us, 250000);
    ck_assert(pvmc_fault_plan_has_links(&p));
    p = good("");
    ck_assert(!pvmc_fault_plan_has_links(&p));
    p = good("seed=3,drop=0%,delay=0ms");
    ck_assert(!pvmc_fault_plan_has_links(&p));
}
END_TEST

START_TEST(malformed_texts_are_explained)
{
    static const struct {
        const char *text, *part; /* of the explanation */
    } bad[] = {
        {"drop", "name=value"},
        {"drop=", "name=value"},
        {"drop=1%,", "name=value"},
        {",drop=1%", "name=value"},
        {"drop=1%;cut=1%", "drop=1%;cut=1%: set it to a percentage"},
        {"drop=1", "a percentage such as"},
        {"drop=101%", "a percentage such as"},
        {"drop=-1%", "a percentage such as"},
        {"drop=1e1%", "a percentage such as"},
        {"drop=.%", "a percentage such as"},
        {"drop=nan%", "a percentage such as"},
        {"lose=1%", "\"lose\" is not a fault; choose from seed, drop, cut, refuse, nojoin, delay"},
        {"delay=2", "a time up to 10s"},
        {"delay=11s", "a time up to 10s"},
        {"delay=2 ms", "a time up to 10s"},
        {"seed=x", "a whole number"},
        {"seed=-1", "a whole number"},
        {"seed=99999999999999999999", "a whole number"},
        {"seed=11111111111111111111111111111111111111111111111111111", "name=value"},
    };
    struct pvmc_fault_plan plan;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        why[0] = '\0';
        ck_assert_msg(pvmc_fault_plan_read(&plan, bad[i].text, why, sizeof why) == PVMC_EPARAM, "%s", bad[i].text);
        ck_assert_msg(strstr(why, bad[i].part), "%s: %s", bad[i].text, why);
    }
}
END_TEST

START_TEST(every_prefix_is_read_or_refused)
{
    static const char text[] = "seed=7,drop=1%,delay=2.5ms,cut=0.1%";
    struct pvmc_fault_plan plan;
    for (size_t length = 0; length < sizeof text; length++) {
        char prefix[sizeof text] = "";
        memcpy(prefix, text, length);
        int rc = pvmc_fault_plan_read(&plan, prefix, why, sizeof why);
        ck_assert(rc == 0 || (rc == PVMC_EPARAM && why[0]));
    }
}
END_TEST

START_TEST(random_numbers_repeat_and_spread)
{
    uint64_t a = 5, b = 5;
    unsigned low = 0;
    for (int i = 0; i < 10000; i++) {
        uint32_t x = pvmc_fault_random(&a);
        ck_assert_uint_eq(x, pvmc_fault_random(&b));
        low += x % PVMC_FAULT_CERTAIN < PVMC_FAULT_CERTAIN / 10;
    }
    ck_assert_uint_gt(low, 800);
    ck_assert_uint_lt(low, 1200);
}
END_TEST

START_TEST(without_faults_nothing_is_wrapped)
{
    const struct pvmt_transport_ops *loop = pvmt_transport_find("loop");
    unsetenv("PVM_FAULT");
    ck_assert_ptr_eq(pvmt_fault_wrap(loop), loop);
    setenv("PVM_FAULT", "seed=4", 1);
    ck_assert_ptr_eq(pvmt_fault_wrap(loop), loop);
}
END_TEST

START_TEST(malformed_settings_are_told_once)
{
    const struct pvmt_transport_ops *loop = pvmt_transport_find("loop");
    unit_log_start();
    setenv("PVM_FAULT", "drop=often", 1);
    ck_assert_ptr_eq(pvmt_fault_wrap(loop), loop);
    ck_assert_ptr_eq(pvmt_fault_wrap(loop), loop);
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_int_eq(unit_log.level, PVMC_LOG_ERROR);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "PVM_FAULT"));
    ck_assert_ptr_nonnull(strstr(unit_log.line, "drop=often: set it to a percentage"));
}
END_TEST

START_TEST(wrapped_transports_look_the_same)
{
    const struct pvmt_transport_ops *loop = pvmt_transport_find("loop"), *wrapped;
    struct pvmt_attributes inner, outer;
    loop->query(NULL, &inner);
    setenv("PVM_FAULT", "delay=1ms,refuse=5%", 1);
    wrapped = pvmt_fault_wrap(loop);
    ck_assert_ptr_ne(wrapped, loop);
    ck_assert_ptr_eq(pvmt_fault_wrap(loop), wrapped);
    ck_assert_str_eq(wrapped->name, "loop");
    wrapped->query(NULL, &outer);
    ck_assert_mem_eq(&inner, &outer, sizeof inner);
    setenv("PVM_FAULT", "cut=1%", 1);
    pvmt_fault_wrap(loop)->query(NULL, &outer);
    ck_assert(inner.lossless && !outer.lossless);
}
END_TEST

START_TEST(the_daemons_socket_is_never_wrapped)
{
    const struct pvmt_transport_ops *socket = pvmt_transport_find("unix");
    setenv("PVM_FAULT", "drop=50%", 1);
    ck_assert_ptr_eq(pvmt_fault_wrap(socket), socket);
}
END_TEST

UNIT_MAIN("fault", texts_are_read, malformed_texts_are_explained, every_prefix_is_read_or_refused,
          random_numbers_repeat_and_spread, without_faults_nothing_is_wrapped, malformed_settings_are_told_once,
          wrapped_transports_look_the_same, the_daemons_socket_is_never_wrapped)
