/* test_failpoint.c - failpoints of PVM_FAULT: their grammar, and each action. tests/machine/hosts/failpoints has
 * daemons. */
#include <errno.h>
#include <signal.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/fault/plan.h"
#include "unit.h"

static char why[PVMC_FAULT_WHY];

static struct pvmc_fault_plan good(const char *text)
{
    struct pvmc_fault_plan plan;
    ck_assert_msg(!pvmc_fault_plan_read(&plan, text, why, sizeof why), "%s: %s", text, why);
    return plan;
}

/* With PVM_FAULT=text, in the daemon of this host; NULL: in the group server. */
static void start(const char *text, const char *host)
{
    unit_log_start();
    setenv("PVM_FAULT", text, 1);
    pvmc_failpoint_start(host);
}

START_TEST(points_are_read)
{
    struct pvmc_fault_plan p = good("drop=1%,link.write=error/3,mailbox.put.done@h-2.example=crash,"
                                    "log.write=delay:2ms/7+,door.judge=error/0.5%");
    ck_assert_uint_eq(p.drop, 10000);
    ck_assert_uint_eq(p.point_count, 4);
    const struct pvmc_fault_point *a = p.points;
    ck_assert(a[0].which == PVMC_FAILPOINT_LINK_WRITE && !a[0].done && a[0].action == PVMC_FAULT_ERROR);
    ck_assert(a[0].first == 3 && a[0].last == 3 && !*a[0].host);
    ck_assert(a[1].which == PVMC_FAILPOINT_MAILBOX_PUT && a[1].done && a[1].action == PVMC_FAULT_CRASH);
    ck_assert_str_eq(a[1].host, "h-2.example");
    ck_assert(a[1].first == 1 && a[1].last == 0);
    ck_assert(a[2].action == PVMC_FAULT_DELAY && a[2].delay_us == 2000 && a[2].first == 7 && a[2].last == 0);
    ck_assert_uint_eq(a[3].millionths, 5000);
    ck_assert(pvmc_fault_plan_has_links(&p));
    p = good("link.write=error");
    ck_assert(!pvmc_fault_plan_has_links(&p));
}
END_TEST

START_TEST(malformed_points_are_explained)
{
    static const struct {
        const char *text, *part; /* of the explanation */
    } bad[] = {
        {"mailbx.put=crash", "\"mailbx.put\" is not a failpoint; near it are mailbox.put"},
        {"link.shout=crash", "near it are link.connect, link.preface, link.verdict, link.tls"},
        {"nowhere.at.all=crash", "pvm-info --failpoints lists them"},
        {".done=crash", "pvm-info --failpoints"},
        {"link.write=explode", "set it to crash, error or delay:TIME"},
        {"link.write=delay", "set it to crash, error or delay:TIME"},
        {"link.write=delay:11s", "set it to crash, error or delay:TIME"},
        {"link.write=crash/", "/3, /3+ or /5%"},
        {"link.write=crash/0", "/3, /3+ or /5%"},
        {"link.write=crash/3-", "/3, /3+ or /5%"},
        {"link.write=crash/101%", "/3, /3+ or /5%"},
        {"link.write=crash/-1%", "/3, /3+ or /5%"},
        {"link.write=crash/1234567890123456789", "/3, /3+ or /5%"},
        {"link.write.done=error", "link.write.done=error: it cannot fail there"},
        {"link.hello=error/2", "link.hello=error/2: it cannot fail there"},
        {"link.write@=crash", "a host's name"},
        {"group.join@h2=crash", "a machine has one group server"},
        {"link.write", "name=value"},
        {"link.write=crash,", "name=value"},
    };
    struct pvmc_fault_plan plan;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        why[0] = '\0';
        ck_assert_msg(pvmc_fault_plan_read(&plan, bad[i].text, why, sizeof why) == PVMC_EPARAM, "%s", bad[i].text);
        ck_assert_msg(strstr(why, bad[i].part), "%s: %s", bad[i].text, why);
    }
    char many[PVMC_FAULT_POINTS_MAX * 20 + 40] = "log.write=crash";
    for (int i = 0; i < PVMC_FAULT_POINTS_MAX; i++)
        strcat(many, ",log.write=crash");
    ck_assert_int_eq(pvmc_fault_plan_read(&plan, many, why, sizeof why), PVMC_EPARAM);
    ck_assert_str_eq(why, "more than 16 failpoints");
}
END_TEST

START_TEST(every_name_is_read)
{
    for (int i = 0; i < PVMC_FAILPOINT_COUNT; i++) {
        char text[80];
        snprintf(text, sizeof text, "%s=crash,%s.done=crash", pvmc_failpoint_table[i].name,
                 pvmc_failpoint_table[i].name);
        struct pvmc_fault_plan p = good(text);
        ck_assert_int_eq(p.points[0].which, i);
        ck_assert_int_eq(p.points[1].which, i);
        ck_assert(!p.points[0].done && p.points[1].done);
    }
}
END_TEST

