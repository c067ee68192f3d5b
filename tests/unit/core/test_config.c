/* test_config.c - settings from the environment, messages about malformed ones, and the search for PVM_ROOT. */
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "tests/unit/unit.h"
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static void clear(void)
{
    for (int i = 0; i < PVMC_SETTING_COUNT; i++)
        unsetenv(pvmc_setting_table[i].name);
    unit_log_start();
}

static int check(enum pvmc_setting which, const char *text)
{
    char why[256] = "";
    int status = pvmc_config_check(which, text, why, sizeof why);
    ck_assert_msg(!status == !*why, "%s: %d, \"%s\"", text, status, why);
    return status;
}

START_TEST(every_row_is_sound)
{
    for (int i = 0; i < PVMC_SETTING_COUNT; i++) {
        const struct pvmc_setting_row *row = &pvmc_setting_table[i];
        ck_assert_msg(!strncmp(row->name, "PVM", 3) || !strncmp(row->name, "DP_", 3), "%s", row->name);
        ck_assert_msg(*row->help, "%s has no help", row->name);
        if (*row->fallback)
            ck_assert_msg(!check(i, row->fallback), "%s has a malformed default", row->name);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(row->name, pvmc_setting_table[j].name);
    }
}
END_TEST

START_TEST(defaults_and_settings)
{
    clear();
    ck_assert_str_eq(pvmc_config_text(PVMC_SETTING_TMP), "/tmp");
    ck_assert_str_eq(pvmc_config_origin(PVMC_SETTING_TMP), "default");
    setenv("PVM_TMP", "/var/tmp", 1);
    ck_assert_str_eq(pvmc_config_text(PVMC_SETTING_TMP), "/var/tmp");
    ck_assert_str_eq(pvmc_config_origin(PVMC_SETTING_TMP), "environment");
    setenv("PVM_TMP", "", 1);
    ck_assert_str_eq(pvmc_config_text(PVMC_SETTING_TMP), "/tmp");
    ck_assert_str_eq(pvmc_config_origin(PVMC_SETTING_TMP), "default");
    ck_assert_str_eq(pvmc_config_text(PVMC_SETTING_RSH), "");
    ck_assert_int_eq(pvmc_config_integer(PVMC_SETTING_SPIN), -1);
    ck_assert_int_eq(pvmc_config_integer(PVMC_SETTING_LOG_MAX), 1 << 20);
    ck_assert_int_eq(pvmc_config_us(PVMC_SETTING_START_TIMEOUT), 30000000);
    ck_assert_int_eq(pvmc_config_integer(PVMC_SETTING_LOG), PVMC_LOG_WARNING);
    ck_assert(!pvmc_config_bool(PVMC_SETTING_ALLOW_ROOT));
    setenv("PVM_ALLOW_ROOT", "yes", 1);
    ck_assert(pvmc_config_bool(PVMC_SETTING_ALLOW_ROOT));
    setenv("PVM_LOG", "debug", 1);
    ck_assert_int_eq(pvmc_config_integer(PVMC_SETTING_LOG), PVMC_LOG_DEBUG);
    setenv("PVM_QUEUE_MAX", "3M", 1);
    ck_assert_int_eq(pvmc_config_integer(PVMC_SETTING_QUEUE_MAX), 3 << 20);
    ck_assert_int_eq(unit_log.count, 0);
}
END_TEST

struct sample {
    const char *text;
    int64_t value;
};

static void expect_values(enum pvmc_setting which, const struct sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        setenv(pvmc_setting_table[which].name, samples[i].text, 1);
        ck_assert_msg(pvmc_config_integer(which) == samples[i].value, "%s gives %lld", samples[i].text,
                      (long long)pvmc_config_integer(which));
        ck_assert_str_eq(pvmc_config_text(which), samples[i].text);
    }
    ck_assert_int_eq(unit_log.count, 0);
}

#define EXPECT_VALUES(which, ...)                                                                                      \
    expect_values(which, (const struct sample[]){__VA_ARGS__},                                                         \
                  sizeof((const struct sample[]){__VA_ARGS__}) / sizeof(struct sample))

static void expect_refused(enum pvmc_setting which, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(check(which, texts[i]) == PVMC_EPARAM, "\"%s\" was taken", texts[i]);
}

