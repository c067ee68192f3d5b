/* unit.h - common parts of unit tests: main(), and access to the log. */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* UNIT_MAIN("noun", test, test, ...) at the end of the file; each test runs in a process of its own. */
#define UNIT_MAIN(noun, ...)                                                                                           \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const TTest *const tests[] = {__VA_ARGS__};                                                                    \
        return unit_run(noun, tests, sizeof tests / sizeof tests[0]);                                                  \
    }

static inline int unit_run(const char *noun, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(noun);
    TCase *all = tcase_create(noun);
    tcase_set_timeout(all, 120);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(all, tests[i]);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#ifdef PVMC_LOG_H /* include log.h first */

static struct {
    int count;
    enum pvmc_log_level level;
    char line[2048]; /* the last one */
} unit_log;

static void unit_log_sink(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)arg;
    unit_log.count++;
    unit_log.level = level;
    snprintf(unit_log.line, sizeof unit_log.line, "%s", line);
}

/* Captures log lines in unit_log from now on. */
static inline void unit_log_start(void)
{
    unit_log.count = 0;
    unit_log.line[0] = '\0';
    pvmc_log_to(unit_log_sink, NULL, PVMC_LOG_DEBUG);
}

#endif
#endif
