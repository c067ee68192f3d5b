/*
 * test_pvmd_logfile.c - the daemon's log: a full log is renamed and the newest lines are always kept, whatever else is
 * in the folder; refused connections cannot fill it.
 */
#include "pvmd/base/logfile.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/log.h"
#include "pvmd/base/self.h"
#include "pvmd/net/refusals.h"
#include "tests/unit/unit.h"

enum { LOG_MAX = 20000, LINES = 7000 };

struct pvmd_daemon pvmd;
static char folder[] = "/tmp/dpvm-logfile.XXXXXX";
static char path[64], old[72], text[2 * LOG_MAX];

static void begin(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pvml.%u", folder, (unsigned)getuid());
    snprintf(old, sizeof old, "%s.old", path);
    setenv("PVM_TMP", folder, 1);
    setenv("PVMDLOGMAX", "20000", 1);
    unsetenv("PVM_VMID");
}

static int remove_entry(const char *name, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(name);
}

static void end(void)
{
    pvmd_logfile_close();
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void log_lines(void)
{
    for (int i = 1; i <= LINES; i++)
        pvmc_log(PVMC_LOG_INFO, "line %d", i);
}

/* The file's text; checks that the file is ours and within the limit. */
static const char *read_log(const char *name)
{
    struct stat st;
    int fd = open(name, O_RDONLY | O_NOFOLLOW);
    ck_assert_msg(fd >= 0 && !fstat(fd, &st), "no %s", name);
    ck_assert(S_ISREG(st.st_mode));
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    ck_assert_int_le(st.st_size, LOG_MAX);
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    ck_assert_int_ge(length, 0);
    text[length] = '\0';
    return text;
}

static void check_last_line_is_there(void)
{
    ck_assert_ptr_nonnull(strstr(read_log(path), "line 7000\n"));
}

START_TEST(the_newest_lines_are_there)
{
    begin();
    pvmd_logfile_open(false);
    log_lines();
    check_last_line_is_there();
    const char *first = strstr(read_log(path), "line ");
    int number = atoi(first + 5);
    char before[32];
    snprintf(before, sizeof before, "line %d\n", number - 1);
    ck_assert_ptr_nonnull(strstr(read_log(old), before));
    end();
}
END_TEST

/* After detaching, standard error belongs to the current log, not to the renamed one. */
START_TEST(standard_error_follows)
{
    begin();
    pvmd_logfile_open(false);
    pvmd_logfile_detach();
    log_lines();
    ck_assert_int_eq(write(STDERR_FILENO, "by hand\n", 8), 8);
    ck_assert_ptr_nonnull(strstr(read_log(path), "by hand\n"));
    end();
}
END_TEST

START_TEST(links_are_not_followed)
{
    struct stat st;
    char victim[80];
    begin();
    snprintf(victim, sizeof victim, "%s/victim", folder);
    int fd = open(victim, O_CREAT | O_WRONLY, 0600);
    close(fd);
    pvmd_logfile_open(false);
    ck_assert_int_eq(symlink(victim, old), 0);
    log_lines();
    check_last_line_is_there();
    read_log(old);
    ck_assert_int_eq(stat(victim, &st), 0);
    ck_assert_int_eq(st.st_size, 0);
    end();
}
END_TEST

/* The old name cannot be replaced: the old lines are lost, not the new ones. */
START_TEST(an_old_log_that_cannot_be_replaced_stops_nothing)
{
    begin();
    pvmd_logfile_open(false);
    ck_assert_int_eq(mkdir(old, 0700), 0);
    log_lines();
    check_last_line_is_there();
    end();
}
END_TEST

/* Another user's file has replaced the log: it is left alone, and our log is truncated when it is full. */
START_TEST(a_log_that_has_lost_its_name_stays_bounded)
{
    char kept[80];
    begin();
    pvmd_logfile_open(false);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    ck_assert_int_eq(rename(path, kept), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    log_lines();
    ck_assert_ptr_nonnull(strstr(read_log(kept), "line 7000\n"));
    end();
}
END_TEST

START_TEST(nothing_is_logged_where_nothing_may_be)
{
    begin();
    setenv("PVMDLOGMAX", "0", 1);
    pvmd_logfile_open(false);
    log_lines();
    ck_assert_int_eq(access(path, F_OK), -1);
    end();
}
END_TEST

/* ---- refused connections ---- */

START_TEST(many_refusals_are_counted)
{
    unit_log_start();
    pvmd.loop = ev_loop_new(EVFLAG_AUTO);
    for (int i = 1; i <= LINES; i++)
        pvmd_refused("connection %d refused", i);
    ck_assert_int_eq(unit_log.count, PVMD_REFUSALS_LINES);
    ck_assert_str_eq(unit_log.line, "connection 20 refused");
    ev_run(pvmd.loop, 0);
    ck_assert_int_eq(unit_log.count, PVMD_REFUSALS_LINES + 1);
    ck_assert_str_eq(unit_log.line, "refused 6980 more connections within 10 s; the last one: connection 7000 refused");
    pvmd_refused("one more");
    ck_assert_str_eq(unit_log.line, "one more");
    ev_run(pvmd.loop, 0);
    ck_assert_int_eq(unit_log.count, PVMD_REFUSALS_LINES + 2);
    ev_loop_destroy(pvmd.loop);
}
END_TEST

UNIT_MAIN("pvmd_logfile", the_newest_lines_are_there, standard_error_follows, links_are_not_followed,
          an_old_log_that_cannot_be_replaced_stops_nothing, a_log_that_has_lost_its_name_stays_bounded,
          nothing_is_logged_where_nothing_may_be, many_refusals_are_counted)
