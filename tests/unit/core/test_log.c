/* test_log.c - levels, truncation, escaped control characters, and the return to stderr. */
#include "core/log.h"
#include "tests/unit/unit.h"
#include <errno.h>
#include <unistd.h>

START_TEST(lines_up_to_the_level_reach_the_sink)
{
    unit_log_start();
    pvmc_log_to(unit_log_sink, NULL, PVMC_LOG_WARNING);
    pvmc_log(PVMC_LOG_INFO, "quiet");
    ck_assert_int_eq(unit_log.count, 0);
    pvmc_log(PVMC_LOG_WARNING, "tid t%x has %d", 0x40001, 7);
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_str_eq(unit_log.line, "tid t40001 has 7");
    ck_assert_int_eq(unit_log.level, PVMC_LOG_WARNING);
    pvmc_log(PVMC_LOG_ERROR, "worse");
    ck_assert_int_eq(unit_log.level, PVMC_LOG_ERROR);
}
END_TEST

START_TEST(long_lines_are_cut)
{
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    unit_log_start();
    pvmc_log(PVMC_LOG_ERROR, "%s", text);
    ck_assert_uint_eq(strlen(unit_log.line), 1023);
}
END_TEST

START_TEST(quoted_bytes_cannot_forge_lines)
{
    unit_log_start();
    pvmc_log(PVMC_LOG_ERROR, "name %s", "a\n[t80040000] forged\x1b[2J\x7f\tb\xc3\xa4");
    ck_assert_str_eq(unit_log.line, "name a\\x0a[t80040000] forged\\x1b[2J\\x7f\tb\xc3\xa4");
}
END_TEST

START_TEST(errno_is_kept)
{
    unit_log_start();
    errno = EXDEV;
    pvmc_log(PVMC_LOG_ERROR, "%m");
    ck_assert_int_eq(errno, EXDEV);
    ck_assert_str_eq(unit_log.line, "Invalid cross-device link");
}
END_TEST

START_TEST(once_is_once)
{
    unit_log_start();
    for (int i = 0; i < 5; i++)
        pvmc_log_once(PVMC_LOG_WARNING, "round %d", i);
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_str_eq(unit_log.line, "round 0");
}
END_TEST

START_TEST(null_sink_is_stderr)
{
    int ends[2];
    char text[64] = "";
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    unit_log_start();
    pvmc_log_to(NULL, NULL, PVMC_LOG_INFO);
    pvmc_log(PVMC_LOG_DEBUG, "not this");
    pvmc_log(PVMC_LOG_INFO, "this");
    ck_assert_int_eq(unit_log.count, 0);
    ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
    ck_assert_str_eq(text, "dpvm: this\n");
}
END_TEST

UNIT_MAIN("log", lines_up_to_the_level_reach_the_sink, long_lines_are_cut, quoted_bytes_cannot_forge_lines,
          errno_is_kept, once_is_once, null_sink_is_stderr)
