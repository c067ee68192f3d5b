/*
 * test_pvmd_membership.c - the master tells members only what has changed, and each member's table becomes the same.
 * This process is the master first, and then a member that reads what the master has written.
 */
#include "pvmd/hosts/membership.h"
#include <stdlib.h>
#include <string.h>
#include "pvmd/base/events.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/hosts/leave.h"
#include "pvmd/quorum/tables.h"
#include "tests/unit/unit.h"

enum { MASTER = 1, MEMBER = 2, CHANGES = 8 };

struct pvmd_daemon pvmd;

static const struct pvmd_table *table;
static struct pvmc_buf changes[CHANGES];
static unsigned change_count;
static struct pvmc_buf saved;
static unsigned joined, forgotten;
static bool has_ended;

/* ---- functions that membership.c needs ---- */

void pvmd_table_register(enum pvmd_table_kind kind, const struct pvmd_table *t)
{
    ck_assert_int_eq(kind, PVMD_TABLE_HOSTS);
    table = t;
}

static void copy(struct pvmc_buf *to, const struct pvmc_buf *from)
{
    pvmc_buf_init(to);
    pvmc_buf_put_bytes(to, from->data, from->length);
    ck_assert_int_eq(pvmc_buf_error(to), 0);
}

void pvmd_tables_hosts_changed(const struct pvmc_buf *change)
{
    ck_assert_uint_lt(change_count, CHANGES);
    copy(&changes[change_count++], change);
}

bool pvmd_tables_are_settled(void)
{
    return true;
}

bool pvmd_tables_are_returning(void)
{
    return false;
}

void pvmd_leave_forget(struct pvmd_host *host)
{
    forgotten++;
    pvmd_host_free(host);
}

void pvmd_tell_host_joined(const struct pvmd_host *host)
{
    (void)host;
    joined++;
}

void pvmd_end(int exit_code, const char *why)
{
    (void)exit_code, (void)why;
    has_ended = pvmd.ending = true;
}

/* ---- hosts ---- */

static struct pvmd_host *add(unsigned index)
{
    char name[16];
    snprintf(name, sizeof name, "h%u", index);
    struct pvmd_host *h = pvmd_host_new(index, 1000 + index, name);
    ck_assert_ptr_nonnull(h);
    pvmd_host_set_state(h, PVMD_HOST_UP);
    return h;
}

static void become(unsigned index)
{
    pvmd_membership_stop();
    pvmd_host_free_all();
    pvmd = (struct pvmd_daemon){.host_index = index, .master_index = MASTER};
    add(index);
    joined = forgotten = 0;
    has_ended = false;
    pvmd_membership_start();
}

static void end(void)
{
    for (unsigned i = 0; i < change_count; i++)
        pvmc_buf_free(&changes[i]);
    change_count = 0;
    pvmd_membership_stop();
    pvmd_host_free_all();
}

/* The number of rows in a change. */
static uint32_t rows(const struct pvmc_buf *change)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, change->data, change->length);
    pvmc_buf_get_u32(&b);
    return pvmc_buf_get_u32(&b);
}

static int apply(const struct pvmc_buf *change)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, change->data, change->length);
    return table->apply(&b);
}

static bool is_member(unsigned index)
{
    const struct pvmd_host *h = pvmd_host_any(index);
    return h && h->state == PVMD_HOST_UP;
}

/* The master adds hosts 2 and 3, then 4, and then loses 3. */
static void lead(void)
{
    become(MASTER);
    add(2);
    add(3);
    pvmd_membership_changed();
    add(4);
    pvmd_membership_changed();
    pvmd_host_free(pvmd_host_any(3));
    pvmd_membership_changed();
    ck_assert_uint_eq(change_count, 3);
}

START_TEST(a_change_has_only_what_changes)
{
    lead();
    ck_assert_uint_eq(rows(&changes[0]), 3);
    ck_assert_uint_eq(rows(&changes[1]), 1);
    ck_assert_uint_eq(rows(&changes[2]), 0);
    pvmd_host_any(4)->speed = 77;
    pvmd_membership_changed();
    ck_assert_uint_eq(rows(&changes[3]), 1);
    end();
}
END_TEST

START_TEST(a_member_has_the_same_table)
{
    lead();
    become(MEMBER);
    ck_assert_int_eq(apply(&changes[0]), 0);
    ck_assert(is_member(1) && is_member(3) && !is_member(4));
    ck_assert_int_eq(apply(&changes[1]), 0);
    ck_assert(is_member(1) && is_member(3) && is_member(4));
    ck_assert_int_eq(apply(&changes[2]), 0);
    ck_assert(is_member(1) && is_member(MEMBER) && !is_member(3) && is_member(4));
    ck_assert_uint_eq(joined, 3);
    ck_assert_uint_eq(forgotten, 1);
    ck_assert(!has_ended);
    end();
}
END_TEST