#define EXPECT_REFUSED(which, ...)                                                                                     \
    expect_refused(which, (const char *const[]){__VA_ARGS__},                                                          \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

START_TEST(integers)
{
    clear();
    EXPECT_VALUES(PVMC_SETTING_DEBUG_MASK, {"7", 7}, {"0x1F", 31}, {"-3", -3}, {"010", 10}, {"0", 0});
    EXPECT_REFUSED(PVMC_SETTING_DEBUG_MASK, "", "x", "7x", " 7", "7 ", "1.5", "0x", "0xg", "9223372036854775808", "1k");
    EXPECT_VALUES(PVMC_SETTING_PORT, {"0", 0}, {"65535", 65535});
    EXPECT_REFUSED(PVMC_SETTING_PORT, "-1", "65536");
}
END_TEST

START_TEST(sizes)
{
    clear();
    EXPECT_VALUES(PVMC_SETTING_LOG_MAX, {"0", 0}, {"4096", 4096}, {"64k", 65536}, {"64K", 65536}, {"16M", 16 << 20},
                  {"2g", (int64_t)2 << 30}, {"8589934591G", (int64_t)8589934591 << 30});
    EXPECT_REFUSED(PVMC_SETTING_LOG_MAX, "", "k", "-1", "+1", "1.5M", "1kk", "1kB", "1T", "8589934592G", "0x10", " 1");
    EXPECT_VALUES(PVMC_SETTING_QUEUE_MAX, {"65536", 65536}, {"64k", 65536});
    EXPECT_REFUSED(PVMC_SETTING_QUEUE_MAX, "65535", "63k", "0");
}
END_TEST

START_TEST(times)
{
    clear();
    EXPECT_VALUES(PVMC_SETTING_HOST_TIMEOUT, {"15", 15000000}, {"0.5", 500000}, {"15s", 15000000}, {"500ms", 500000});
    EXPECT_VALUES(PVMC_SETTING_START_TIMEOUT, {"0.1", 100000}, {"100ms", 100000}, {"100000us", 100000},
                  {"1.5s", 1500000}, {"2.", 2000000}, {"0.1234567899", 123456}, {"250.5ms", 250500});
    EXPECT_REFUSED(PVMC_SETTING_START_TIMEOUT, "", ".5", "-1", "1m", "1 s", "s", "1,5", "1e3", "1.5.5", "1sec", "0",
                   "99ms", "9223372036854775807", "9223372036854775807us");
}
END_TEST

START_TEST(factors)
{
    clear();
    EXPECT_VALUES(PVMC_SETTING_ATM_CPU, {"0", 0}, {"1", 1000000}, {"12.5", 12500000}, {"0.001", 1000},
                  {"3000", 3000000000}, {"2.", 2000000}, {"007.25", 7250000}, {"0.1234567", 123456},
                  {"1000000", 1000000000000});
    EXPECT_REFUSED(PVMC_SETTING_ATM_CPU, "", ".5", "-1", "-0.5", "+1", " 1", "1 ", "1,5", "1e3", "1.5.5", "12.5x",
                   "0x10", "fast", "1000000.000001", "1000001", "9223372036854775807", "9223372036854775808");
}
END_TEST

START_TEST(names_and_paths)
{
    char longest[PATH_MAX + 1];
    memset(longest, 'x', sizeof longest);
    longest[PATH_MAX] = '\0';
    ck_assert_int_eq(check(PVMC_SETTING_VMID, "run-7.b"), 0);
    EXPECT_REFUSED(PVMC_SETTING_VMID, "../x", "a b", "a\nb", longest);
    ck_assert_int_eq(check(PVMC_SETTING_VMID, longest + PATH_MAX - 128), 0);
    ck_assert_int_eq(check(PVMC_SETTING_VMID, longest + PATH_MAX - 129), PVMC_EPARAM);
    ck_assert_int_eq(check(PVMC_SETTING_TMP, longest), PVMC_EPARAM);
    ck_assert_int_eq(check(PVMC_SETTING_TMP, longest + 1), 0);
    ck_assert_int_eq(check(PVMC_SETTING_PATH, longest), 0); /* a text */
    EXPECT_REFUSED(PVMC_SETTING_ALLOW_ROOT, "", "2", "maybe");
    EXPECT_REFUSED(PVMC_SETTING_LOG, "", "loud", "1");
}
END_TEST

START_TEST(a_wrong_value_is_told_once)
{
    clear();
    setenv("PVM_HOST_TIMEOUT", "soon", 1);
    ck_assert_int_eq(pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT), 15000000);
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_int_eq(unit_log.level, PVMC_LOG_ERROR);
    ck_assert_str_eq(unit_log.line, "PVM_HOST_TIMEOUT=\"soon\" is not usable: set it to a time in seconds such as 15, "
                                    "0.5 or 200ms, at least 500ms (the default is used: \"15\")");
    ck_assert_str_eq(pvmc_config_origin(PVMC_SETTING_HOST_TIMEOUT), "default");
    ck_assert_str_eq(pvmc_config_text(PVMC_SETTING_HOST_TIMEOUT), "15");
    ck_assert_int_eq(unit_log.count, 1);
    setenv("PVMNETSOCKPORT", "70000", 1);
    ck_assert_int_eq(pvmc_config_integer(PVMC_SETTING_PORT), 0);
    ck_assert_int_eq(unit_log.count, 2);
    ck_assert_str_eq(unit_log.line, "PVMNETSOCKPORT=\"70000\" is not usable: set it to a whole number from 0 to 65535 "
                                    "(the default is used: \"0\")");
}
END_TEST