START_TEST(without_points_nothing_happens)
{
    start("seed=3,drop=50%", "h1");
    ck_assert(!pvmc_failpoint_any);
    ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_LINK_WRITE), 0);
    ck_assert_int_eq(unit_log.count, 0);
}
END_TEST

START_TEST(an_error_comes_at_its_pass)
{
    start("link.write=error/3", "h1");
    for (int pass = 1; pass <= 5; pass++) {
        errno = 0;
        ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_LINK_WRITE), pass == 3 ? PVMC_ESYSTEM : 0);
        ck_assert_int_eq(errno, pass == 3 ? EIO : 0);
        pvmc_failpoint_done(PVMC_FAILPOINT_LINK_WRITE);
        ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_LINK_READ), 0);
    }
    ck_assert_str_eq(unit_log.line, "failpoint link.write, pass 3: error");
    start("link.write=error/4+", "h1");
    for (int pass = 1; pass <= 6; pass++)
        ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_LINK_WRITE) != 0, pass >= 4);
}
END_TEST

START_TEST(a_probability_repeats_with_its_seed)
{
    unsigned hits[2] = {0, 0}, first[2] = {0, 0};
    for (int round = 0; round < 2; round++) {
        start("seed=9,link.write=error/10%", "h1");
        for (unsigned pass = 1; pass <= 1000; pass++)
            if (pvmc_failpoint(PVMC_FAILPOINT_LINK_WRITE)) {
                hits[round]++;
                first[round] = first[round] ? first[round] : pass;
            }
    }
    ck_assert_uint_gt(hits[0], 50);
    ck_assert_uint_lt(hits[0], 150);
    ck_assert_uint_eq(hits[0], hits[1]);
    ck_assert_uint_eq(first[0], first[1]);
}
END_TEST

START_TEST(a_delay_lasts)
{
    start("mailbox.put.done=delay:30ms/2", "h1");
    int64_t began = pvmc_clock_us();
    pvmc_failpoint_done(PVMC_FAILPOINT_MAILBOX_PUT);
    ck_assert_int_eq(unit_log.count, 1); /* that steps fail on purpose */
    pvmc_failpoint_done(PVMC_FAILPOINT_MAILBOX_PUT);
    ck_assert_int_ge(pvmc_clock_us() - began, 30000);
    ck_assert_str_eq(unit_log.line, "failpoint mailbox.put.done, pass 2: delay");
}
END_TEST

/* Check runs it in a process of its own, and expects the signal. */
START_TEST(a_crash_kills)
{
    start("task.end=crash", "h1");
    pvmc_failpoint(PVMC_FAILPOINT_TASK_END);
}
END_TEST

START_TEST(points_of_others_do_not_count)
{
    start("link.write@h2=error,group.leave=crash", "h1");
    ck_assert(!pvmc_failpoint_any);
    start("link.write@H2=error", "h2");
    ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_LINK_WRITE), PVMC_ESYSTEM);
    start("link.write=error,group.join=error", NULL);
    ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_LINK_WRITE), 0);
    ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_GROUP_JOIN), PVMC_ESYSTEM);
}
END_TEST

START_TEST(a_malformed_text_is_logged_and_ignored)
{
    start("link.wrte=error", "h1");
    ck_assert_int_eq(unit_log.level, PVMC_LOG_ERROR);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "PVM_FAULT is not usable and ignored: \"link.wrte\""));
    ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_LINK_WRITE), 0);
}
END_TEST

/* What is logged on the way may pass a failpoint itself. */
static void sink(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line;
    ++*(int *)arg;
    ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_LOG_WRITE), 0);
}

START_TEST(the_log_of_a_failpoint_passes_none)
{
    int lines = 0;
    setenv("PVM_FAULT", "log.write=error", 1);
    pvmc_failpoint_start("h1");
    pvmc_log_to(sink, &lines, PVMC_LOG_DEBUG);
    ck_assert_int_eq(pvmc_failpoint(PVMC_FAILPOINT_LOG_WRITE), PVMC_ESYSTEM);
    ck_assert_int_eq(lines, 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {points_are_read,
                                  malformed_points_are_explained,
                                  every_name_is_read,
                                  without_points_nothing_happens,
                                  an_error_comes_at_its_pass,
                                  a_probability_repeats_with_its_seed,
                                  a_delay_lasts,
                                  points_of_others_do_not_count,
                                  a_malformed_text_is_logged_and_ignored,
                                  the_log_of_a_failpoint_passes_none};
    Suite *suite = suite_create("failpoint");
    TCase *all = tcase_create("failpoint");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(all, tests[i]);
    tcase_add_test_raise_signal(all, a_crash_kills, SIGKILL);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