static void keep(const struct pvmc_buf *part)
{
    copy(&saved, part);
}

static void become_master(void)
{
    pvmd.master_index = pvmd.host_index;
    pvmd_membership_master_changed();
}

/* One that has the table whole, and then leads: its first change has all rows, the others only what changes. */
START_TEST(the_next_master_goes_on_from_the_table)
{
    struct pvmc_buf b;
    lead();
    table->save(keep);
    become(MEMBER);
    pvmc_buf_view(&b, saved.data, saved.length);
    ck_assert_int_eq(table->load(&b), 0);
    ck_assert(is_member(1) && is_member(4));
    become_master();
    pvmd_host_free(pvmd_host_any(1));
    add(5);
    pvmd_membership_changed();
    ck_assert_uint_eq(rows(&changes[3]), 3);
    add(6);
    pvmd_membership_changed();
    ck_assert_uint_eq(rows(&changes[4]), 1);
    become(4);
    pvmc_buf_view(&b, saved.data, saved.length);
    ck_assert_int_eq(table->load(&b), 0);
    ck_assert_int_eq(apply(&changes[3]), 0);
    ck_assert(!is_member(1) && is_member(MEMBER) && is_member(4) && is_member(5));
    pvmc_buf_free(&saved);
    end();
}
END_TEST

/* Host 1 has missed the end of host 3, and has another speed of host 2. The new master has not. */
START_TEST(a_new_master_makes_tables_equal_that_differ)
{
    lead();
    become(MEMBER);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(apply(&changes[i]), 0);
    become_master();
    pvmd_membership_changed();
    unsigned speed = pvmd_host_any(MEMBER)->speed;
    become(MASTER);
    ck_assert_int_eq(apply(&changes[0]), 0);
    ck_assert_int_eq(apply(&changes[1]), 0);
    pvmd_host_any(MEMBER)->speed = speed + 1;
    ck_assert_int_eq(apply(&changes[3]), 0);
    ck_assert(is_member(1) && is_member(MEMBER) && !is_member(3) && is_member(4));
    ck_assert_uint_eq(pvmd_host_any(MEMBER)->speed, speed);
    ck_assert(!has_ended);
    end();
}
END_TEST

START_TEST(one_that_is_no_member_any_more_ends)
{
    lead();
    become(3);
    ck_assert_int_eq(apply(&changes[0]), 0);
    ck_assert(!has_ended);
    ck_assert_int_eq(apply(&changes[2]), 0);
    ck_assert(has_ended);
    end();
}
END_TEST

/* A host that the lost master was adding is no member unless the next one says so. */
START_TEST(a_host_that_is_left_over_goes)
{
    lead();
    become(MEMBER);
    ck_assert_int_eq(apply(&changes[0]), 0);
    pvmd_host_set_state(add(8), PVMD_HOST_JOINING);
    pvmd_host_set_state(add(9), PVMD_HOST_JOINING);
    pvmd_host_any(9)->left_over = true;
    ck_assert_int_eq(apply(&changes[1]), 0);
    ck_assert_ptr_nonnull(pvmd_host_any(8));
    ck_assert_ptr_null(pvmd_host_any(9));
    end();
}
END_TEST

START_TEST(a_damaged_change_is_refused)
{
    struct pvmc_buf b;
    lead();
    become(MEMBER);
    ck_assert_int_eq(apply(&changes[0]), 0);
    for (size_t length = 0; length < changes[2].length; length++) {
        pvmc_buf_view(&b, changes[2].data, length);
        ck_assert_int_ne(table->apply(&b), 0);
    }
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, 4);
    pvmc_buf_put_u32(&b, 0);
    pvmc_buf_put_u32(&b, 1);
    pvmc_buf_put_u32(&b, PVMC_HOST_INDEX_MAX + 1);
    ck_assert_int_ne(apply(&b), 0);
    pvmc_buf_free(&b);
    end();
}
END_TEST

UNIT_MAIN("pvmd_membership", a_change_has_only_what_changes, a_member_has_the_same_table,
          the_next_master_goes_on_from_the_table, a_new_master_makes_tables_equal_that_differ,
          one_that_is_no_member_any_more_ends, a_host_that_is_left_over_goes, a_damaged_change_is_refused)
