/*
 * test_pvmd_libraries.c - how the daemon changes LD_LIBRARY_PATH and LD_PRELOAD of a task, and whose folders it trusts.
 * The daemon's program and libraries are empty files in a folder of the test; each test runs in a process of its own.
 */
#include "pvmd/spawn/libraries.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/message/dsig.h"
#include "core/log.h"
#include "pvmd/base/self.h"
#include "pvmd/base/own_path.h"
#include "tests/unit/unit.h"

struct pvmd_daemon pvmd;

static char base[] = "/tmp/dpvm-libraries.XXXXXX", program[100], ours[200];

const char *pvmd_own_path(void)
{
    return program;
}

/* ---- an installation ---- */

static void run(const char *format, const char *text)
{
    char command[1000];
    snprintf(command, sizeof command, format, text);
    ck_assert_int_eq(system(command), 0);
}

static void install(const char *prefix)
{
    unit_log_start();
    ck_assert_ptr_nonnull(mkdtemp(base));
    ck_assert_int_eq(chdir(base), 0);
    snprintf(program, sizeof program, "%s/%s/bin/pvmd3", base, prefix);
    snprintf(ours, sizeof ours, "%s/%s/lib/pvm3/lib/%s", base, prefix, pvmc_arch_own());
    run("mkdir -p one/bin other foreign none && touch foreign/libpvm3.so.3 && mkdir -p '%s'", ours);
    run("cd '%s' && mkdir -p ../../../../bin && touch ../../../libpvm3.so.3 ../../../libdpvm_tls.so "
        "../../../../bin/pvmd3 && "
        "ln -s ../../../libpvm3.so.3 .",
        ours);
    run("touch other/libpvm3.so.3 other/libdpvm_tls.so%s", "");
}

static void uninstall(void)
{
    run("rm -rf '%s'", base);
}

/* ---- a task's environment ---- */

/* Expected texts with OURS for our folder and BASE for the test's. */
static const char *fill(const char *text)
{
    static char filled[2][4000];
    static unsigned turn;
    char *out = filled[turn++ % 2];
    size_t n = 0;
    while (*text) {
        const char *word = !strncmp(text, "OURS", 4) ? ours : !strncmp(text, "BASE", 4) ? base : NULL;
        if (word)
            n += sprintf(out + n, "%s", word), text += 4;
        else
            out[n++] = *text++;
    }
    out[n] = '\0';
    return out;
}

static void set(struct pvmd_environment *e, const char *name, const char *value)
{
    char variable[4000];
    snprintf(variable, sizeof variable, "%s=%s", name, fill(value));
    if (value)
        ck_assert_int_eq(pvmd_environment_set(e, variable), 0);
}

static void expect(const char *how, const char *name, const char *before, const char *after)
{
    struct pvmd_environment e = {0};
    if (how)
        set(&e, "PVM_LIBRARIES", how);
    if (before)
        set(&e, name, before);
    ck_assert_int_eq(pvmd_libraries_set(&e), 0);
    const char *value = pvmd_environment_get(&e, name);
    ck_assert_str_eq(value ? value : "(none)", fill(after));
    pvmd_environment_free(&e);
}

static const struct {
    const char *before, *after;
} cases[] = {
    {NULL, "OURS"},
    {"", "OURS"}, /* an empty part would mean the working directory */
    {":", "OURS::"},
    {"/usr/lib", "OURS:/usr/lib"},
    {"BASE/none:BASE/foreign", "OURS:BASE/none:BASE/foreign"},
    {"BASE/foreign:OURS", "OURS:BASE/foreign:OURS"},
    {"OURS", "OURS"},
    {"OURS:BASE/foreign", "OURS:BASE/foreign"},
    {"BASE/none:OURS:BASE/foreign", "BASE/none:OURS:BASE/foreign"},
    {"BASE/none;OURS", "BASE/none;OURS"},
    {"BASE/other:BASE/foreign", "BASE/other:BASE/foreign"}, /* another dpvm */
    {"other:OURS", "OURS:other:OURS"},                      /* relative to the task's future working directory */
    {":OURS", "OURS::OURS"},
    {"BASE/$LIB:OURS", "OURS:BASE/$LIB:OURS"},
};

