/*
 * test_pvmd_journal.c - what is written is read; a file that ends early, is damaged, or that others could have written
 * or read, is used as far as it can be trusted.
 */
#include "pvmd/quorum/journal.h"
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/log.h"
#include "pvmd/base/self.h"
#include "pvmd/base/sweeper.h"
#include "tests/unit/unit.h"

enum { RECORDS = 5 };

struct pvmd_daemon pvmd;

static char folder[100], path[200];
static unsigned seen;

static const struct pvmd_journal_owner owner = {
    .machine = {.id = {1, 2, 3}, .secret = {4, 5, 6}}, .incarnation = 7, .next_index = 8};

static void start(void)
{
    strcpy(folder, "/tmp/dpvm-journal.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("PVM_TMP", folder, 1);
    setenv("PVM_VMID", "vm", 1);
    snprintf(path, sizeof path, "%s/pvmj.%u.vm", folder, (unsigned)getuid());
    unit_log_start();
}

static void stop(void)
{
    pvmd_journal_remove();
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void add(uint32_t value)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, value);
    pvmd_journal_add(&b);
    pvmc_buf_free(&b);
}

static void write_journal(void)
{
    ck_assert_int_eq(pvmd_journal_begin(&owner), 0);
    for (uint32_t i = 0; i < RECORDS - 1; i++)
        add(i);
    pvmd_journal_put();
    add(RECORDS - 1); /* after it is in place */
}

static int count(struct pvmc_buf *b)
{
    ck_assert_uint_eq(pvmc_buf_get_u32(b), seen++);
    return pvmc_buf_end(b);
}

/* The number of records that are read, or -1 if the journal is not used at all. */
static int records(void)
{
    struct pvmd_journal_owner read = {0};
    seen = 0;
    if (!pvmd_journal_read(&read))
        return -1;
    ck_assert_mem_eq(&read, &owner, sizeof owner);
    ck_assert_int_eq(pvmd_journal_replay(count), 0);
    return (int)seen;
}

static void flip(long at)
{
    FILE *f = fopen(path, "r+");
    ck_assert_ptr_nonnull(f);
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    int byte = fgetc(f);
    fseek(f, -1, SEEK_CUR);
    fputc(byte ^ 1, f);
    fclose(f);
}

START_TEST(what_is_written_is_read)
{
    struct stat st;
    start();
    ck_assert_int_eq(records(), -1); /* there is none */
    write_journal();
    ck_assert_int_eq(records(), RECORDS);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert_uint_eq((unsigned)st.st_size, (unsigned)pvmd_journal_bytes());
    write_journal(); /* replaces it */
    ck_assert_int_eq(records(), RECORDS);
    stop();
}
END_TEST

START_TEST(it_ends_with_the_last_whole_record)
{
    start();
    write_journal();
    for (long size = (long)pvmd_journal_bytes(); size > 0; size--) {
        ck_assert_int_eq(truncate(path, size - 1), 0);
        int n = records();
        ck_assert_int_ge(n, -1);
        ck_assert_int_lt(n, RECORDS);
    }
    stop();
}
END_TEST

START_TEST(damage_ends_it)
{
    start();
    write_journal();
    flip(-1);
    ck_assert_int_eq(records(), RECORDS - 1);
    flip(30); /* in the first record: the key is not the one that proves */
    ck_assert_int_eq(records(), -1);
    stop();
}
END_TEST

START_TEST(what_others_may_read_is_not_used)
{
    start();
    write_journal();
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(records(), -1);
    stop();
}
END_TEST

START_TEST(a_link_is_not_followed)
{
    char real[220];
    start();
    write_journal();
    snprintf(real, sizeof real, "%s/elsewhere", folder);
    ck_assert_int_eq(rename(path, real), 0);
    ck_assert_int_eq(symlink(real, path), 0);
    ck_assert_int_eq(records(), -1);
    ck_assert_int_eq(unlink(real), 0);
    stop();
}
END_TEST

/* The daemon is killed before its new journal has its name. */
START_TEST(an_unfinished_one_goes_with_its_daemon)
{
    char draft[220];
    start();
    snprintf(draft, sizeof draft, "%s.new", path);
    pid_t daemon = fork();
    if (!daemon) {
        pvmd_sweeper_start();
        pvmd_sweeper_know_files(path, path); /* nobody's */
        _exit(pvmd_journal_begin(&owner) || access(draft, F_OK));
    }
    int status;
    ck_assert_int_eq(waitpid(daemon, &status, 0), daemon);
    ck_assert_int_eq(status, 0);
    for (int tries = 0; access(draft, F_OK) == 0 && tries < 500; tries++)
        usleep(10000);
    ck_assert_int_eq(access(draft, F_OK), -1);
    stop();
}
END_TEST

UNIT_MAIN("pvmd_journal", what_is_written_is_read, it_ends_with_the_last_whole_record, damage_ends_it,
          what_others_may_read_is_not_used, a_link_is_not_followed, an_unfinished_one_goes_with_its_daemon)