START_TEST(limits_are_told_as_one_writes_them)
{
    char why[256];
    pvmc_config_check(PVMC_SETTING_ATM_CPU, "12,5", why, sizeof why);
    ck_assert_str_eq(why, "PVM_ATM_CPU=\"12,5\" is not usable: set it to a number such as 3000, 12.5 or 0.1 from 0 to "
                          "1000000");
    pvmc_config_check(PVMC_SETTING_QUEUE_MAX, "1", why, sizeof why);
    ck_assert_str_eq(why,
                     "PVM_QUEUE_MAX=\"1\" is not usable: set it to a size such as 4096, 64k, 16M or 1G, at least 64k");
    pvmc_config_check(PVMC_SETTING_ALLOW_ROOT, "x", why, sizeof why);
    ck_assert_str_eq(why, "PVM_ALLOW_ROOT=\"x\" is not usable: set it to 0 or 1 (or no, yes, off, on)");
}
END_TEST

START_TEST(unknown_variables_are_told_once)
{
    clear();
    setenv("PVM_HOSTFILE", "x", 1); /* PVMHOSTFILE is meant */
    pvmc_config_warn_unknown();
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_int_eq(unit_log.level, PVMC_LOG_WARNING);
    ck_assert_str_eq(unit_log.line,
                     "environment variable PVM_HOSTFILE is not known and ignored; did you mean PVMHOSTFILE?");
    pvmc_config_warn_unknown();
    ck_assert_int_eq(unit_log.count, 1);
}
END_TEST

static char all_lines[8192];

static void collect(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level;
    (void)arg;
    size_t length = strlen(all_lines);
    snprintf(all_lines + length, sizeof all_lines - length, "%s\n", line);
}

static const struct {
    const char *name, *meant; /* NULL: no name is similar enough */
} guesses[] = {
    {"PVM_QUEU_MAX", "PVM_QUEUE_MAX"},
    {"PVM_QUEUEE_MAX", "PVM_QUEUE_MAX"},
    {"PVM_QUEVE_MAX", "PVM_QUEUE_MAX"},
    {"PVM_TRANSPORTS", "PVM_TRANSPORT"},
    {"PVM_TRASNPORT", "PVM_TRANSPORT"},
    {"PVM_LAUNCHING", "PVM_LAUNCHER"},
    {"PVM_STAT_TIME_OUT", "PVM_START_TIMEOUT"},
    {"PVM_HOSTERXYZW", NULL},
    {"PVM_WXYZABCD", NULL},
};

START_TEST(wrong_names_get_a_guess)
{
    clear();
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++)
        setenv(guesses[i].name, "x", 1);
    pvmc_log_to(collect, NULL, PVMC_LOG_WARNING);
    pvmc_config_warn_unknown();
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++) {
        char expected[256];
        if (guesses[i].meant)
            snprintf(expected, sizeof expected, " %s is not known and ignored; did you mean %s?\n", guesses[i].name,
                     guesses[i].meant);
        else
            snprintf(expected, sizeof expected, " %s is not known and ignored; pvm-info", guesses[i].name);
        ck_assert_msg(strstr(all_lines, expected), "no \"%s\" in: %s", expected, all_lines);
    }
}
END_TEST

START_TEST(strange_names_get_no_guess)
{
    clear();
    setenv("PVM_COMPLETELY_DIFFERENT_AND_VERY_LONG_NAME_THAT_NOBODY_WOULD_EVER_THINK_OF", "x", 1);
    pvmc_config_warn_unknown();
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "pvm-info -c lists all"));
}
END_TEST