START_TEST(the_first_library_is_a_dpvms)
{
    install("one");
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(NULL, "LD_LIBRARY_PATH", cases[i].before, cases[i].after);
        expect("path", "LD_LIBRARY_PATH", cases[i].before, cases[i].after);
        expect("preload", "LD_LIBRARY_PATH", cases[i].before, cases[i].after);
        expect("none", "LD_LIBRARY_PATH", cases[i].before, cases[i].before ? cases[i].before : "(none)");
    }
    uninstall();
}
END_TEST

START_TEST(libraries_are_preloaded_when_asked)
{
    install("one");
    expect(NULL, "LD_PRELOAD", NULL, "(none)");
    expect("path", "LD_PRELOAD", "/x.so", "/x.so");
    expect("none", "LD_PRELOAD", NULL, "(none)");
    expect("preload", "LD_PRELOAD", NULL, "OURS/libpvm3.so.3:OURS/libgpvm3.so.3");
    expect("preload", "LD_PRELOAD", "", "OURS/libpvm3.so.3:OURS/libgpvm3.so.3");
    expect("preload", "LD_PRELOAD", "/x.so", "/x.so:OURS/libpvm3.so.3:OURS/libgpvm3.so.3");
    expect("preload", "LD_PRELOAD", "OURS/libpvm3.so.3:OURS/libgpvm3.so.3", "OURS/libpvm3.so.3:OURS/libgpvm3.so.3");
    uninstall();
}
END_TEST

/* LD_PRELOAD cannot contain this path. */
START_TEST(a_blank_stands_in_paths_only)
{
    install("o ne");
    expect("preload", "LD_LIBRARY_PATH", "/usr/lib", "OURS:/usr/lib");
    expect("preload", "LD_PRELOAD", "/x.so", "/x.so");
    uninstall();
}
END_TEST

START_TEST(another_word_is_told_and_means_path)
{
    install("one");
    expect("yes", "LD_LIBRARY_PATH", NULL, "OURS");
    ck_assert_ptr_nonnull(strstr(unit_log.line, "PVM_LIBRARIES=yes: it must be path, preload or none"));
    uninstall();
}
END_TEST

/* In each case nothing is set, and the log gives the reason. */
static void expect_nothing(void)
{
    expect("preload", "LD_LIBRARY_PATH", "BASE/foreign", "BASE/foreign");
    expect("preload", "LD_PRELOAD", NULL, "(none)");
    ck_assert_ptr_nonnull(strstr(unit_log.line, "found no libpvm3.so.3 that belongs to"));
    uninstall();
}

START_TEST(a_daemon_without_libraries_sets_nothing)
{
    install("one");
    run("rm '%s/libpvm3.so.3'", ours);
    expect_nothing();
}
END_TEST

START_TEST(a_library_that_is_not_dpvms_is_not_ours)
{
    install("one");
    run("rm '%s/../../../libdpvm_tls.so'", ours);
    expect_nothing();
}
END_TEST

/* A user who can change the symbolic link controls its target. */
START_TEST(links_are_followed_once)
{
    install("one");
    run("mv '%s' real", ours);
    run("ln -s ../../../../real '%s'", ours);
    run("ln -s ../one/lib/libpvm3.so.3 real/libpvm3.so.3 -f%s", "");
    snprintf(ours, sizeof ours, "%s/real", base);
    expect(NULL, "LD_LIBRARY_PATH", NULL, "OURS");
    uninstall();
}
END_TEST

START_TEST(a_folder_that_others_can_write_is_not_ours)
{
    install("one");
    run("chmod o+w '%s'", ours);
    expect_nothing();
}
END_TEST

START_TEST(a_folder_that_the_loader_would_misread_is_not_ours)
{
    install("o:ne");
    expect_nothing();
}
END_TEST

UNIT_MAIN("pvmd_libraries", the_first_library_is_a_dpvms, libraries_are_preloaded_when_asked,
          a_blank_stands_in_paths_only, another_word_is_told_and_means_path, a_daemon_without_libraries_sets_nothing,
          a_library_that_is_not_dpvms_is_not_ours, links_are_followed_once, a_folder_that_others_can_write_is_not_ours,
          a_folder_that_the_loader_would_misread_is_not_ours)
