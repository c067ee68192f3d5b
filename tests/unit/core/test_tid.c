/* test_tid.c - the fields of task identifiers. */
#include "core/message/tid.h"
#include "tests/unit/unit.h"

START_TEST(first_task_of_first_host)
{
    pvmc_tid tid = 262145;
    ck_assert_uint_eq(pvmc_tid_host(tid), 0x40000);
    ck_assert_uint_eq(pvmc_tid_host_index(tid), 1);
    ck_assert(pvmc_tid_is_task(tid));
    ck_assert(!pvmc_tid_is_daemon(tid));
    ck_assert(!pvmc_tid_is_multicast(tid));
}
END_TEST

START_TEST(last_task_of_last_host)
{
    pvmc_tid tid = pvmc_tid_of_host_index(PVMC_HOST_INDEX_MAX) | PVMC_TID_LOCAL_MASK;
    ck_assert_uint_eq(tid, 0x3fffffff);
    ck_assert_uint_eq(pvmc_tid_host_index(tid), PVMC_HOST_INDEX_MAX);
    ck_assert(pvmc_tid_is_task(tid));
}
END_TEST

START_TEST(what_is_no_task)
{
    static const pvmc_tid others[] = {0,          1,          0x3ffff,    0x40000,    0x80000000,
                                      0x80040000, 0x80040001, 0x40000001, 0x40040001, 0xc0040001};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_msg(!pvmc_tid_is_task(others[i]), "%x", others[i]);
    ck_assert(pvmc_tid_is_daemon(0x80040000));
    ck_assert(pvmc_tid_is_daemon(PVMC_TID_DAEMON));
    ck_assert(pvmc_tid_is_multicast(0x40040001));
    ck_assert(!pvmc_tid_is_multicast(0xc0040001));
}
END_TEST

UNIT_MAIN("tid", first_task_of_first_host, last_task_of_last_host, what_is_no_task)