START_TEST(known_variables_are_fine)
{
    clear();
    for (int i = 0; i < PVMC_SETTING_COUNT; i++)
        setenv(pvmc_setting_table[i].name, "1", 1);
    setenv("PVMX", "not ours to judge", 1);
    setenv("MY_PVM_FLAG", "neither", 1);
    pvmc_config_warn_unknown();
    ck_assert_int_eq(unit_log.count, 0);
}
END_TEST

START_TEST(daemon_files)
{
    char path[PATH_MAX], expected[PATH_MAX], small[10];
    clear();
    ck_assert_int_eq(pvmc_config_daemon_file("pvmd", path, sizeof path), 0);
    snprintf(expected, sizeof expected, "/tmp/pvmd.%u", (unsigned)getuid());
    ck_assert_str_eq(path, expected);
    setenv("PVM_TMP", "/var/tmp", 1);
    setenv("PVM_VMID", "two", 1);
    ck_assert_int_eq(pvmc_config_daemon_file("pvml", path, sizeof path), 0);
    snprintf(expected, sizeof expected, "/var/tmp/pvml.%u.two", (unsigned)getuid());
    ck_assert_str_eq(path, expected);
    ck_assert_int_eq(pvmc_config_daemon_file("pvml", small, sizeof small), PVMC_ELIMIT);
    ck_assert_int_eq(unit_log.count, 1);
    setenv("PVM_VMID", "../../etc/x", 1);
    ck_assert_int_eq(pvmc_config_daemon_file("pvmd", path, sizeof path), PVMC_EPARAM);
    ck_assert_int_eq(unit_log.count, 2);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "PVM_VMID"));
}
END_TEST

/* ---- PVM_ROOT ---- */

static char tree[] = "/tmp/dpvm-test-config-XXXXXX";

static void make_folder(const char *below)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", tree, below);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void expect_root(const char *file, const char *expected)
{
    char path[PATH_MAX], root[PATH_MAX], wanted[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", tree, file);
    int status = pvmc_config_root_of(path, root, sizeof root);
    if (!expected) {
        ck_assert_int_eq(status, PVMC_ENOTFOUND);
        return;
    }
    snprintf(wanted, sizeof wanted, "%s/%s", tree, expected);
    ck_assert_msg(!status, "%s: no root", file);
    ck_assert_str_eq(root, wanted);
}

START_TEST(the_root_is_found_from_where_code_lies)
{
    static const char *const folders[] = {
        "bin",          "lib",           "lib/pvm3", "lib/pvm3/bin", "lib/pvm3/bin/LINUX64",
        "lib/pvm3/lib", "lib/pvm3/conf", "other",    "other/bin"};
    int count = sizeof folders / sizeof folders[0];
    ck_assert_ptr_nonnull(mkdtemp(tree));
    for (int i = 0; i < count; i++)
        make_folder(folders[i]);
    expect_root("bin/pvmd3", "lib/pvm3");
    expect_root("lib/libpvm3.so.3", "lib/pvm3");
    expect_root("lib/pvm3/bin/LINUX64/pvmgs", "lib/pvm3");
    expect_root("lib/pvm3/lib/pvmd3", "lib/pvm3");
    expect_root("other/bin/program", NULL);
    expect_root("other/bin/libpvm3.so.3", NULL);
    expect_root("program", NULL);
    for (int i = count; i-- > 0;) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", tree, folders[i]);
        rmdir(path);
    }
    ck_assert_int_eq(rmdir(tree), 0);
}
END_TEST

START_TEST(the_user_sets_the_root)
{
    clear();
    ck_assert_uint_gt(strlen(pvmc_config_root()), 0);
    setenv("PVM_ROOT", "/opt/pvm3", 1);
    ck_assert_str_eq(pvmc_config_root(), "/opt/pvm3");
    unsetenv("PVM_ROOT");
    ck_assert_str_ne(pvmc_config_root(), "/opt/pvm3");
}
END_TEST

UNIT_MAIN("config", every_row_is_sound, defaults_and_settings, integers, sizes, times, factors, names_and_paths,
          a_wrong_value_is_told_once, limits_are_told_as_one_writes_them, unknown_variables_are_told_once,
          wrong_names_get_a_guess, strange_names_get_no_guess, known_variables_are_fine, daemon_files,
          the_root_is_found_from_where_code_lies, the_user_sets_the_root)
